#include "text/byte_alphabet.h"

#include <array>

#include "base/utf8.h"
#include "text/utf8_fast.h"

namespace assay::text {
namespace {

// Bytes that stand for themselves; the others take U+0100, U+0101, ... in order.
constexpr bool IsPlain(unsigned byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

struct Alphabet {
  std::array<char32_t, 256> chars{};
  std::array<int16_t, 0x144> bytes{};  // by character; -1: none
};

constexpr Alphabet MakeAlphabet() {
  Alphabet out;
  for (int16_t& byte : out.bytes) byte = -1;
  char32_t next = 0x100;
  for (unsigned byte = 0; byte < 256; ++byte) {
    out.chars[byte] = IsPlain(byte) ? byte : next++;
    out.bytes[out.chars[byte]] = static_cast<int16_t>(byte);
  }
  return out;
}

constexpr Alphabet kAlphabet = MakeAlphabet();

}  // namespace

std::optional<uint8_t> ByteOfChar(char32_t code) {
  if (code >= kAlphabet.bytes.size() || kAlphabet.bytes[code] < 0) return std::nullopt;
  return static_cast<uint8_t>(kAlphabet.bytes[code]);
}

char32_t CharOfByte(uint8_t byte) { return kAlphabet.chars[byte]; }

bool BytesOfChars(std::string_view chars, std::string& bytes) {
  bytes.clear();
  for (size_t at = 0; at < chars.size();) {
    const ValidChar next = ReadValid(chars, at);
    const std::optional<uint8_t> byte = ByteOfChar(next.code);
    if (!byte) return false;
    bytes += static_cast<char>(*byte);
    at += next.bytes;
  }
  return true;
}

std::string CharsOfBytes(std::string_view bytes) {
  std::string out;
  for (const char byte : bytes) AppendUtf8(CharOfByte(static_cast<uint8_t>(byte)), out);
  return out;
}

}  // namespace assay::text

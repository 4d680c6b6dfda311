// The byte alphabet of byte-level BPE (GPT-2): each byte has a printable character, and
// vocabularies are written in those characters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay::text {

// The byte that a character stands for.
std::optional<uint8_t> ByteOfChar(char32_t code);
// The character that stands for a byte.
char32_t CharOfByte(uint8_t byte);

// Writes the bytes that `chars` (valid UTF-8) stands for to `bytes`; false when a character is not
// of the alphabet.
bool BytesOfChars(std::string_view chars, std::string& bytes);
std::string CharsOfBytes(std::string_view bytes);

}  // namespace assay::text

// Properties of code points, at the Unicode versions that the reference programs use. The data are
// in unicode_tables.cc, written by tools/gen_unicode.py from pinned packages.
//
//   L, N, M, White_Space, Word   16.0   split patterns and added tokens of the tokenizers package
//   NFC data                      9.0   its normalizer
//   alphabetic                   15.0   str.isalpha() of Python 3.12 (spec d1 4.4)
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace assay::text {

// Flags of one code point. L, N, M and White_Space exclude each other.
enum : uint8_t {
  kLetter = 1,       // \p{L}
  kNumber = 2,       // \p{N}
  kMark = 4,         // \p{M}
  kSpace = 8,        // \s: White_Space
  kAlphabetic = 16,  // Lu, Ll, Lt, Lm or Lo in Unicode 15.0
  kWord = 32,        // \w of the Rust regex crate
};

namespace tables {

struct NfcKind {
  uint8_t combining_class;
  bool unstable;  // may join what stands before it, or is never part of NFC text
};
struct Decomposition {
  char32_t code;
  uint16_t first;  // in kDecompositionPool
  uint16_t count;
};
struct Composition {
  char32_t first, second, result;
};

inline constexpr unsigned kBlockBits = 7;
extern const uint16_t kClassIndex[0x110000 >> kBlockBits];
extern const uint8_t kClassBlocks[];
extern const uint8_t kNfcIndex[0x110000 >> kBlockBits];
extern const uint8_t kNfcBlocks[];
extern const NfcKind kNfcKinds[];
// Full canonical decompositions, by code; without Hangul syllables, which are computed.
extern const size_t kDecompositionCount;
extern const Decomposition kDecompositions[];
extern const char32_t kDecompositionPool[];
// Pairs that compose, by first and then second; without Hangul.
extern const size_t kCompositionCount;
extern const Composition kCompositions[];

inline size_t BlockOffset(unsigned block, char32_t code) {
  return (static_cast<size_t>(block) << kBlockBits) + (code & ((1u << kBlockBits) - 1));
}

}  // namespace tables

// The flags of a code point (at most U+10FFFF).
inline uint8_t ClassOf(char32_t code) {
  return tables::kClassBlocks[tables::BlockOffset(tables::kClassIndex[code >> tables::kBlockBits],
                                                  code)];
}

inline tables::NfcKind NfcKindOf(char32_t code) {
  return tables::kNfcKinds[tables::kNfcBlocks[tables::BlockOffset(
      tables::kNfcIndex[code >> tables::kBlockBits], code)]];
}

// str.isalpha() of one character in Python 3.12 (Unicode 15.0). The version matters for letters
// added in 15.1 and later only (U+2EBF0 and up, U+105C0, ...): they count as not alphabetic.
inline bool IsAlphabetic(char32_t code) { return (ClassOf(code) & kAlphabetic) != 0; }

// What Python's str.strip() removes: White_Space and U+001C to U+001F (spec d1 4.4).
inline bool IsPythonSpace(char32_t code) {
  return (ClassOf(code) & kSpace) != 0 || (code >= 0x1C && code <= 0x1F);
}

// str.strip() of Python. Bytes that are not UTF-8 are not stripped.
std::string_view StripPython(std::string_view utf8);

}  // namespace assay::text

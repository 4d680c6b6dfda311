// UTF-8, one code point at a time.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace assay {

struct Utf8Char {
  char32_t code = 0;
  size_t bytes = 1;    // how far to step; 1 when not valid
  bool valid = false;  // false for stray, overlong, surrogate, out-of-range and cut sequences
};

// The code point that starts at text[at]; at < text.size().
Utf8Char DecodeUtf8(std::string_view text, size_t at);

// Appends the UTF-8 form of a code point (not a surrogate, at most U+10FFFF).
void AppendUtf8(char32_t code, std::string& out);

// True when every byte belongs to a valid sequence.
bool IsUtf8(std::string_view text);

}  // namespace assay

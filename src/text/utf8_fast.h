// Reading UTF-8 that is known to be valid: no checks.
#pragma once

#include <cstddef>
#include <string_view>

namespace assay::text {

struct ValidChar {
  char32_t code;
  size_t bytes;
};

// The code point that starts at text[at]; `text` must be valid UTF-8 and `at` a character start.
inline ValidChar ReadValid(std::string_view text, size_t at) {
  const auto* p = reinterpret_cast<const unsigned char*>(text.data()) + at;
  if (p[0] < 0x80) return {p[0], 1};
  if (p[0] < 0xE0) return {(p[0] & 0x1Fu) << 6 | (p[1] & 0x3Fu), 2};
  if (p[0] < 0xF0) return {(p[0] & 0x0Fu) << 12 | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu), 3};
  return {(p[0] & 0x07u) << 18 | (p[1] & 0x3Fu) << 12 | (p[2] & 0x3Fu) << 6 | (p[3] & 0x3Fu), 4};
}

// The code point that ends just before text[end]; end > 0.
inline ValidChar ReadValidBefore(std::string_view text, size_t end) {
  size_t at = end - 1;
  while ((static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
  return ReadValid(text, at);
}

}  // namespace assay::text

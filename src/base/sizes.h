// Sums and products of sizes that stop at the largest one instead of starting again at zero: a size
// from a file or a request that overflows must look too large, not small. And sizes as people read
// them.
#pragma once

#include <cstddef>
#include <limits>
#include <string>

namespace assay {

template <typename... Sizes>
size_t SaturatingSum(Sizes... sizes) {
  size_t total = 0;
  const bool fits = (... && !__builtin_add_overflow(total, size_t{sizes}, &total));
  return fits ? total : std::numeric_limits<size_t>::max();
}

template <typename... Sizes>
size_t SaturatingProduct(Sizes... sizes) {
  if ((... || (size_t{sizes} == 0))) return 0;
  size_t total = 1;
  const bool fits = (... && !__builtin_mul_overflow(total, size_t{sizes}, &total));
  return fits ? total : std::numeric_limits<size_t>::max();
}

// 27131904 as "27,131,904": Python's format(value, ",").
inline std::string Grouped(size_t value) {
  std::string text = std::to_string(value);
  for (size_t left = text.size(); left > 3; left -= 3) text.insert(left - 3, 1, ',');
  return text;
}

}  // namespace assay

// Sums and products of sizes that stop at the largest one instead of starting again at zero: a size
// from a file or a request that overflows must look too large, not small.
#pragma once

#include <cstddef>
#include <limits>

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

}  // namespace assay

// Limits on what the program reads, checked before memory is taken.
#pragma once

#include <cstddef>

namespace assay::cli {

inline constexpr size_t kMaxRequestBytes = size_t{16} << 20;

}  // namespace assay::cli

// Limits on what the program reads, checked before memory is taken.
#pragma once

#include <cstddef>

namespace assay::cli {

inline constexpr size_t kMaxRequestBytes = size_t{16} << 20;
// Of --chunk and --max-row as they are read; a model's own limits are far below.
inline constexpr size_t kMaxCount = 999'999'999'999;
inline constexpr size_t kMaxThreads = 1024;

}  // namespace assay::cli

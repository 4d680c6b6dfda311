// Uninitialised working memory that starts on a cache line.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace assay::kernels {

inline constexpr std::align_val_t kCacheLine{64};

struct FreeAligned {
  void operator()(void* values) const { ::operator delete(values, kCacheLine); }
};

template <typename T>
using Aligned = std::unique_ptr<T[], FreeAligned>;

template <typename T>
Aligned<T> AlignedArray(size_t count) {
  return Aligned<T>(static_cast<T*>(::operator new(count * sizeof(T), kCacheLine)));
}

}  // namespace assay::kernels

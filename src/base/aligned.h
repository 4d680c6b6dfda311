// Memory that starts at a cache line, for vector code that goes through it again and again.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <vector>

namespace assay {

template <typename T>
struct CacheLineAllocator {
  using value_type = T;

  static constexpr std::align_val_t kAlign{64};

  CacheLineAllocator() = default;
  template <typename U>
  CacheLineAllocator(const CacheLineAllocator<U>&) {}  // NOLINT(google-explicit-constructor)

  T* allocate(size_t count) {
    if (count > static_cast<size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(::operator new(count * sizeof(T), kAlign));
  }
  void deallocate(T* values, size_t) { ::operator delete(values, kAlign); }

  bool operator==(const CacheLineAllocator&) const { return true; }
};

using AlignedFloats = std::vector<float, CacheLineAllocator<float>>;

// Working memory that nobody needs to be zero.
struct FreeAligned {
  void operator()(void* values) const { ::operator delete(values, std::align_val_t{64}); }
};
template <typename T>
using Aligned = std::unique_ptr<T[], FreeAligned>;

template <typename T>
Aligned<T> AlignedArray(size_t count) {
  return Aligned<T>(static_cast<T*>(::operator new(count * sizeof(T), std::align_val_t{64})));
}

}  // namespace assay

// Vectors of floats that start at a cache line, for memory that vector code goes through again and
// again.
#pragma once

#include <cstddef>
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

}  // namespace assay

// random.Random of Python: the same draws from the same seed, for probes whose published numbers
// come from it (spec kev 7.3).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "base/check.h"

namespace assay {

// The Mersenne twister MT19937, seeded as random.Random(int) seeds it.
class PythonRandom {
 public:
  // `seed` is a whole number in decimal, with a minus sign or without (Python drops it), any length
  // up to kMaxSeedDigits. Throws Error(kRequest, "seed") for any other text.
  explicit PythonRandom(std::string_view seed);

  // What CPython itself reads as one number at most.
  static constexpr size_t kMaxSeedDigits = 4300;

  uint32_t Bits32();
  // Random._randbelow: uniform in [0, count); count > 0.
  uint32_t Below(uint32_t count);

  // Random.shuffle.
  template <typename T>
  void Shuffle(std::span<T> items) {
    ASSAY_CHECK(items.size() <= UINT32_MAX);
    for (size_t i = items.size(); i > 1; --i) {
      const size_t j = Below(static_cast<uint32_t>(i));
      std::swap(items[i - 1], items[j]);
    }
  }

 private:
  static constexpr size_t kWords = 624;

  void SeedOne(uint32_t seed);
  void SeedArray(std::span<const uint32_t> key);
  void Refill();

  std::array<uint32_t, kWords> state_{};
  size_t next_ = kWords;
};

}  // namespace assay

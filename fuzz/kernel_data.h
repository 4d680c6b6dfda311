// Shapes and numbers for kernels, made from fuzz input, and how results are compared.
#pragma once

#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "base/threads.h"
#include "fuzz/fuzz.h"
#include "kernels/cpu_level.h"
#include "testing/random.h"

namespace assay::fuzz {

// Rounding of one fp32 operation: relative, and absolute where results are denormal.
constexpr double kHalfUlp = 0x1p-24;
constexpr double kTiny = 0x1p-149;
// Past this a sum may overflow on its way, and then no bound holds.
constexpr double kHuge = 1e38;

// A few bytes of input describe many numbers: a scale for all, some replaced by awkward ones.
class Numbers {
 public:
  explicit Numbers(FuzzedDataProvider& data)
      : data_(data), random_(data.ConsumeIntegral<uint32_t>()), any_(data.ConsumeBool()) {}

  size_t Size(size_t low, size_t high) { return data_.ConsumeIntegralInRange(low, high); }
  bool Flip() { return data_.ConsumeBool(); }
  float Scale() {
    // Mostly tame numbers: wild ones leave no property to check but the absence of reports.
    if (data_.ConsumeIntegralInRange(0, 3) > 0) return 1;
    return std::ldexp(1.0f, data_.ConsumeIntegralInRange(-140, 120));
  }

  std::vector<float> Floats(size_t count) {
    std::vector<float> out = random_.Floats(count, Scale());
    if (count == 0) return out;
    for (size_t left = Size(0, 6); left > 0; --left) out[Size(0, count - 1)] = Awkward();
    return out;
  }
  // 16-bit patterns, for halves: any of them, or finite ones up to 2.
  uint16_t HalfBits() {
    const uint64_t bits = random_.Bits();
    if (any_ && bits >> 56 == 0) return static_cast<uint16_t>(bits);
    return static_cast<uint16_t>((bits & 0x83FFu) | (random_.Below(16) << 10));
  }

 private:
  float Awkward() {
    using Limits = std::numeric_limits<float>;
    constexpr float kFinite[] = {0.0f,
                                 -0.0f,
                                 Limits::denorm_min(),
                                 -1e-42f,
                                 Limits::min(),
                                 -Limits::min(),
                                 Limits::epsilon(),
                                 1e-20f,
                                 65504.0f,
                                 -3.5e4f,
                                 1e19f,
                                 -2e19f,
                                 Limits::max(),
                                 -Limits::max(),
                                 1.0f,
                                 -88.7f,
                                 -103.9f,
                                 104.1f,
                                 -1e30f};
    constexpr float kOther[] = {Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN()};
    if (any_ && Flip()) return data_.PickValueInArray(kOther);
    return data_.PickValueInArray(kFinite);
  }

  FuzzedDataProvider& data_;
  testing::Random random_;
  bool any_;  // infinities and not-a-number too
};

inline bool AllFinite(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); });
}

// Equal bit for bit; one not-a-number is as good as another.
inline bool SameBits(std::span<const float> a, std::span<const float> b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::memcmp(&a[i], &b[i], sizeof a[i]) != 0 && !(std::isnan(a[i]) && std::isnan(b[i]))) {
      return false;
    }
  }
  return true;
}

inline void CheckNear(std::span<const float> got, std::span<const float> expected,
                      std::span<const double> bounds) {
  for (size_t i = 0; i < got.size(); ++i) {
    if (!std::isfinite(bounds[i])) continue;
    const double error = std::abs(static_cast<double>(got[i]) - static_cast<double>(expected[i]));
    if (!(error <= bounds[i])) {
      std::fprintf(stderr, "level %d, value %zu: %.9g for %.9g, off by %g, bound %g\n",
                   static_cast<int>(kernels::RunningLevel()), i, static_cast<double>(got[i]),
                   static_cast<double>(expected[i]), error, bounds[i]);
    }
    FUZZ_CHECK(error <= bounds[i]);
  }
}

inline Threads& OneThread() {
  static Threads threads(1);
  return threads;
}
inline Threads& TwoThreads() {
  static Threads threads(2);
  return threads;
}

template <typename F>
void AtEveryLevel(F&& f) {
  for (const kernels::CpuLevel level : kernels::AvailableLevels()) {
    kernels::SelectCpuLevel(kernels::CpuLevelName(level));
    f();
  }
}

// One input's worth of each kernel.
void FuzzLinear(Numbers& numbers);
void FuzzRmsNorm(Numbers& numbers);
void FuzzShortConv(Numbers& numbers);
void FuzzAttention(Numbers& numbers);

}  // namespace assay::fuzz

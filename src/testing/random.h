// Random numbers for tests: the same on every machine and library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bf16.h"

namespace assay::testing {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Bits();  // splitmix64
  float Uniform(float low, float high);
  size_t Below(size_t limit);                                // 0 ... limit - 1
  std::vector<float> Floats(size_t count, float scale = 1);  // uniform in [-scale, scale]
  std::vector<Bf16> Bf16s(size_t count, float scale = 1);

 private:
  uint64_t state_;
};

}  // namespace assay::testing

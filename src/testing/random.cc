#include "testing/random.h"

namespace assay::testing {

uint64_t Random::Bits() {
  state_ += 0x9E3779B97F4A7C15u;
  uint64_t x = state_;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

float Random::Uniform(float low, float high) {
  return low + (high - low) * static_cast<float>(Bits() >> 40) * 0x1p-24f;
}

size_t Random::Below(size_t limit) { return static_cast<size_t>(Bits() % limit); }

std::vector<float> Random::Floats(size_t count, float scale) {
  std::vector<float> out(count);
  for (float& value : out) value = Uniform(-scale, scale);
  return out;
}

std::vector<Bf16> Random::Bf16s(size_t count, float scale) {
  std::vector<Bf16> out(count);
  for (Bf16& value : out) value = NarrowToBf16(Uniform(-scale, scale));
  return out;
}

}  // namespace assay::testing

#include "kernels/rotary.h"

#include <gtest/gtest.h>

#include <cmath>

#include "testing/random.h"

namespace assay::kernels {
namespace {

TEST(Rotary, FrequenciesFollowTheExponent) {
  const std::vector<float> f = RotaryFrequencies(1e6, 64);
  ASSERT_EQ(f.size(), 32u);
  EXPECT_EQ(f[0], 1.0f);
  for (size_t i = 0; i < f.size(); ++i) {
    EXPECT_NEAR(f[i] * std::pow(1e6, 2.0 * static_cast<double>(i) / 64), 1, 3e-6);
  }
}

TEST(Rotary, PositionZeroIsTheIdentity) {
  testing::Random random(1);
  std::vector<float> x = random.Floats(64);
  const std::vector<float> before = x;
  const size_t position = 0;
  Rotate(RotaryAt(std::span(&position, 1), RotaryFrequencies(1e6, 64)), 64, {x.data(), 1, 64});
  EXPECT_EQ(x, before);
}

// Pairs (i, i + half) turn by position * frequency; the rest of a head stays when fewer dims are
// rotated.
TEST(Rotary, TurnsHalvesAsComplexNumbersAndLeavesTheRest) {
  testing::Random random(2);
  const std::vector<size_t> positions = {3, 4000};
  const size_t head_dim = 24, dims = 16, heads = 2;
  std::vector<float> x = random.Floats(positions.size() * heads * head_dim);
  const std::vector<float> before = x;
  const std::vector<float> f = RotaryFrequencies(1e4, dims);
  Rotate(RotaryAt(positions, f), head_dim, {x.data(), positions.size(), heads * head_dim});
  for (size_t r = 0; r < positions.size(); ++r) {
    for (size_t h = 0; h < heads; ++h) {
      const size_t at = (r * heads + h) * head_dim;
      for (size_t i = 0; i < dims / 2; ++i) {
        const double angle = static_cast<double>(static_cast<float>(positions[r]) * f[i]);
        const double a = before[at + i], b = before[at + i + dims / 2];
        EXPECT_NEAR(x[at + i], a * std::cos(angle) - b * std::sin(angle), 3e-7);
        EXPECT_NEAR(x[at + i + dims / 2], b * std::cos(angle) + a * std::sin(angle), 3e-7);
      }
      for (size_t i = dims; i < head_dim; ++i) EXPECT_EQ(x[at + i], before[at + i]);
    }
  }
}

}  // namespace
}  // namespace assay::kernels

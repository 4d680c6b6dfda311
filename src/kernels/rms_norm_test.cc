#include "kernels/rms_norm.h"

#include <gtest/gtest.h>

#include <cmath>

#include "testing/random.h"

namespace assay::kernels {
namespace {

using ::assay::testing::Random;

TEST(RmsNorm, EqualsTheReferenceAtEveryTail) {
  Threads threads(2);
  for (const size_t cols : {1u, 3u, 4u, 15u, 16u, 17u, 64u, 96u, 257u, 2048u}) {
    Random random(cols);
    const size_t rows = 11;
    const std::vector<float> x = random.Floats(rows * cols, 3);
    const std::vector<float> gain = random.Floats(cols, 2);
    for (const float offset : {0.0f, 1.0f}) {
      std::vector<float> out(x.size()), expected(x.size());
      RmsNorm(threads, {x.data(), rows, cols}, gain, 1e-5f, offset, {out.data(), rows, cols});
      RmsNormRef({x.data(), rows, cols}, gain, 1e-5f, offset, {expected.data(), rows, cols});
      for (size_t i = 0; i < out.size(); ++i) {
        ASSERT_NEAR(out[i], expected[i], 1e-6 * (1 + std::abs(expected[i]))) << cols << " " << i;
      }
    }
  }
}

TEST(RmsNorm, ARowAloneHasTheBitsItHasAmongOthersAndMayBeInPlace) {
  Random random(3);
  const size_t rows = 400, cols = 130;
  std::vector<float> x = random.Floats(rows * cols);
  const std::vector<float> gain = random.Floats(cols);
  std::vector<float> out(x.size()), alone(cols);
  Threads threads(3);
  RmsNorm(threads, {x.data(), rows, cols}, gain, 1e-6f, 0, {out.data(), rows, cols});
  for (size_t r = 0; r < rows; r += 37) {
    RmsNorm(threads, {x.data() + r * cols, 1, cols}, gain, 1e-6f, 0, {alone.data(), 1, cols});
    EXPECT_TRUE(
        std::equal(alone.begin(), alone.end(), out.begin() + static_cast<ptrdiff_t>(r * cols)));
  }
  RmsNorm(threads, {x.data(), rows, cols}, gain, 1e-6f, 0, {x.data(), rows, cols});
  EXPECT_EQ(x, out);
}

TEST(RmsNorm, EpsilonCountsForFaintRows) {
  const std::vector<float> x(64, 1e-4f), gain(64, 1.0f);
  std::vector<float> out(64);
  Threads threads(1);
  RmsNorm(threads, {x.data(), 1, 64}, gain, 1e-5f, 0, {out.data(), 1, 64});
  EXPECT_NEAR(out[0], 1e-4 / std::sqrt(1e-8 + 1e-5), 1e-7);
}

TEST(GatedNorm, EqualsTheReferenceAtEveryTail) {
  Threads threads(2);
  for (const size_t cols : {1u, 5u, 16u, 32u, 65u, 128u}) {
    Random random(cols + 1);
    const size_t rows = 300;
    std::vector<float> x = random.Floats(rows * cols, 3), expected = x;
    const std::vector<float> gain = random.Floats(cols, 2), gate = random.Floats(rows * cols, 9);
    GatedNorm(threads, {x.data(), rows, cols}, gain, 1e-6f, {gate.data(), rows, cols});
    GatedNormRef({expected.data(), rows, cols}, gain, 1e-6f, {gate.data(), rows, cols});
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_NEAR(x[i], expected[i], 1e-6 * (1 + std::abs(expected[i]))) << cols << " " << i;
  }
}

// The rows of a wider matrix: what lies beside the heads stays.
TEST(L2Norm, EqualsTheReferenceAndLeavesTheNeighbours) {
  Threads threads(2);
  for (const size_t head_dim : {1u, 3u, 16u, 33u, 128u}) {
    Random random(head_dim);
    const size_t rows = 90, heads = 3, width = heads * head_dim + 7;
    std::vector<float> x = random.Floats(rows * width), expected = x;
    L2Norm(threads, head_dim, 1e-6f, 0.25f, {x.data() + 2, rows, heads * head_dim, width});
    L2NormRef(head_dim, 1e-6f, 0.25f, {expected.data() + 2, rows, heads * head_dim, width});
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_NEAR(x[i], expected[i], 1e-7) << head_dim << " " << i;
  }
}

TEST(L2Norm, EpsilonCountsForFaintHeads) {
  std::vector<float> x(16, 1e-4f);
  Threads threads(1);
  L2Norm(threads, 16, 1e-6f, 1, {x.data(), 1, 16});
  EXPECT_NEAR(x[0], 1e-4 / std::sqrt(16e-8 + 1e-6), 1e-7);
}

TEST(L2Norm, ARowAloneHasTheBitsItHasAmongOthers) {
  Random random(4);
  const size_t rows = 200, cols = 256;
  std::vector<float> x = random.Floats(rows * cols);
  std::vector<float> alone(x.begin() + 77 * cols, x.begin() + 78 * cols);
  Threads threads(2);
  L2Norm(threads, 128, 1e-6f, 1, {x.data(), rows, cols});
  L2Norm(threads, 128, 1e-6f, 1, {alone.data(), 1, cols});
  EXPECT_TRUE(std::equal(alone.begin(), alone.end(), x.begin() + 77 * cols));
}

}  // namespace
}  // namespace assay::kernels

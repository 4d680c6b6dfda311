#include "kernels/gates.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "testing/random.h"

namespace assay::kernels {
namespace {

using ::assay::testing::Random;

TEST(SigmoidProduct, EqualsTheReferenceAtEveryTail) {
  Threads threads(2);
  for (const size_t cols : {1u, 7u, 16u, 33u, 2048u}) {
    Random random(cols);
    const size_t rows = 11;
    std::vector<float> x = random.Floats(rows * cols, 2), expected = x;
    // The gates of a projection lie between other rows.
    const std::vector<float> gate = random.Floats(rows * 2 * cols, 30);
    SigmoidProduct(threads, {gate.data() + cols, rows, cols, 2 * cols}, {x.data(), rows, cols});
    SigmoidProductRef({gate.data() + cols, rows, cols, 2 * cols}, {expected.data(), rows, cols});
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_NEAR(x[i], expected[i], 3e-7 * std::abs(expected[i]) + 1e-37) << cols << " " << i;
  }
}

TEST(DeltaGates, EqualsTheReferenceAtEveryTailAndSize) {
  Threads threads(2);
  for (const size_t heads : {1u, 4u, 16u, 24u, 48u}) {
    Random random(heads);
    const size_t rows = 400;
    std::vector<float> rates = random.Floats(heads, 8), offsets = random.Floats(heads, 5);
    std::vector<float> b = random.Floats(rows * heads, 30), a = random.Floats(rows * heads, 40);
    std::vector<float> beta = b, g = a;
    DeltaGates(threads, rates, offsets, {b.data(), rows, heads}, {a.data(), rows, heads});
    DeltaGatesRef(rates, offsets, {beta.data(), rows, heads}, {g.data(), rows, heads});
    for (size_t i = 0; i < a.size(); ++i) {
      ASSERT_NEAR(b[i], beta[i], 3e-7 * std::abs(beta[i])) << heads << " " << i;
      // The sum a + offset itself is rounded.
      ASSERT_NEAR(a[i], g[i], 4e-6 * std::abs(g[i])) << heads << " " << i;
    }
  }
}

// torch's rule is a step at 20, and far below it softplus is the exponential itself.
TEST(DeltaGates, SoftplusIsTheIdentityAboveTwentyAndKeepsFaintValues) {
  const std::vector<float> values = {20.5f, 21, 100, 20, 1e-3f, -1e-3f, -10, -30, -80};
  const std::vector<float> one = {1}, zero = {0};
  std::vector<float> a = values, b(values.size());
  Threads threads(1);
  DeltaGates(threads, one, zero, {b.data(), b.size(), 1}, {a.data(), a.size(), 1});
  for (size_t i = 0; i < values.size(); ++i) {
    const double x = static_cast<double>(values[i]);
    const double expected = x > 20 ? x : std::log1p(std::exp(x));
    EXPECT_NEAR(static_cast<double>(a[i]), expected, 3e-7 * expected) << x;
  }
  EXPECT_EQ(a[0], 20.5f);
}

TEST(DeltaGates, NotANumberStaysOne) {
  const std::vector<float> one = {1}, zero = {0};
  std::vector<float> a = {std::numeric_limits<float>::quiet_NaN()}, b = a;
  Threads threads(1);
  DeltaGates(threads, one, zero, {b.data(), 1, 1}, {a.data(), 1, 1});
  EXPECT_TRUE(std::isnan(a[0]));
  EXPECT_TRUE(std::isnan(b[0]));
}

}  // namespace
}  // namespace assay::kernels

#include "kernels/linear.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "testing/random.h"
#include "testing/weights.h"

namespace assay::kernels {
namespace {

using ::assay::testing::Random;
using Weights = ::assay::testing::TestWeights;

// The bound on |fp32 sum - exact sum|: steps of the longest chain times epsilon times the sum of
// magnitudes.
double Bound(View1<const float> x, const WeightMatrix& weight, size_t n) {
  std::vector<float> row(weight.cols);
  WidenRow(weight, n, row);
  double magnitude = 0;
  for (size_t k = 0; k < row.size(); ++k)
    magnitude += std::abs(static_cast<double>(x[k]) * static_cast<double>(row[k]));
  const double steps =
      static_cast<double>(weight.cols) / 4 + 8;  // at least 4 lanes, then their tree
  return steps * 0x1p-24 * magnitude + 1e-30;
}

void ExpectNear(View2<const float> x, const LinearPart& part, View2<const float> expected) {
  double worst = 0;
  for (size_t r = 0; r < x.rows(); ++r) {
    for (size_t n = 0; n < part.weight.rows; ++n) {
      const double error =
          std::abs(static_cast<double>(part.out[r][n]) - static_cast<double>(expected[r][n]));
      const double bound =
          Bound(x[r], part.weight, n) + 0x1p-23 * std::abs(static_cast<double>(expected[r][n]));
      ASSERT_LE(error, bound) << "row " << r << " output " << n << ": " << part.out[r][n] << " for "
                              << expected[r][n];
      worst = std::max(worst, error);
    }
  }
}

struct Shape {
  size_t rows, inputs, outputs;
};

class LinearShapes : public ::testing::TestWithParam<std::tuple<WeightType, Shape>> {};

TEST_P(LinearShapes, EqualsTheReferenceWithinRounding) {
  const auto [type, shape] = GetParam();
  Random random(shape.rows * 1000003 + shape.inputs * 1009 + shape.outputs);
  Threads threads(2);
  const Weights weights(random, type, shape.outputs, shape.inputs, 3);
  const std::vector<float> x = random.Floats(shape.rows * shape.inputs);
  std::vector<float> out(shape.rows * shape.outputs, NAN), expected(out.size());
  const View2<const float> rows(x.data(), shape.rows, shape.inputs);
  const LinearPart part{weights.matrix(), View2<float>(out.data(), shape.rows, shape.outputs)};
  LinearPart reference = part;
  reference.out = View2<float>(expected.data(), shape.rows, shape.outputs);
  Linear(threads, rows, std::span(&part, 1), Epilogue::kStore);
  LinearRef(rows, std::span(&reference, 1), Epilogue::kStore);
  ExpectNear(rows, part, reference.out);
}

INSTANTIATE_TEST_SUITE_P(
    TileEdges, LinearShapes,
    ::testing::Combine(::testing::Values(WeightType::kF32, WeightType::kBf16, WeightType::kF16),
                       ::testing::Values(Shape{1, 1, 1}, Shape{1, 15, 3}, Shape{1, 64, 33},
                                         Shape{2, 16, 4}, Shape{3, 17, 5}, Shape{5, 31, 31},
                                         Shape{6, 32, 32}, Shape{7, 33, 34}, Shape{13, 807, 7},
                                         Shape{64, 96, 64}, Shape{65, 100, 65}, Shape{130, 7, 97},
                                         Shape{7, 2049, 50}, Shape{3, 4115, 49},
                                         Shape{98, 16400, 3})));

class LinearProperties : public ::testing::Test {
 protected:
  static constexpr size_t kInputs = 101;
  static constexpr size_t kOutputs = 71;
  static constexpr size_t kRows = 139;

  std::vector<float> Run(View2<const float> x, const WeightMatrix& weight, size_t threads) {
    std::vector<float> out(x.rows() * weight.rows);
    Threads pool(threads);
    const LinearPart part{weight, View2<float>(out.data(), x.rows(), weight.rows)};
    Linear(pool, x, std::span(&part, 1), Epilogue::kStore);
    return out;
  }

  Random random_{7};
  Weights weights_{random_, WeightType::kBf16, kOutputs, kInputs};
  std::vector<float> x_ = random_.Floats(kRows * kInputs);
  View2<const float> rows_{x_.data(), kRows, kInputs};
};

TEST_F(LinearProperties, ARowAloneHasTheBitsItHasAmongOthers) {
  const std::vector<float> together = Run(rows_, weights_.matrix(), 2);
  for (const size_t first : {0u, 1u, 5u, 63u, 64u, 65u, 138u}) {
    for (const size_t count : {1u, 2u, 3u, 6u, 7u}) {
      if (first + count > kRows) continue;
      const std::vector<float> alone = Run(rows_.Rows(first, count), weights_.matrix(), 1);
      ASSERT_EQ(0, std::memcmp(alone.data(), together.data() + first * kOutputs,
                               alone.size() * sizeof(float)))
          << first << " " << count;
    }
  }
}

TEST_F(LinearProperties, AnOutputAloneHasTheBitsItHasAmongOthers) {
  const std::vector<float> together = Run(rows_, weights_.matrix(), 2);
  for (const size_t n : {0u, 3u, 31u, 32u, 70u}) {
    const WeightMatrix one{weights_.matrix().row(n), WeightType::kBf16, 1, kInputs};
    const std::vector<float> alone = Run(rows_, one, 1);
    for (size_t r = 0; r < kRows; ++r) ASSERT_EQ(alone[r], together[r * kOutputs + n]);
  }
}

TEST_F(LinearProperties, MemoryAlignmentChangesNoBit) {
  const std::vector<float> expected = Run(rows_, weights_.matrix(), 2);
  for (size_t offset = 1; offset < 64; offset += 7) {
    Random unused(1);
    Weights shifted(unused, WeightType::kBf16, kOutputs, kInputs, offset);
    shifted.CopyFrom(weights_);
    std::vector<float> moved(x_.size() + 16);
    float* at = moved.data() + offset % 16;
    std::copy(x_.begin(), x_.end(), at);
    EXPECT_EQ(Run(View2<const float>(at, kRows, kInputs), shifted.matrix(), 2), expected) << offset;
  }
}

TEST_F(LinearProperties, AddsToTheResidual) {
  const std::vector<float> y = Run(rows_, weights_.matrix(), 1);
  std::vector<float> out = random_.Floats(kRows * kOutputs);
  const std::vector<float> before = out;
  Threads pool(2);
  const LinearPart part{weights_.matrix(), View2<float>(out.data(), kRows, kOutputs)};
  Linear(pool, rows_, std::span(&part, 1), Epilogue::kAdd);
  for (size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], before[i] + y[i]);
}

TEST_F(LinearProperties, WritesSeveralPartsIntoTheirOwnOutputs) {
  const Weights other(random_, WeightType::kF32, 10, kInputs);
  std::vector<float> a(kRows * kOutputs), b(kRows * 10);
  Threads pool(2);
  const LinearPart parts[] = {{weights_.matrix(), View2<float>(a.data(), kRows, kOutputs)},
                              {other.matrix(), View2<float>(b.data(), kRows, 10)}};
  Linear(pool, rows_, parts, Epilogue::kStore);
  EXPECT_EQ(a, Run(rows_, weights_.matrix(), 1));
  EXPECT_EQ(b, Run(rows_, other.matrix(), 1));
}

TEST_F(LinearProperties, MultipliesTheSiluOfTheGateByUp) {
  const Weights up(random_, WeightType::kBf16, kOutputs, kInputs);
  std::vector<float> out(kRows * kOutputs);
  Threads pool(2);
  const LinearPart parts[] = {{weights_.matrix(), View2<float>(out.data(), kRows, kOutputs)},
                              {up.matrix(), {}}};
  Linear(pool, rows_, parts, Epilogue::kSiluProduct);
  const std::vector<float> gate = Run(rows_, weights_.matrix(), 1);
  const std::vector<float> factor = Run(rows_, up.matrix(), 1);
  for (size_t i = 0; i < out.size(); ++i) {
    const double g = static_cast<double>(gate[i]);
    const double expected = g / (1 + std::exp(-g)) * static_cast<double>(factor[i]);
    ASSERT_NEAR(out[i], expected, 4 * 0x1p-23 * std::abs(expected)) << i;
  }
}

// So many inputs that the rows go through the weights in two rounds: no bit may tell.
TEST(Linear, RowsOfTwoRoundsHaveTheBitsOfEachAlone) {
  constexpr size_t kRows = 98;
  constexpr size_t kInputs = 16400;
  constexpr size_t kOutputs = 5;
  Random random(4);
  const Weights weights(random, WeightType::kBf16, kOutputs, kInputs);
  const std::vector<float> x = random.Floats(kRows * kInputs);
  Threads threads(2);
  std::vector<float> together(kRows * kOutputs);
  const LinearPart part{weights.matrix(), View2<float>(together.data(), kRows, kOutputs)};
  Linear(threads, {x.data(), kRows, kInputs}, std::span(&part, 1), Epilogue::kStore);
  for (const size_t r : {0u, 5u, 6u, 94u, 95u, 96u, 97u}) {
    std::vector<float> alone(kOutputs);
    const LinearPart one{weights.matrix(), View2<float>(alone.data(), 1, kOutputs)};
    Linear(threads, {x.data() + r * kInputs, 1, kInputs}, std::span(&one, 1), Epilogue::kStore);
    EXPECT_EQ(std::memcmp(alone.data(), together.data() + r * kOutputs, kOutputs * sizeof(float)),
              0)
        << r;
  }
}

TEST(Linear, SiluOfHugeValuesIsTheLimitAndKeepsNotANumber) {
  const float gates[] = {200.0f, -200.0f, -90.0f, NAN};
  const float one = 1;
  Threads pool(1);
  float out[4];
  for (size_t i = 0; i < 4; ++i) {
    const LinearPart parts[] = {{{&gates[i], WeightType::kF32, 1, 1}, View2<float>(&out[i], 1, 1)},
                                {{&one, WeightType::kF32, 1, 1}, {}}};
    Linear(pool, View2<const float>(&one, 1, 1), parts, Epilogue::kSiluProduct);
  }
  EXPECT_EQ(out[0], 200.0f);
  EXPECT_NEAR(out[1], 0.0f, 1e-30f);
  EXPECT_NEAR(out[2], 0.0f, 1e-30f);
  EXPECT_TRUE(std::isnan(out[3]));
}

TEST_F(LinearProperties, AddsBiasAndLowRankProduct) {
  const Weights a(random_, WeightType::kF32, 5, kInputs);
  const Weights b(random_, WeightType::kF32, kOutputs, 5);
  const std::vector<float> bias = random_.Floats(kOutputs);
  std::vector<float> out(kRows * kOutputs), expected(out.size());
  LinearPart part{weights_.matrix(), View2<float>(out.data(), kRows, kOutputs), bias,
                  LowRank{a.matrix(), b.matrix(), 0.5f}};
  LinearPart reference = part;
  reference.out = View2<float>(expected.data(), kRows, kOutputs);
  Threads pool(2);
  Linear(pool, rows_, std::span(&part, 1), Epilogue::kStore);
  LinearRef(rows_, std::span(&reference, 1), Epilogue::kStore);
  for (size_t i = 0; i < out.size(); ++i) ASSERT_NEAR(out[i], expected[i], 3e-5) << i;
  // The adapter's share is far above that bound, so leaving it out cannot pass.
  EXPECT_GT(std::abs(expected[0] - bias[0] - Run(rows_, weights_.matrix(), 1)[0]), 1e-3);
}

TEST_F(LinearProperties, ThreadCountChangesNoBit) {
  EXPECT_EQ(Run(rows_, weights_.matrix(), 1), Run(rows_, weights_.matrix(), 5));
}

}  // namespace
}  // namespace assay::kernels

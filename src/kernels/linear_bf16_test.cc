// The linear layer on bf16 units: all of the machine's, and the tile unit's reference everywhere.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "kernels/linear.h"
#include "testing/random.h"
#include "testing/weights.h"

namespace assay::kernels {
namespace {

using ::assay::testing::Random;
using ::assay::testing::TestWeights;

std::vector<Compute> Computes() {
  std::vector<const Bf16Unit*> units = {&TileUnitRef()};
  if (Bf16UnitOf(RunningLevel()) != nullptr) units.push_back(Bf16UnitOf(RunningLevel()));
  std::vector<Compute> out;
  for (const Bf16Unit* unit : units) {
    for (const ComputeForm form :
         {ComputeForm::kBf16x3, ComputeForm::kBf16x2, ComputeForm::kBf16}) {
      out.push_back({form, unit});
    }
  }
  return out;
}

std::string NameOf(const Compute& compute) {
  return std::string(compute.unit->name) + " " + std::string(ComputeFormName(compute.form));
}

// What is left of an activation after its terms, relative to it: each takes 8 bits and a sign.
double SplitError(const Compute& compute) {
  return std::ldexp(1.0, -9 * static_cast<int>(TermsOf(compute.form)) + 1);
}

std::vector<float> Multiply(View2<const float> x, const WeightMatrix& weight,
                            const Compute& compute, size_t threads = 2) {
  std::vector<float> out(x.rows() * weight.rows, NAN);
  Threads pool(threads);
  const LinearPart part{weight, View2<float>(out.data(), x.rows(), weight.rows)};
  Linear(pool, x, std::span(&part, 1), Epilogue::kStore, compute);
  return out;
}

struct Shape {
  size_t rows, inputs, outputs;
};

class LinearBf16 : public ::testing::TestWithParam<Shape> {};

TEST_P(LinearBf16, IsTheProductToTheFormsOwnError) {
  const Shape shape = GetParam();
  Random random(shape.rows * 1000003 + shape.inputs * 1009 + shape.outputs);
  const TestWeights weights(random, WeightType::kBf16, shape.outputs, shape.inputs, 3);
  const std::vector<float> x = random.Floats(shape.rows * shape.inputs);
  const View2<const float> rows(x.data(), shape.rows, shape.inputs);
  std::vector<float> expected(shape.rows * shape.outputs);
  std::vector<float> magnitude(expected.size());
  std::vector<float> wide(shape.inputs);
  for (size_t n = 0; n < shape.outputs; ++n) {
    WidenRow(weights.matrix(), n, wide);
    for (size_t r = 0; r < shape.rows; ++r) {
      double sum = 0;
      double size = 0;
      for (size_t k = 0; k < shape.inputs; ++k) {
        const double product = static_cast<double>(rows[r][k]) * static_cast<double>(wide[k]);
        sum += product;
        size += std::abs(product);
      }
      expected[r * shape.outputs + n] = static_cast<float>(sum);
      magnitude[r * shape.outputs + n] = static_cast<float>(size);
    }
  }
  for (const Compute& compute : Computes()) {
    const std::vector<float> out = Multiply(rows, weights.matrix(), compute);
    const double rounding = 0x1p-24 * (static_cast<double>(shape.inputs) / 16 + 60);
    for (size_t i = 0; i < out.size(); ++i) {
      const double bound =
          static_cast<double>(magnitude[i]) * (rounding + SplitError(compute)) + 1e-30;
      ASSERT_NEAR(out[i], expected[i], bound) << NameOf(compute) << " " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(TileEdges, LinearBf16,
                         ::testing::Values(Shape{1, 1, 1}, Shape{1, 31, 3}, Shape{3, 32, 16},
                                           Shape{16, 33, 17}, Shape{17, 64, 33}, Shape{32, 96, 64},
                                           Shape{33, 100, 31}, Shape{50, 256, 65},
                                           Shape{5, 2080, 40}, Shape{65, 4115, 7},
                                           Shape{530, 40, 18}));

// The three terms of bf16x3 hold all 24 bits of an activation: closer to the truth than bf16x2 and
// bf16 by what a term holds.
TEST(LinearBf16Forms, EachTermTakesItsBitsOff) {
  Random random(3);
  constexpr size_t kInputs = 512;
  const TestWeights weights(random, WeightType::kBf16, 64, kInputs);
  const std::vector<float> x = random.Floats(20 * kInputs);
  const View2<const float> rows(x.data(), 20, kInputs);
  std::vector<float> exact(20 * 64);
  const LinearPart reference{weights.matrix(), View2<float>(exact.data(), 20, 64)};
  LinearRef(rows, std::span(&reference, 1), Epilogue::kStore);
  for (const Compute& compute : Computes()) {
    const std::vector<float> out = Multiply(rows, weights.matrix(), compute);
    double worst = 0;
    for (size_t i = 0; i < out.size(); ++i)
      worst =
          std::max(worst, std::abs(static_cast<double>(out[i]) - static_cast<double>(exact[i])));
    const bool rough = compute.form == ComputeForm::kBf16;
    EXPECT_LT(worst, rough                                  ? 0.2
                     : compute.form == ComputeForm::kBf16x2 ? 2e-4
                                                            : 2e-5)
        << NameOf(compute);
    if (rough) {
      EXPECT_GT(worst, 1e-3) << NameOf(compute);
    }
  }
}

class LinearBf16Properties : public ::testing::Test {
 protected:
  static constexpr size_t kInputs = 610;  // more than one block of steps, and a part of a step
  static constexpr size_t kOutputs = 71;
  static constexpr size_t kRows = 70;

  Random random_{7};
  TestWeights weights_{random_, WeightType::kBf16, kOutputs, kInputs};
  std::vector<float> x_ = random_.Floats(kRows * kInputs);
  View2<const float> rows_{x_.data(), kRows, kInputs};
};

TEST_F(LinearBf16Properties, ARowAloneHasTheBitsItHasAmongOthers) {
  for (const Compute& compute : Computes()) {
    const std::vector<float> together = Multiply(rows_, weights_.matrix(), compute);
    for (const size_t first : {0u, 1u, 15u, 16u, 31u, 32u, 69u}) {
      for (const size_t count : {1u, 2u, 16u, 17u, 33u}) {
        if (first + count > kRows) continue;
        const std::vector<float> alone =
            Multiply(rows_.Rows(first, count), weights_.matrix(), compute, 1);
        ASSERT_EQ(std::memcmp(alone.data(), together.data() + first * kOutputs,
                              alone.size() * sizeof(float)),
                  0)
            << NameOf(compute) << " " << first << " " << count;
      }
    }
  }
}

TEST_F(LinearBf16Properties, ThreadsAlignmentAndNeighboursChangeNoBit) {
  for (const Compute& compute : Computes()) {
    const std::vector<float> expected = Multiply(rows_, weights_.matrix(), compute, 1);
    EXPECT_EQ(Multiply(rows_, weights_.matrix(), compute, 5), expected) << NameOf(compute);
    for (const size_t offset : {1u, 8u, 62u}) {
      Random unused(1);
      TestWeights shifted(unused, WeightType::kBf16, kOutputs, kInputs, offset);
      shifted.CopyFrom(weights_);
      EXPECT_EQ(Multiply(rows_, shifted.matrix(), compute), expected) << NameOf(compute) << offset;
    }
    for (const size_t n : {0u, 15u, 16u, 70u}) {
      const WeightMatrix one{weights_.matrix().row(n), WeightType::kBf16, 1, kInputs};
      const std::vector<float> alone = Multiply(rows_, one, compute);
      for (size_t r = 0; r < kRows; ++r) ASSERT_EQ(alone[r], expected[r * kOutputs + n]);
    }
  }
}

// fp32 weights and adapters stay in fp32 whatever the form; the epilogues are the same.
TEST_F(LinearBf16Properties, OnlyBf16WeightsRunOnTheUnit) {
  const TestWeights plain(random_, WeightType::kF32, kOutputs, kInputs);
  const TestWeights a(random_, WeightType::kF32, 5, kInputs);
  const TestWeights b(random_, WeightType::kF32, kOutputs, 5);
  for (const Compute& compute : Computes()) {
    EXPECT_EQ(Multiply(rows_, plain.matrix(), compute), Multiply(rows_, plain.matrix(), {}));
    std::vector<float> out(kRows * kOutputs), expected(out.size());
    LinearPart part{weights_.matrix(),
                    View2<float>(out.data(), kRows, kOutputs),
                    {},
                    LowRank{a.matrix(), b.matrix(), 0.5f}};
    Threads pool(2);
    Linear(pool, rows_, std::span(&part, 1), Epilogue::kStore, compute);
    const std::vector<float> base = Multiply(rows_, weights_.matrix(), compute);
    part.out = View2<float>(expected.data(), kRows, kOutputs);
    LinearRef(rows_, std::span(&part, 1), Epilogue::kStore);
    std::vector<float> bare(out.size());
    const LinearPart none{weights_.matrix(), View2<float>(bare.data(), kRows, kOutputs)};
    LinearRef(rows_, std::span(&none, 1), Epilogue::kStore);
    // The adapter's own share, with the form's error taken out.
    for (size_t i = 0; i < out.size(); ++i)
      ASSERT_NEAR(out[i] - base[i], expected[i] - bare[i], 2e-4) << NameOf(compute);
  }
}

TEST_F(LinearBf16Properties, EpiloguesAddAndGate) {
  const TestWeights up(random_, WeightType::kBf16, kOutputs, kInputs);
  for (const Compute& compute : Computes()) {
    const std::vector<float> gate = Multiply(rows_, weights_.matrix(), compute);
    const std::vector<float> factor = Multiply(rows_, up.matrix(), compute);
    std::vector<float> out = x_;
    out.resize(kRows * kOutputs);
    const std::vector<float> before = out;
    Threads pool(2);
    const LinearPart add{weights_.matrix(), View2<float>(out.data(), kRows, kOutputs)};
    Linear(pool, rows_, std::span(&add, 1), Epilogue::kAdd, compute);
    for (size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], before[i] + gate[i]);
    const LinearPart parts[] = {{weights_.matrix(), View2<float>(out.data(), kRows, kOutputs)},
                                {up.matrix(), {}}};
    Linear(pool, rows_, parts, Epilogue::kSiluProduct, compute);
    for (size_t i = 0; i < out.size(); ++i) {
      const double g = static_cast<double>(gate[i]);
      const double expected = g / (1 + std::exp(-g)) * static_cast<double>(factor[i]);
      ASSERT_NEAR(out[i], expected, 4 * 0x1p-23 * std::abs(expected)) << i;
    }
  }
}

TEST(LinearBf16Forms, InfinityAndNotANumberStayWhatTheyAre) {
  const Bf16 one = NarrowToBf16(1.0f);
  for (const Compute& compute : Computes()) {
    const auto times_one = [&](float value) {
      const View2<const float> x(&value, 1, 1);
      return Multiply(x, {&one, WeightType::kBf16, 1, 1}, compute)[0];
    };
    EXPECT_EQ(times_one(INFINITY), INFINITY) << NameOf(compute);
    EXPECT_TRUE(std::isnan(times_one(NAN))) << NameOf(compute);
    EXPECT_NEAR(times_one(-3e38f) / -3e38f, 1.0f, 0.01f) << NameOf(compute);
  }
}

}  // namespace
}  // namespace assay::kernels

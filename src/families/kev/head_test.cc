#include "families/kev/head.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "testing/random.h"

namespace assay::families::kev {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;

std::vector<float> RandomFloats(testing::Random& random, size_t count) {
  std::vector<float> out;
  for (size_t i = 0; i < count; ++i) out.push_back(random.Uniform(-2, 2));
  return out;
}

// The sum as spec kev 5 writes it, key by key.
std::vector<double> Literal(const PointerHead& head, View2<const float> hidden) {
  const auto project = [&](View2<const float> weight, std::span<const float> bias, size_t row) {
    std::vector<long double> out;
    for (size_t r = 0; r < bias.size(); ++r) {
      long double sum = bias[r];
      for (size_t c = 0; c < hidden.cols(); ++c)
        sum += static_cast<long double>(weight[r][c]) * static_cast<long double>(hidden[row][c]);
      out.push_back(sum);
    }
    return out;
  };
  const auto query = project(head.query_weight, head.query_bias, hidden.rows() - 1);
  std::vector<double> out;
  for (size_t j = 0; j + 1 < hidden.rows(); ++j) {
    const auto key = project(head.key_weight, head.key_bias, j);
    long double sum = 0;
    for (size_t r = 0; r < key.size(); ++r) sum += key[r] * query[r];
    out.push_back(static_cast<double>(sum / std::sqrt(static_cast<long double>(key.size()))));
  }
  return out;
}

TEST(PointerHead, ByHand) {
  // head_dim 4 (so the scores are halved), hidden 2.
  const std::vector<float> wq = {1, 0, 0, 1, 1, 1, 2, 0};
  const std::vector<float> wk = {0, 1, 1, 0, 1, -1, 0, 0};
  const std::vector<float> bq = {0, 1, 0, -1};
  const std::vector<float> bk = {1, 0, 0, 3};
  const PointerHead head{{wq.data(), 4, 2}, {wk.data(), 4, 2}, bq, bk};
  // Decide (2, 1): q = (2, 2, 3, 3). Option (1, 2): k = (3, 1, -1, 3), k.q = 6+2-3+9 = 14.
  // Option (0, 0): k = bk, k.q = 2 + 9 = 11.
  const std::vector<float> hidden = {1, 2, 0, 0, 2, 1};
  const Reading reading = ReadPointer(head, {hidden.data(), 3, 2}, 3.0);
  EXPECT_THAT(reading.scores, ElementsAre(7.0, 5.5));
  const double p = 1 / (1 + std::exp(-0.5));
  EXPECT_THAT(reading.probabilities, ElementsAre(DoubleEq(p), DoubleEq(1 - p)));
  EXPECT_TRUE(reading.logits.empty());
}

TEST(PointerHead, EqualsTheSumAsWritten) {
  testing::Random random(5);
  for (const size_t options : {1u, 2u, 7u, 255u}) {
    constexpr size_t kDim = 256;
    constexpr size_t kWidth = 96;
    const std::vector<float> wq = RandomFloats(random, kDim * kWidth);
    const std::vector<float> wk = RandomFloats(random, kDim * kWidth);
    const std::vector<float> bq = RandomFloats(random, kDim);
    const std::vector<float> bk = RandomFloats(random, kDim);
    // Rows at a stride, as they lie behind a pass.
    const std::vector<float> rows = RandomFloats(random, (options + 1) * (kWidth + 3));
    const View2<const float> hidden(rows.data(), options + 1, kWidth, kWidth + 3);
    const PointerHead head{{wq.data(), kDim, kWidth}, {wk.data(), kDim, kWidth}, bq, bk};
    const std::vector<double> got = PointerScores(head, hidden);
    const std::vector<double> want = Literal(head, hidden);
    ASSERT_EQ(got.size(), options);
    for (size_t j = 0; j < options; ++j)
      EXPECT_NEAR(got[j], want[j], 1e-10) << "of about " << want[j];
  }
}

TEST(PointerHead, AnOptionAloneHasProbabilityOne) {
  const std::vector<float> one = {0.5};
  const PointerHead head{{one.data(), 1, 1}, {one.data(), 1, 1}, one, one};
  const std::vector<float> hidden = {3, 4};
  EXPECT_THAT(ReadPointer(head, {hidden.data(), 2, 1}, 2.35).probabilities, ElementsAre(1.0));
}

// Spec kev 9.1: the published logits of the ticket, the temperature of Kev-0.8B and the answer that
// its server gives.
TEST(PointerHead, TheTemperatureDividesTheScores) {
  const std::vector<float> wq = {0};
  const std::vector<float> wk = {1};
  const std::vector<float> bq = {1};
  const std::vector<float> bk = {0};
  const PointerHead head{{wq.data(), 1, 1}, {wk.data(), 1, 1}, bq, bk};
  const std::vector<float> hidden = {2.420701504F, 3.740786552F, 2.592195034F, 0};
  const std::vector<double> p =
      ReadPointer(head, {hidden.data(), 4, 1}, 2.3510958125672174).probabilities;
  EXPECT_NEAR(p[0], 0.2612, 5e-5);
  EXPECT_NEAR(p[1], 0.4579, 5e-5);
  EXPECT_NEAR(p[2], 0.2809, 5e-5);
}

}  // namespace
}  // namespace assay::families::kev

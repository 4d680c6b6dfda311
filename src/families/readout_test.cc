#include "families/readout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "testing/random.h"

namespace assay::families {
namespace {

using testing::Random;

TEST(CompensatedSum, KeepsWhatAPlainSumLoses) {
  EXPECT_EQ(CompensatedSum(std::vector<double>{1e16, 1, 1, -1e16}), 2.0);
  // The small term first: the correction must come from whichever of the two is smaller.
  EXPECT_EQ(CompensatedSum(std::vector<double>{1, 1e100, 1, -1e100}), 2.0);
  EXPECT_EQ(CompensatedSum(std::vector<double>(10, 0.1)), 1.0);
}

TEST(CompensatedSum, OfNothingIsZero) { EXPECT_EQ(CompensatedSum({}), 0.0); }

TEST(CompensatedSum, AnInfiniteSumStaysInfinite) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(CompensatedSum(std::vector<double>{1, infinity, 1}), infinity);
}

TEST(Softmax, OneScoreIsCertain) {
  EXPECT_EQ(Softmax(std::vector<double>{-300.0}), std::vector<double>{1.0});
}

TEST(Softmax, EqualScoresShareEvenly) {
  EXPECT_EQ(Softmax(std::vector<double>{7, 7, 7, 7}),
            (std::vector<double>{0.25, 0.25, 0.25, 0.25}));
}

TEST(Softmax, ScoresFarFromZeroNeitherOverflowNorVanish) {
  const std::vector<double> high = Softmax(std::vector<double>{1e4, 1e4 - 1});
  const std::vector<double> low = Softmax(std::vector<double>{-1e4, -1e4 - 1});
  EXPECT_EQ(high, low);
  EXPECT_NEAR(high[0], 1 / (1 + std::exp(-1.0)), 1e-15);
}

TEST(Softmax, AScoreThatIsNoNumberShows) {
  const std::vector<double> p =
      Softmax(std::vector<double>{0.0, std::numeric_limits<double>::quiet_NaN()});
  EXPECT_TRUE(std::isnan(p[0]) && std::isnan(p[1]));
}

// How the provider reads: fp32 log-softmax over the whole vocabulary, the best of each group, and
// only then a softmax over the options.
std::vector<double> ReadWholeVocabulary(const std::vector<float>& logits,
                                        const std::vector<std::vector<size_t>>& groups) {
  const float top = *std::max_element(logits.begin(), logits.end());
  float sum = 0;
  for (const float z : logits) sum += std::exp(z - top);
  const float log_sum = top + std::log(sum);
  std::vector<double> scores;
  for (const auto& group : groups) {
    float best = -std::numeric_limits<float>::infinity();
    for (const size_t id : group) best = std::max(best, logits[id] - log_sum);
    scores.push_back(best);
  }
  return Softmax(scores);
}

TEST(Readout, EqualsALogSoftmaxOverTheWholeVocabulary) {
  constexpr size_t kVocabulary = 997;
  constexpr int kCases = 1000;
  Random random(11);
  double worst = 0;
  for (int c = 0; c < kCases; ++c) {
    const std::vector<float> logits = random.Floats(kVocabulary, random.Uniform(0.5f, 12));
    std::vector<std::vector<size_t>> groups(1 + random.Below(12));
    std::vector<double> scores;
    for (auto& group : groups) {
      for (size_t ids = 1 + random.Below(3); ids > 0; --ids)
        group.push_back(random.Below(kVocabulary));
      double best = -std::numeric_limits<double>::infinity();
      for (const size_t id : group) best = std::max(best, static_cast<double>(logits[id]));
      scores.push_back(best);
    }
    const std::vector<double> ours = Softmax(scores);
    const std::vector<double> theirs = ReadWholeVocabulary(logits, groups);
    for (size_t i = 0; i < ours.size(); ++i) worst = std::max(worst, std::abs(ours[i] - theirs[i]));
  }
  EXPECT_LE(worst, 1e-6);
}

TEST(Logit, IsTheDotProductInFloat64) {
  constexpr size_t kRows = 3;
  constexpr size_t kCols = 67;
  Random random(5);
  const std::vector<Bf16> weights = random.Bf16s(kRows * kCols);
  const std::vector<float> hidden = random.Floats(kCols, 9);
  const kernels::WeightMatrix matrix{
      weights.data(), kernels::WeightType::kBf16, kRows, kCols, nullptr, 0};
  for (size_t r = 0; r < kRows; ++r) {
    double sum = 0;
    for (size_t c = 0; c < kCols; ++c) {
      sum += static_cast<double>(hidden[c]) * static_cast<double>(Widen(weights[r * kCols + c]));
    }
    EXPECT_EQ(Logit(hidden, matrix, r), sum) << "row " << r;
  }
}

TEST(Argmax, TakesTheFirstOfEquals) {
  EXPECT_EQ(Argmax(std::vector<double>{0.1, 0.45, 0.45}), 1u);
  EXPECT_EQ(Argmax(std::vector<double>{0.5, 0.5}), 0u);
  EXPECT_EQ(Argmax(std::vector<double>{0.2, 0.3, 0.5}), 2u);
}

}  // namespace
}  // namespace assay::families

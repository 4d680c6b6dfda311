#include "families/kev/confidence.h"

#include <gtest/gtest.h>

#include <vector>

namespace assay::families::kev {
namespace {

double Choice(const std::vector<double>& p) { return ChoiceConfidence(p); }
double Score(const std::vector<double>& p) { return ScoreConfidence(p); }

TEST(KevConfidence, AChoiceIsSureByItsLeadOverChance) {
  EXPECT_EQ(Choice({1}), 1);
  EXPECT_EQ(Choice({0.3}), 1);  // one option, whatever it has
  EXPECT_EQ(Choice({0.5, 0.5}), 0);
  EXPECT_EQ(Choice({0.25, 0.75}), 0.5);
  EXPECT_EQ(Choice({0, 0, 1}), 1);
  EXPECT_DOUBLE_EQ(Choice({1, 3, 0, 0}), 2.0 / 3);  // brought to the sum 1
}

TEST(KevConfidence, AScoreIsSureByItsSpread) {
  EXPECT_EQ(Score({0.4}), 1);
  EXPECT_EQ(Score({0, 1, 0}), 1);
  // Spread 0.25 + 0.25 = 0.5; the levels are 2/3 from their middle on average.
  EXPECT_DOUBLE_EQ(Score({0.25, 0.5, 0.25}), 0.25);
  EXPECT_EQ(Score({0.5, 0, 0.5}), 0);  // spread 1 is past 2/3: never below zero
  // The first of equals is the mode: spread 0.45 * 1 + 0.1 * 2, where the second has 0.45 + 0.1.
  EXPECT_DOUBLE_EQ(Score({0.45, 0.45, 0.1}), 1 - 0.65 / (2.0 / 3));
  EXPECT_DOUBLE_EQ(Score({0.1, 0.2, 0.4, 0.3}), 1 - (0.1 * 2 + 0.2 + 0.3) / 1);
}

TEST(KevConfidence, AllZeroIsUniform) {
  EXPECT_EQ(Choice({0, 0}), 0);
  EXPECT_DOUBLE_EQ(Score({0, 0, 0, 0}), 0);
}

// The same two levels nearly tied: the mode swaps and the confidence jumps (spec kev 5).
TEST(KevConfidence, NearTiedLevelsSwapTheMode) {
  const double left = Score({0.1, 0.45001, 0.44999});
  const double right = Score({0.1, 0.44999, 0.45001});
  EXPECT_GT(left - right, 0.1);
}

}  // namespace
}  // namespace assay::families::kev

#include "bench/statistics.h"

#include <gtest/gtest.h>

namespace assay::bench {
namespace {

TEST(BenchStatistics, QuantilesLieBetweenNeighboursInProportion) {
  const std::vector<double> values = {1, 2, 4, 8, 16};
  EXPECT_EQ(Quantile(values, 0), 1);
  EXPECT_EQ(Quantile(values, 0.5), 4);
  EXPECT_EQ(Quantile(values, 1), 16);
  EXPECT_DOUBLE_EQ(Quantile(values, 0.1), 1.4);
  EXPECT_DOUBLE_EQ(Quantile(values, 0.9), 12.8);
  EXPECT_EQ(Quantile(std::vector<double>{3}, 0.9), 3);
}

TEST(BenchStatistics, ASpreadSortsItsValues) {
  const Spread spread = SpreadOf({8, 1, 16, 4, 2});
  EXPECT_EQ(spread.median, 4);
  EXPECT_DOUBLE_EQ(spread.p10, 1.4);
  EXPECT_DOUBLE_EQ(spread.p90, 12.8);
  EXPECT_EQ(SpreadOf({2, 1}).median, 1.5);
}

TEST(BenchStatistics, ALineThroughPointsOfALineIsThatLine) {
  const std::vector<double> x = {16, 39, 64, 402};
  std::vector<double> y;
  for (const double value : x) y.push_back(0.25 + 0.5 * value);
  const std::optional<Line> line = FitLine(x, y);
  ASSERT_TRUE(line);
  EXPECT_NEAR(line->fixed, 0.25, 1e-12);
  EXPECT_NEAR(line->slope, 0.5, 1e-15);
}

// The textbook's example: the residuals of 1, 2, 2 over 1, 2, 3.
TEST(BenchStatistics, OtherPointsGetTheLineOfLeastSquares) {
  const std::optional<Line> line =
      FitLine(std::vector<double>{1, 2, 3}, std::vector<double>{1, 2, 2});
  ASSERT_TRUE(line);
  EXPECT_NEAR(line->fixed, 2.0 / 3, 1e-15);
  EXPECT_NEAR(line->slope, 0.5, 1e-15);
}

TEST(BenchStatistics, OneLengthHasNoLine) {
  EXPECT_FALSE(FitLine(std::vector<double>{}, std::vector<double>{}));
  EXPECT_FALSE(FitLine(std::vector<double>{4, 4}, std::vector<double>{1, 2}));
}

}  // namespace
}  // namespace assay::bench

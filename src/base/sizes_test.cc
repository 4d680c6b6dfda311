#include "base/sizes.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

constexpr size_t kLargest = std::numeric_limits<size_t>::max();
constexpr size_t kBig = size_t{1} << 40;

TEST(Sizes, SumsAndProductsThatFitAreExact) {
  EXPECT_EQ(SaturatingSum(), 0u);
  EXPECT_EQ(SaturatingSum(kBig, kBig, size_t{3}), 2 * kBig + 3);
  EXPECT_EQ(SaturatingSum(kLargest - 1, size_t{1}), kLargest);
  EXPECT_EQ(SaturatingProduct(), 1u);
  EXPECT_EQ(SaturatingProduct(kBig, size_t{5}), 5 * kBig);
  EXPECT_EQ(SaturatingProduct(kLargest, size_t{1}), kLargest);
}

TEST(Sizes, OverflowGivesTheLargestWhateverFollows) {
  EXPECT_EQ(SaturatingSum(kLargest, size_t{1}), kLargest);
  EXPECT_EQ(SaturatingSum(kLargest, kLargest, size_t{1}), kLargest);
  EXPECT_EQ(SaturatingProduct(kBig, kBig), kLargest);
  EXPECT_EQ(SaturatingProduct(kBig, kBig, kBig, size_t{2}), kLargest);
}

TEST(Sizes, NothingOfAnythingIsNothing) { EXPECT_EQ(SaturatingProduct(kBig, kBig, size_t{0}), 0u); }

TEST(Sizes, GroupsOfThreeDigits) {
  EXPECT_EQ(Grouped(0), "0");
  EXPECT_EQ(Grouped(999), "999");
  EXPECT_EQ(Grouped(1000), "1,000");
  EXPECT_EQ(Grouped(65537), "65,537");
  EXPECT_EQ(Grouped(27131904), "27,131,904");
}

}  // namespace
}  // namespace assay

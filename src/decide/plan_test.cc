#include "decide/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::decide {
namespace {

using ::testing::ElementsAre;
using Group = std::vector<size_t>;

nn::StateShape Shape() {
  nn::StateShape shape;
  shape.attention_layers = 2;
  shape.attention = {4, 2, 8};
  shape.conv_layers = 3;
  shape.conv_columns = 2;
  shape.conv_channels = 16;
  return shape;
}

// A request with a trunk of `trunk` rows and branches of these many rows.
families::EncodedRequest RequestOf(size_t trunk, const std::vector<size_t>& branches) {
  families::EncodedRequest request;
  request.trunk_ids.resize(trunk);
  for (const size_t rows : branches) {
    request.questions.emplace_back();
    request.questions.back().ids.resize(rows);
  }
  return request;
}

size_t BytesOf(size_t rows) { return nn::State::BytesFor(Shape(), rows); }

TEST(Plan, AllBranchesThatFitRunTogether) {
  const Plan plan = MakePlan(RequestOf(10, {5, 6, 7}), Shape(), {});
  EXPECT_EQ(plan.trunk_rows, 10u);
  EXPECT_THAT(plan.groups, ElementsAre(Group{0, 1, 2}));
}

TEST(Plan, ASingleQuestionHasNoTrunk) {
  const Plan plan = MakePlan(RequestOf(0, {40}), Shape(), {});
  EXPECT_EQ(plan.trunk_rows, 0u);
  EXPECT_THAT(plan.groups, ElementsAre(Group{0}));
}

TEST(Plan, GroupsStayUnderTheirBytesAndKeepTheOrder) {
  PlanOptions options;
  options.branch_bytes = 2 * BytesOf(64);
  EXPECT_THAT(MakePlan(RequestOf(64, {64, 64, 64, 64, 64}), Shape(), options).groups,
              ElementsAre(Group{0, 1}, Group{2, 3}, Group{4}));
  options.branch_bytes -= 1;
  EXPECT_THAT(MakePlan(RequestOf(64, {64, 64, 64}), Shape(), options).groups,
              ElementsAre(Group{0}, Group{1}, Group{2}));
}

TEST(Plan, ABranchThatIsTooLargeRunsAlone) {
  PlanOptions options;
  options.branch_bytes = 1;
  EXPECT_THAT(MakePlan(RequestOf(3, {9, 9}), Shape(), options).groups,
              ElementsAre(Group{0}, Group{1}));
  options.branch_bytes = 2 * BytesOf(64);
  EXPECT_THAT(MakePlan(RequestOf(64, {64, 64 * 9, 64}), Shape(), options).groups,
              ElementsAre(Group{0}, Group{1}, Group{2}));
}

TEST(Plan, ABranchPaysForItsCopyOfTheTrunksLastPage) {
  PlanOptions options;
  options.branch_bytes = 2 * BytesOf(64);
  EXPECT_EQ(MakePlan(RequestOf(128, {34, 34}), Shape(), options).groups.size(), 1u);
  // 63 rows of the last page and 34 of its own are two pages.
  EXPECT_EQ(MakePlan(RequestOf(127, {34, 34}), Shape(), options).groups.size(), 2u);
}

}  // namespace
}  // namespace assay::decide

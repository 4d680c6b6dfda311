#include "decide/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::decide {
namespace {

using ::testing::ElementsAre;
using Group = std::vector<size_t>;
using Groups = std::vector<Group>;

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

// The question numbers of the groups of one request.
Groups GroupsOf(const families::EncodedRequest& request, const PlanOptions& options) {
  const families::EncodedRequest* requests[] = {&request};
  Groups out;
  for (const auto& group : MakePlan(requests, Shape(), options).groups) {
    out.emplace_back();
    for (const QuestionRef& ref : group) {
      EXPECT_EQ(ref.request, 0u);
      out.back().push_back(ref.question);
    }
  }
  return out;
}

size_t BytesOf(size_t rows) { return nn::State::BytesFor(Shape(), rows); }

TEST(Plan, AllBranchesThatFitRunTogether) {
  EXPECT_THAT(GroupsOf(RequestOf(10, {5, 6, 7}), {}), ElementsAre(Group{0, 1, 2}));
}

TEST(Plan, BranchesOfSeveralRequestsShareAGroup) {
  const families::EncodedRequest first = RequestOf(10, {5, 6});
  const families::EncodedRequest second = RequestOf(0, {40});
  const families::EncodedRequest* requests[] = {&first, &second};
  PlanOptions options;
  EXPECT_THAT(MakePlan(requests, Shape(), options).groups,
              ElementsAre(ElementsAre(QuestionRef{0, 0}, QuestionRef{0, 1}, QuestionRef{1, 0})));
  options.branch_bytes = 2 * BytesOf(64);
  EXPECT_THAT(MakePlan(requests, Shape(), options).groups,
              ElementsAre(ElementsAre(QuestionRef{0, 0}, QuestionRef{0, 1}),
                          ElementsAre(QuestionRef{1, 0})));
}

TEST(Plan, GroupsStayUnderTheirBytesAndKeepTheOrder) {
  PlanOptions options;
  options.branch_bytes = 2 * BytesOf(64);
  EXPECT_THAT(GroupsOf(RequestOf(64, {64, 64, 64, 64, 64}), options),
              ElementsAre(Group{0, 1}, Group{2, 3}, Group{4}));
  options.branch_bytes -= 1;
  EXPECT_THAT(GroupsOf(RequestOf(64, {64, 64, 64}), options),
              ElementsAre(Group{0}, Group{1}, Group{2}));
}

TEST(Plan, ABranchThatIsTooLargeRunsAlone) {
  PlanOptions options;
  options.branch_bytes = 1;
  EXPECT_THAT(GroupsOf(RequestOf(3, {9, 9}), options), ElementsAre(Group{0}, Group{1}));
  options.branch_bytes = 2 * BytesOf(64);
  EXPECT_THAT(GroupsOf(RequestOf(64, {64, 64 * 9, 64}), options),
              ElementsAre(Group{0}, Group{1}, Group{2}));
}

TEST(Plan, ABranchPaysForItsCopyOfTheTrunksLastPage) {
  PlanOptions options;
  options.branch_bytes = 2 * BytesOf(64);
  EXPECT_EQ(GroupsOf(RequestOf(128, {34, 34}), options).size(), 1u);
  // 63 rows of the last page and 34 of its own are two pages.
  EXPECT_EQ(GroupsOf(RequestOf(127, {34, 34}), options).size(), 2u);
}

}  // namespace
}  // namespace assay::decide

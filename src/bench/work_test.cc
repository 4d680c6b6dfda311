#include "bench/work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/measure.h"
#include "families/registry.h"
#include "testing/fixtures.h"

namespace assay::bench {
namespace {

using ::testing::HasSubstr;

Error Refusal(const Cell& cell, Asker asker) {
  try {
    CheckCell(cell, 64, asker);
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorKind::kModel, "", "was taken");
}

TEST(BenchWork, ACellUpToTheRowLimitIsTaken) {
  EXPECT_NO_THROW(CheckCell({64, 0, 0, 0}, 64, Asker::kOption));
  EXPECT_NO_THROW(CheckCell({0, 3, 44, 20}, 64, Asker::kOption));
}

TEST(BenchWork, ACellPastTheRowLimitIsRefusedWithTheLimit) {
  const Error error = Refusal({65, 0, 0, 0}, Asker::kOption);
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_EQ(error.where(), "--tokens");
  EXPECT_THAT(error.what(), HasSubstr("64"));
  EXPECT_EQ(Refusal({0, 3, 45, 20}, Asker::kOption).where(), "--state");
  EXPECT_EQ(Refusal({0, 3, 1, 64}, Asker::kOption).where(), "--question-tokens");
}

TEST(BenchWork, ALineOfInputIsRefusedAsARequestByItsOwnFields) {
  const Error error = Refusal({0, 3, 1, 64}, Asker::kLine);
  EXPECT_EQ(error.kind(), ErrorKind::kRequest);
  EXPECT_EQ(error.where(), "question_tokens");
  EXPECT_EQ(Refusal({0, 0, 0, 0}, Asker::kLine).where(), "tokens");
}

TEST(BenchWork, AStateCountsOnceAndIsReadInItsOwnPasses) {
  EXPECT_EQ((Cell{0, 5, 1500, 20}).rows(), 1600u);
  const auto family = families::LoadFamily(testing::TinyD1(), {});
  Threads threads(1);
  const Work work(*family, threads);
  EXPECT_EQ(work.Passes({512, 0, 0, 0}), 1u);
  EXPECT_EQ(work.Passes({513, 0, 0, 0}), 2u);
  EXPECT_EQ(work.Passes({0, 1, 500, 12}), 1u);  // one question's row is whole
  EXPECT_EQ(work.Passes({0, 5, 500, 12}), 2u);  // a trunk, and the branches together
  EXPECT_EQ(work.Passes({0, 5, 513, 12}), 3u);
  EXPECT_GT(work.Seconds({0, 3, 5, 2}), 0);
}

TEST(BenchWork, TheDefaultStateIsWhatTheRowLimitLeaves) {
  BenchOptions options;
  EXPECT_EQ(StateTokens(options, 4096), 1500u);
  EXPECT_EQ(StateTokens(options, 64), 44u);
  options.state = 100;  // asked for: kept, and refused later
  EXPECT_EQ(StateTokens(options, 64), 100u);
}

TEST(BenchWork, CellsAreRowsThenQuestionsAndEachOnce) {
  BenchOptions options;
  options.tokens = {8, 4};
  options.questions = {2};
  const std::vector<Cell> cells = CellsOf(options, 64);
  ASSERT_EQ(cells.size(), 3u);
  EXPECT_EQ(cells[0].Name(), "8 tokens");
  EXPECT_EQ(cells[2].Name(), "2 questions of 20 on 44");
  options.tokens = {4, 4};
  EXPECT_THROW(CellsOf(options, 64), Error);
  options.tokens = options.questions = {};
  EXPECT_THROW(CellsOf(options, 64), Error);
  options.questions = {0};
  EXPECT_THROW(CellsOf(options, 64), Error);
}

}  // namespace
}  // namespace assay::bench

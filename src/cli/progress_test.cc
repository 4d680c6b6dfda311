#include "cli/progress.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace assay::cli {
namespace {

TEST(Progress, SaysShareAndTimeLeft) {
  EXPECT_EQ(Progress::Text(50, 200, "3 answered", 10),
            "[######..................]  25 %  3 answered, 0:30 left");
}

TEST(Progress, TheStartHasNoTimeLeft) {
  EXPECT_EQ(Progress::Text(0, 200, "0 answered", 3),
            "[........................]   0 %  0 answered");
}

TEST(Progress, TheEndIsFull) {
  EXPECT_EQ(Progress::Text(200, 200, "all", 61),
            "[########################] 100 %  all, 0:00 left");
}

TEST(Progress, MoreThanAllIsAll) {
  // A file may grow while it is read.
  EXPECT_EQ(Progress::Text(300, 200, "all", 1), Progress::Text(200, 200, "all", 1));
}

TEST(Progress, IsNotFullBeforeTheEnd) {
  EXPECT_EQ(Progress::Text(999, 1000, "n", 0), "[#######################.]  99 %  n, 0:00 left");
}

TEST(Progress, AnUnknownTotalSaysTimeSpent) {
  EXPECT_EQ(Progress::Text(77, 0, "12 answered, 1 refused", 61.4), "12 answered, 1 refused, 1:01");
}

TEST(Progress, MinutesAreNotCutAtAnHour) {
  EXPECT_EQ(Progress::Text(1, 101, "n", 60), "[........................]   0 %  n, 100:00 left");
}

// What a progress line of one update, after the time between draws, writes to standard error.
std::string Drawn(bool shown) {
  ::testing::internal::CaptureStderr();
  {
    Progress progress(10, shown);
    std::this_thread::sleep_for(std::chrono::milliseconds(110));
    progress.Update(10, "n");
  }
  return ::testing::internal::GetCapturedStderr();
}

TEST(Progress, DrawsOneLineAndWipesIt) {
  EXPECT_EQ(Drawn(true), "\r\x1b[K[########################] 100 %  n, 0:00 left\r\x1b[K");
}

TEST(Progress, DrawsNothingWhenNotShown) { EXPECT_EQ(Drawn(false), ""); }

}  // namespace
}  // namespace assay::cli

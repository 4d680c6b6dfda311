#include "base/threads.h"

#include <gtest/gtest.h>

#include <numeric>

namespace assay {
namespace {

TEST(Threads, RunsEveryTaskOnce) {
  for (const size_t count : {1, 2, 5}) {
    Threads threads(count);
    for (size_t tasks = 0; tasks < 70; ++tasks) {
      std::vector<int> hits(tasks, 0);
      threads.Run(tasks, [&](size_t task) { ++hits[task]; });
      EXPECT_EQ(hits, std::vector<int>(tasks, 1));
    }
  }
}

TEST(Threads, WakesAfterSleeping) {
  Threads threads(3);
  for (int round = 0; round < 5; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    std::atomic<size_t> sum = 0;
    threads.Run(100, [&](size_t task) { sum += task; });
    EXPECT_EQ(sum, 4950u);
  }
}

TEST(Threads, CallersTakeTurns) {
  Threads threads(2);
  std::vector<size_t> sums(4, 0);
  {
    std::vector<std::jthread> callers;
    for (size_t& sum : sums) {
      callers.emplace_back([&threads, &sum] {
        for (int round = 0; round < 50; ++round) {
          std::vector<size_t> part(20);
          threads.Run(part.size(), [&](size_t task) { part[task] = task; });
          sum += std::accumulate(part.begin(), part.end(), size_t{0});
        }
      });
    }
  }
  EXPECT_EQ(sums, std::vector<size_t>(4, 50 * 190));
}

}  // namespace
}  // namespace assay

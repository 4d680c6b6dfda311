#include "base/threads.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <numeric>

#include "assay/error.h"

// A sanitizer's own address space is past any limit.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ASSAY_SANITIZED
#endif

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

#ifndef ASSAY_SANITIZED
TEST(Threads, ThatCannotBeStartedAreAnErrorAndNoHang) {
  const auto start_many = [] {
    const rlimit limit{size_t{256} << 20, size_t{256} << 20};
    setrlimit(RLIMIT_AS, &limit);
    try {
      const Threads threads(200);
    } catch (const Error& error) {
      std::fputs(error.what(), stderr);
      std::_Exit(ExitCode(error.kind()));
    }
    std::_Exit(0);
  };
  EXPECT_EXIT(start_many(), ::testing::ExitedWithCode(3), "threads: 200 cannot be started: ");
}
#endif

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

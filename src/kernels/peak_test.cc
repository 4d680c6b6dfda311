#include "kernels/peak.h"

#include <gtest/gtest.h>

#include <cmath>

namespace assay::kernels {
namespace {

constexpr PeakOptions kShort = {.seconds = 0.001, .tries = 2, .buffer_bytes = size_t{4} << 20};

TEST(Peak, IsFiniteAndPositiveForAnyNumberOfThreads) {
  for (const size_t count : {1u, 2u, 3u}) {
    Threads threads(count);
    for (const double peak : {MultiplyAddsPeak(threads, kShort), ReadBandwidth(threads, kShort)}) {
      EXPECT_TRUE(std::isfinite(peak));
      EXPECT_GT(peak, 0);
    }
  }
}

TEST(Peak, ABufferSmallerThanASliceIsReadAsOne) {
  Threads threads(1);
  EXPECT_GT(ReadBandwidth(threads, {.tries = 1, .buffer_bytes = 1}), 0);
}

}  // namespace
}  // namespace assay::kernels

#include "kernels/cpu_level.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "assay/error.h"

namespace assay::kernels {
namespace {

// The suite runs once per level with ASSAY_CPU set; here the kernels themselves say which code ran.
TEST(CpuLevel, TheForcedLevelIsTheOneThatRuns) {
  const char* forced = std::getenv("ASSAY_CPU");
  const CpuLevel expected = AvailableLevels().back();
  EXPECT_EQ(CpuLevelName(RunningLevel()), forced == nullptr ? CpuLevelName(expected) : forced);
}

TEST(CpuLevel, RefusesAnUnknownLevelByName) {
  try {
    SelectCpuLevel("avx9");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("avx9"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("generic"));
  }
}

}  // namespace
}  // namespace assay::kernels

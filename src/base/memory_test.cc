#include "base/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/error.h"

namespace assay {
namespace {

TEST(Memory, ReadsTheKernelsFiles) {
  using memory_internal::CgroupPath;
  using memory_internal::FieldKilobytes;
  EXPECT_EQ(FieldKilobytes("MemTotal:  10 kB\nMemAvailable:   24 kB\n", "MemAvailable:"), 24u);
  EXPECT_EQ(FieldKilobytes("VmSize: 7 kB", "VmSize:"), 7u);
  EXPECT_EQ(FieldKilobytes("MemTotal: 10 kB", "VmSize:"), 0u);
  EXPECT_EQ(CgroupPath("1:name=x:/no\n0::/a/b\n"), "/a/b");
  EXPECT_EQ(CgroupPath("0::/"), "/");
  EXPECT_EQ(CgroupPath("4:memory:/x\n"), "");
}

TEST(Memory, ThisProcessHasSomeLeft) {
  const std::vector<MemoryLimit> limits = MemoryLimits();
  ASSERT_FALSE(limits.empty());
  for (const MemoryLimit& limit : limits) EXPECT_GT(limit.bytes, 1u << 20) << limit.source;
}

TEST(Memory, TheRefusalNamesBothNumbersAndTheLimit) {
  const MemoryNeed need{3'000'000'000, 500'000'000, 0};
  EXPECT_NO_THROW(RequireMemory(need, {{"free memory", 3'500'000'000}}, "model"));
  try {
    RequireMemory(need, {{"free memory", 9'000'000'000}, {"cgroup memory.max", 3'499'999'999}},
                  "model");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kModel);
    EXPECT_EQ(
        error.message(),
        "needs 3.5 GB (3500000000 bytes), and cgroup memory.max leaves 3.5 GB (3499999999 bytes)");
  }
}

TEST(Memory, ThreadsCountForTheAddressSpaceOnly) {
  const MemoryNeed need{0, 1000, 2};
  EXPECT_NO_THROW(RequireMemory(need, {{"free memory", 1000}}, "model"));
  EXPECT_THROW(RequireMemory(need, {{"RLIMIT_AS", 1000}}, "model"), Error);
}

}  // namespace
}  // namespace assay

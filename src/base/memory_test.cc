#include "base/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "assay/error.h"
#include "testing/temp_folder.h"

namespace assay {
namespace {

TEST(Memory, ReadsTheKernelsFiles) {
  using memory_internal::CgroupPath;
  using memory_internal::FieldKilobytes;
  EXPECT_EQ(FieldKilobytes("MemTotal:  10 kB\nMemAvailable:   24 kB\n", "MemAvailable:"), 24u);
  EXPECT_EQ(FieldKilobytes("VmSize: 7 kB", "VmSize:"), 7u);
  EXPECT_EQ(FieldKilobytes("MemTotal: 10 kB", "VmSize:"), 0u);
  EXPECT_EQ(CgroupPath("1:name=x:/no\n0::/a/b\n", ""), "/a/b");
  EXPECT_EQ(CgroupPath("0::/", ""), "/");
  EXPECT_EQ(CgroupPath("4:memory:/x\n", ""), "");
  EXPECT_EQ(CgroupPath("5:cpu,memory:/x:y\n", "memory"), "/x:y");
  EXPECT_EQ(CgroupPath("5:memoryx:/x\nnonsense\n:\n", "memory"), "");
}

// Limits as "source bytes", in the order found.
std::vector<std::string> Found(const testing::TempFolder& mount, const std::string& text) {
  std::vector<std::string> found;
  for (const MemoryLimit& limit : memory_internal::CgroupLimits(mount.path().string(), text))
    found.push_back(limit.source + " " + std::to_string(limit.bytes));
  return found;
}

TEST(Memory, EveryCgroupUpToTheRootMayLimit) {
  const testing::TempFolder mount;
  std::filesystem::create_directories(mount.path() / "a/b");
  mount.Write("memory.max", "max\n");
  mount.Write("a/memory.max", "1000\n");
  mount.Write("a/memory.current", "700\n");
  mount.Write("a/memory.stat", "anon 5\ninactive_file 100\nactive_file 9\n");
  mount.Write("a/b/memory.max", "500\n");
  mount.Write("a/b/memory.current", "600\n");
  EXPECT_THAT(Found(mount, "0::/a/b\n"),
              ::testing::ElementsAre("cgroup memory.max 0", "cgroup memory.max 400"));
  EXPECT_THAT(Found(mount, "0::/outside/path\n"), ::testing::IsEmpty());
  mount.Write("memory.max", "9\n");
  EXPECT_THAT(Found(mount, "0::/outside/path\n"), ::testing::ElementsAre("cgroup memory.max 9"));
}

TEST(Memory, CgroupsOfVersion1Limit) {
  const testing::TempFolder mount;
  std::filesystem::create_directories(mount.path() / "memory/pod");
  mount.Write("memory/memory.limit_in_bytes", "9223372036854771712\n");
  mount.Write("memory/pod/memory.limit_in_bytes", "1000\n");
  mount.Write("memory/pod/memory.usage_in_bytes", "900\n");
  mount.Write("memory/pod/memory.stat", "inactive_file 1\ntotal_inactive_file 300\n");
  EXPECT_THAT(Found(mount, "4:memory:/pod\n0::/\n"),
              ::testing::ElementsAre("cgroup memory.limit_in_bytes 400",
                                     "cgroup memory.limit_in_bytes 9223372036854771712"));
}

TEST(Memory, ThisProcessHasSomeLeft) {
  const std::vector<MemoryLimit> limits = MemoryLimits();
  ASSERT_FALSE(limits.empty());
  for (const MemoryLimit& limit : limits) EXPECT_GT(limit.bytes, 1u << 20) << limit.source;
}

TEST(Memory, ThePeakIsAtLeastWhatIsInMemoryNow) {
  const ResidentMemory memory = ReadResidentMemory();
  EXPECT_GT(memory.now, 1u << 20);
  EXPECT_GE(memory.peak, memory.now);
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

TEST(Memory, NeedsThatOverflowAreTooLarge) {
  constexpr size_t kLargest = std::numeric_limits<size_t>::max();
  const MemoryNeed need{kLargest, 10, 2};
  EXPECT_EQ(need.resident(), kLargest);
  EXPECT_EQ(need.address_space(), kLargest);
  EXPECT_THROW(RequireMemory(need, {{"free memory", kLargest - 1}}, "model"), Error);
}

TEST(Memory, ThreadsCountForTheAddressSpaceOnly) {
  const MemoryNeed need{0, 1000, 2};
  EXPECT_NO_THROW(RequireMemory(need, {{"free memory", 1000}}, "model"));
  EXPECT_THROW(RequireMemory(need, {{"RLIMIT_AS", 1000}}, "model"), Error);
}

}  // namespace
}  // namespace assay

#include "base/cores.h"

#include <gtest/gtest.h>

#include <fstream>

#include "testing/temp_folder.h"

namespace assay {
namespace {

class Cores : public ::testing::Test {
 protected:
  // CPU `cpu` belongs to the core whose CPUs are `siblings`.
  void Describe(size_t cpu, const std::string& siblings) {
    const auto folder = folder_.path() / ("cpu" + std::to_string(cpu)) / "topology";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "thread_siblings_list") << siblings << "\n";
  }
  size_t Count(const std::vector<size_t>& cpus) const { return CountCores(cpus, folder_.path()); }

  testing::TempFolder folder_;
};

TEST_F(Cores, CpusOfOneCoreCountOnce) {
  Describe(0, "0,2");
  Describe(1, "1,3");
  Describe(2, "0,2");
  Describe(3, "1,3");
  EXPECT_EQ(Count({0, 1, 2, 3}), 2u);
  EXPECT_EQ(Count({0, 2}), 1u);
  EXPECT_EQ(Count({0, 1}), 2u);
  EXPECT_EQ(Count({3}), 1u);
}

TEST_F(Cores, CpusOfWhichNothingIsKnownAreCores) {
  Describe(0, "0");
  Describe(2, "");
  EXPECT_EQ(Count({0, 1, 2}), 3u);
}

TEST(UsableCores, AtLeastOne) { EXPECT_GE(UsableCores(), 1u); }

}  // namespace
}  // namespace assay

#include "cli/counts.h"

#include <gtest/gtest.h>

#include "assay/error.h"

namespace assay::cli {
namespace {

TEST(BenchCounts, AreWholeNumbersBetweenCommas) {
  EXPECT_EQ(ParseCounts("--tokens", "16"), std::vector<size_t>{16});
  EXPECT_EQ(ParseCounts("--tokens", "16, 39 ,64"), (std::vector<size_t>{16, 39, 64}));
  EXPECT_TRUE(ParseCounts("--tokens", "none").empty());
}

TEST(BenchCounts, AnythingElseIsRefusedByName) {
  for (const char* value : {"", ",", "1,", "1,,2", "0", "-1", "+1", "1.5", "1e3", "none,1", "1 2",
                            "99999999999999999999"}) {
    try {
      ParseCounts("--tokens", value);
      FAIL() << value;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage) << value;
      EXPECT_EQ(error.where(), "--tokens") << value;
    }
  }
}

}  // namespace
}  // namespace assay::cli

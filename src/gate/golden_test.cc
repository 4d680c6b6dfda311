#include "gate/golden.h"

#include <gtest/gtest.h>

#include "testing/temp_folder.h"

namespace assay::gate {
namespace {

const std::filesystem::path kOracle = std::filesystem::path(ASSAY_SOURCE_DIR) / "tools/oracle";

TEST(Golden, ReadsTheD1Format) {
  const Golden golden = ReadGolden(kOracle / "golden/d1_tiny_seed1.json");
  EXPECT_EQ(golden.rows.size(), 143u);
  EXPECT_EQ(golden.arms.size(), 18u);
  EXPECT_DOUBLE_EQ(golden.noise_dp, 1.146e-05);
  const GoldenRow& first = golden.rows[0];
  EXPECT_EQ(first.id, "t01_refund");
  EXPECT_EQ(first.trunk_rows, 0u);
  EXPECT_EQ(first.questions[0].ids.size(), 57u);
  EXPECT_EQ(first.questions[0].groups[0], (std::vector<int32_t>{265, 266, 267}));
  size_t refused = 0;
  for (const GoldenRow& row : golden.rows) refused += row.refused ? 1 : 0;
  EXPECT_EQ(refused, 40u);
}

TEST(Golden, ReadsTheSmallFormatWithHashesOnly) {
  const Golden golden = ReadGolden(kOracle / "golden/d1_mid_seed1_long.json");
  ASSERT_EQ(golden.rows.size(), 2u);
  EXPECT_TRUE(golden.rows[0].questions[0].ids.empty());
  EXPECT_EQ(golden.rows[0].questions[0].slot, 4031u);
}

TEST(Golden, KeepsTheExactTextOfRawRequests) {
  const std::vector<GoldenRequest> requests =
      ReadGoldenRequests(kOracle / "requests/d1_public.json");
  EXPECT_EQ(requests.size(), 143u);
  const auto found = std::find_if(requests.begin(), requests.end(),
                                  [](const auto& r) { return r.id == "j12_zero"; });
  ASSERT_NE(found, requests.end());
  EXPECT_TRUE(found->text.starts_with("{\"state\":-0,"));
}

TEST(Golden, NamesTheFileAndTheMemberThatIsWrong) {
  const testing::TempFolder folder;
  try {
    ReadGolden(folder.Write("g.json", R"({"format":"d1-golden/1","model":{}})"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "g.json: has no 'sha256' where one is needed");
  }
  EXPECT_THROW(ReadGolden(folder.Write("h.json", R"({"format":"other/1"})")), Error);
  EXPECT_THROW(ReadGolden(folder.path() / "absent.json"), Error);
}

}  // namespace
}  // namespace assay::gate

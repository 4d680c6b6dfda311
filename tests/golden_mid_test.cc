// The mid oracle checkpoint, made by the slow suite, against transformers in fp32; short and long
// rows.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "replay.h"

namespace assay::tests {
namespace {

void Expect(const std::string& golden, const std::string& requests, size_t questions) {
  const Corpus corpus = ReadCorpus(golden, requests);
  const ReplayResult result = Replay(ASSAY_MID_CHECKPOINT, corpus);
  fmt::print("{}; {:.2f} x the recorded noise\n", result.Text(),
             result.max_dp / corpus.golden.noise_dp);
  EXPECT_TRUE(result.problems.empty()) << result.Text();
  EXPECT_EQ(result.questions, questions);
  EXPECT_LE(result.max_dp, 3 * corpus.golden.noise_dp) << result.worst;
  EXPECT_LE(result.max_hidden, 3 * corpus.golden.noise_hidden);
}

TEST(GoldenMid, EveryTextRequestEqualsTheMakersCode) {
  Expect("d1_mid_seed1.json", "d1_public.json", 95);
}

TEST(GoldenMid, LongRowsEqualTheMakersCode) { Expect("d1_mid_seed1_long.json", "d1_long.json", 2); }

}  // namespace
}  // namespace assay::tests

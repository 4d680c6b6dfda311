// The mid oracle checkpoint, made by the slow suite, against transformers in fp32; short and long
// rows.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kernels/compute_form.h"
#include "replay.h"

namespace assay::tests {
namespace {

void Expect(const std::string& golden, const std::string& requests, size_t questions,
            const kernels::Compute& compute = {}) {
  const Corpus corpus = ReadCorpus(golden, requests);
  ReplayOptions options;
  options.compute = compute;
  const ReplayResult result = Replay(ASSAY_MID_CHECKPOINT, corpus, options);
  fmt::print("{}: {}; {:.2f} x the recorded noise\n", kernels::ComputeFormName(compute.form),
             result.Text(), result.max_dp / corpus.golden.noise_dp);
  EXPECT_TRUE(result.problems.empty()) << result.Text();
  EXPECT_EQ(result.questions, questions);
  EXPECT_LE(result.max_dp, 3 * corpus.golden.noise_dp) << result.worst;
  EXPECT_LE(result.max_hidden, 3 * corpus.golden.noise_hidden);
}

TEST(GoldenMid, EveryTextRequestEqualsTheMakersCode) {
  Expect("d1_mid_seed1.json", "d1_public.json", 95);
}

// On the machine's own bf16 unit: three terms hold an activation whole.
TEST(GoldenMid, ThreeTermsHoldTheBarOfFp32) {
  const kernels::Bf16Unit* unit = kernels::Bf16UnitOf(kernels::RunningLevel());
  if (unit == nullptr) GTEST_SKIP() << "no bf16 unit at this level";
  Expect("d1_mid_seed1.json", "d1_public.json", 95, {kernels::ComputeForm::kBf16x3, unit});
  Expect("d1_mid_seed1_long.json", "d1_long.json", 2, {kernels::ComputeForm::kBf16x3, unit});
}

// What the rougher forms cost here, in figures (docs/compute.md); held to a bar of their own.
TEST(GoldenMid, FewerTermsCostWhatTheTableSays) {
  const kernels::Bf16Unit* unit = kernels::Bf16UnitOf(kernels::RunningLevel());
  if (unit == nullptr) GTEST_SKIP() << "no bf16 unit at this level";
  const Corpus corpus = ReadCorpus("d1_mid_seed1.json", "d1_public.json");
  for (const auto& [form, bar] :
       {std::pair{kernels::ComputeForm::kBf16x2, 4e-4}, {kernels::ComputeForm::kBf16, 0.2}}) {
    ReplayOptions options;
    options.compute = {form, unit};
    const ReplayResult result = Replay(ASSAY_MID_CHECKPOINT, corpus, options);
    fmt::print("{}: max |dp| {:.2g}\n", kernels::ComputeFormName(form), result.max_dp);
    EXPECT_LE(result.max_dp, bar) << result.worst;
  }
}

TEST(GoldenMid, LongRowsEqualTheMakersCode) { Expect("d1_mid_seed1_long.json", "d1_long.json", 2); }

}  // namespace
}  // namespace assay::tests

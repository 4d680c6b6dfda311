// The tiny Kev checkpoint (tests/data/kev_tiny: base, adapter, head as published) against
// transformers in fp32, and the forms of a run against each other.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "assay/model.h"
#include "kernels/compute_form.h"
#include "replay.h"

namespace assay::tests {
namespace {

std::filesystem::path Folder() {
  return std::filesystem::path(ASSAY_SOURCE_DIR) / "tests/data/kev_tiny/kev";
}

const Corpus& Tiny() {
  static const Corpus corpus = ReadCorpus("kev_tiny_seed1.json", "kev_public.json");
  return corpus;
}

const ReplayResult& Plain() {
  static const ReplayResult result = Replay(Folder(), Tiny());
  return result;
}

void ExpectEqualsTheMakersCode(const ReplayResult& result, const std::string& name) {
  fmt::print("{}: {}; {:.2f} x the recorded noise\n", name, result.Text(),
             result.max_dp / Tiny().golden.noise_dp);
  EXPECT_TRUE(result.problems.empty()) << result.Text();
  EXPECT_EQ(result.answered, 58u);
  EXPECT_EQ(result.refused, 11u);
  EXPECT_EQ(result.questions, 136u);
  EXPECT_LE(result.max_dp, 3 * Tiny().golden.noise_dp) << result.worst;
  EXPECT_LE(result.max_hidden, 1e-4);
}

TEST(GoldenKev, EveryRequestEqualsTheMakersCode) { ExpectEqualsTheMakersCode(Plain(), "fused"); }

// All questions of a request behind one run of its state, or each from the start: the same bits.
TEST(GoldenKev, QuestionsAloneHaveTheBitsOfTheSharedState) {
  ReplayOptions options;
  options.alone = true;
  EXPECT_EQ(Replay(Folder(), Tiny(), options).probabilities, Plain().probabilities);
}

TEST(GoldenKev, ChunkWidthsAndThreadsChangeNoBit) {
  for (const size_t chunk : {1u, 16u, 64u}) {
    ReplayOptions options;
    options.chunk = chunk;
    options.threads = chunk == 16 ? 3 : 1;
    EXPECT_EQ(Replay(Folder(), Tiny(), options).probabilities, Plain().probabilities) << chunk;
  }
}

// Within a form bits are equal; between forms p moves by rounding alone.
TEST(GoldenKev, FormsOfTheDeltaRuleAgree) {
  for (const std::string form : {"step", "chunk16", "chunk64", "chunk128"}) {
    ReplayOptions options;
    options.delta = form;
    const ReplayResult result = Replay(Folder(), Tiny(), options);
    ExpectEqualsTheMakersCode(result, form);
    if (form == "step") {
      EXPECT_EQ(result.probabilities, Plain().probabilities);
    }
    double moved = 0;
    for (size_t i = 0; i < result.probabilities.size(); ++i)
      moved = std::max(moved, std::abs(result.probabilities[i] - Plain().probabilities[i]));
    EXPECT_LE(moved, 1e-5) << form;
    options.chunk = 7;  // splits anywhere
    EXPECT_EQ(Replay(Folder(), Tiny(), options).probabilities, result.probabilities) << form;
  }
}

// The adapter in fp32 weights is the makers' own form; rounding the sum to bf16 has a price, and
// that price is what says that it was rounded.
TEST(GoldenKev, MergedWeightsAnswerLikeTheAdapterBesideThem) {
  ReplayOptions options;
  options.merge = "f32";
  ExpectEqualsTheMakersCode(Replay(Folder(), Tiny(), options), "merged f32");
  options.merge = "bf16";
  const ReplayResult rounded = Replay(Folder(), Tiny(), options);
  fmt::print("merged bf16: max |dp| {:.2g}\n", rounded.max_dp);
  EXPECT_LE(rounded.max_dp, 0.05);
  EXPECT_GT(rounded.max_dp, 1e-4);
}

TEST(GoldenKev, ThreeTermsHoldTheBarOfFp32) {
  std::vector<const kernels::Bf16Unit*> units = {&kernels::TileUnitRef()};
  if (const auto* unit = kernels::Bf16UnitOf(kernels::RunningLevel())) units.push_back(unit);
  for (const kernels::Bf16Unit* unit : units) {
    ReplayOptions options;
    options.compute = {kernels::ComputeForm::kBf16x3, unit};
    ExpectEqualsTheMakersCode(Replay(Folder(), Tiny(), options),
                              fmt::format("{} bf16x3", unit->name));
  }
}

TEST(GoldenKev, APreparedStateGivesTheSameBits) {
  const Model model = Model::Load(Folder());
  size_t compared = 0;
  for (const gate::GoldenRequest& item : Tiny().requests) {
    std::optional<Answers> plain;
    const auto parse = [&] { return Request::Parse(item.text); };
    try {
      plain = model.Decide(parse());
    } catch (const Error&) {
      continue;
    }
    const Session session = model.Prepare(parse());
    EXPECT_EQ(session.Decide(parse()).TraceLines("x"), plain->TraceLines("x")) << item.id;
    ++compared;
  }
  EXPECT_EQ(compared, 58u);
}

TEST(GoldenKev, RequestsTogetherGiveTheBitsOfEachAlone) {
  const Model model = Model::Load(Folder());
  std::vector<Request> requests;
  std::vector<std::string> alone;
  for (const gate::GoldenRequest& item : Tiny().requests) {
    try {
      requests.push_back(Request::Parse(item.text));
      alone.push_back(model.Decide(requests.back()).TraceLines("x").front());
    } catch (const Error& error) {
      if (requests.size() > alone.size()) alone.emplace_back(error.what());
    }
  }
  size_t answered = 0;
  model.DecideAll(requests, {}, [&](size_t index, const Model::Outcome& outcome) {
    if (const auto* answers = std::get_if<Answers>(&outcome)) {
      EXPECT_EQ(answers->TraceLines("x").front(), alone[index]);
      ++answered;
    } else {
      EXPECT_EQ(std::get<Error>(outcome).what(), alone[index]);
    }
  });
  EXPECT_EQ(answered, 58u);
}

// A negated instruction and a swapped state move p as far as in the oracle.
TEST(GoldenKev, RedRequestsMoveAsInTheOracle) {
  std::map<std::string, const gate::GoldenRow*> rows;
  for (const gate::GoldenRow& row : Tiny().golden.rows) rows[row.id] = &row;
  // Every row is within the noise of its golden (above), so what is left to see is that the
  // golden's own reds are far from their greens.
  EXPECT_LE(Plain().max_dp, 3 * Tiny().golden.noise_dp);
  size_t reds = 0;
  for (const auto& [id, row] : rows) reds += id.starts_with("red-") ? 1 : 0;
  EXPECT_EQ(reds, 10u);
}

}  // namespace
}  // namespace assay::tests

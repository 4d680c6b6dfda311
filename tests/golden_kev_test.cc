// The tiny Kev checkpoint (tests/data/kev_tiny: base, adapter, head as published) against
// transformers in fp32, and the forms of a run against each other.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "assay/model.h"
#include "kernels/compute_form.h"
#include "kernels/cpu_level.h"
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
  EXPECT_GE(result.rounded_equal, 52u) << "numbers on the edge of the fourth decimal are few";
  EXPECT_LE(result.max_dp, 3 * Tiny().golden.noise_dp) << result.worst;
  EXPECT_LE(result.max_hidden, 1e-4);
}

TEST(GoldenKev, EveryRequestEqualsTheMakersCode) { ExpectEqualsTheMakersCode(Plain(), "fused"); }

// What nn_test shows at every level is shown on whole requests at the best one.
bool IsBestLevel() { return kernels::RunningLevel() == kernels::AvailableLevels().back(); }

// All questions of a request behind one run of its state, or each from the start: the same bits.
TEST(GoldenKev, QuestionsAloneHaveTheBitsOfTheSharedState) {
  if (!IsBestLevel()) GTEST_SKIP() << "at the best level only";
  ReplayOptions options;
  options.alone = true;
  EXPECT_EQ(Replay(Folder(), Tiny(), options).probabilities, Plain().probabilities);
}

TEST(GoldenKev, ChunkWidthsAndThreadsChangeNoBit) {
  if (!IsBestLevel()) GTEST_SKIP() << "at the best level only";
  for (const size_t chunk : {16u, 61u}) {
    ReplayOptions options;
    options.chunk = chunk;
    options.threads = chunk == 16 ? 3 : 1;
    EXPECT_EQ(Replay(Folder(), Tiny(), options).probabilities, Plain().probabilities) << chunk;
  }
}

// Within a form bits are equal; between forms p moves by rounding alone.
TEST(GoldenKev, FormsOfTheDeltaRuleAgree) {
  const std::vector<std::string> forms =
      IsBestLevel() ? std::vector<std::string>{"step", "chunk16", "chunk64", "chunk128"}
                    : std::vector<std::string>{"chunk64"};
  for (const std::string& form : forms) {
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
    if (form != "chunk64" || !IsBestLevel()) continue;
    options.chunk = 29;  // splits anywhere
    EXPECT_EQ(Replay(Folder(), Tiny(), options).probabilities, result.probabilities) << form;
  }
}

// The adapter in fp32 weights is the makers' own form; rounding the sum to bf16 has a price, and
// that price is what says that it was rounded.
TEST(GoldenKev, MergedWeightsAnswerLikeTheAdapterBesideThem) {
  if (!IsBestLevel()) GTEST_SKIP() << "at the best level only";
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
  if (!IsBestLevel()) GTEST_SKIP() << "at the best level only";
  ReplayOptions options;
  if (const auto* unit = kernels::Bf16UnitOf(kernels::RunningLevel())) {
    options.compute = {kernels::ComputeForm::kBf16x3, unit};
    ExpectEqualsTheMakersCode(Replay(Folder(), Tiny(), options),
                              fmt::format("{} bf16x3", unit->name));
  }
  // In plain code a tenth of the requests says enough.
  Corpus some = Tiny();
  some.golden.rows.resize(7);
  options.compute = {kernels::ComputeForm::kBf16x3, &kernels::TileUnitRef()};
  const ReplayResult result = Replay(Folder(), some, options);
  EXPECT_TRUE(result.problems.empty()) << result.Text();
  EXPECT_GE(result.questions, 10u);
  EXPECT_LE(result.max_dp, 3 * Tiny().golden.noise_dp) << result.worst;
}

TEST(GoldenKev, APreparedStateGivesTheSameBits) {
  if (!IsBestLevel()) GTEST_SKIP() << "at the best level only";
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
  if (!IsBestLevel()) GTEST_SKIP() << "at the best level only";
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

// The largest |dp| between the questions that two rows share.
template <typename Row, typename Name, typename Probabilities>
double LargestMove(const Row& a, const Row& b, const Name& name, const Probabilities& p) {
  double largest = 0;
  for (const auto& left : a) {
    for (const auto& right : b) {
      if (name(left) != name(right) || p(left).size() != p(right).size()) continue;
      for (size_t i = 0; i < p(left).size(); ++i)
        largest = std::max(largest, std::abs(p(left)[i] - p(right)[i]));
    }
  }
  return largest;
}

// A negated instruction and a swapped state move p as far as in the oracle.
TEST(GoldenKev, RedRequestsMoveAsInTheOracle) {
  if (!IsBestLevel()) GTEST_SKIP() << "at the best level only";
  const Model model = Model::Load(Folder());
  std::map<std::string, const gate::GoldenRow*> rows;
  for (const gate::GoldenRow& row : Tiny().golden.rows) rows[row.id] = &row;
  std::map<std::string, const gate::GoldenRequest*> requests;
  for (const gate::GoldenRequest& request : Tiny().requests) requests[request.id] = &request;
  size_t reds = 0;
  for (const gate::GoldenRequest& red : Tiny().requests) {
    if (red.red_of.empty()) continue;
    const double expected = LargestMove(
        rows.at(red.id)->questions, rows.at(red.red_of)->questions,
        [](const gate::GoldenQuestion& q) { return q.name; },
        [](const gate::GoldenQuestion& q) { return q.probabilities; });
    const Answers moved = model.Decide(Request::Parse(red.text));
    const Answers green = model.Decide(Request::Parse(requests.at(red.red_of)->text));
    const double found = LargestMove(
        moved.list(), green.list(), [](const Answer& answer) { return answer.question; },
        [](const Answer& answer) { return answer.probabilities; });
    EXPECT_GT(found, 0.1) << red.id;
    EXPECT_NEAR(found, expected, 6 * Tiny().golden.noise_dp) << red.id;
    ++reds;
  }
  EXPECT_EQ(reds, 10u);
}

}  // namespace
}  // namespace assay::tests

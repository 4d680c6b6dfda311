#include "families/kev/texts.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/file.h"
#include "families/kev/probes.h"

namespace assay::families::kev {
namespace {

using ::testing::ElementsAre;

const std::filesystem::path kData = std::filesystem::path(ASSAY_SOURCE_DIR) / "tests/data";

Texts With(const TextOptions& options = {}) {
  static const text::Tokenizer tokenizer = text::Tokenizer::Load(kData / "kev/tokenizer.json");
  return {tokenizer, options};
}

json::Value Parse(std::string_view text) {
  return json::Parse(text, ErrorKind::kRequest, "request");
}

const json::Value& Ticket() {
  static const json::Value value =
      Parse(R"({"state":"Late.","questions":{"u":{"type":"noul","instructions":"Now?"},)"
            R"("t":{"type":"choice","criteria":{"a":"x","b":null}},)"
            R"("s":{"type":"score","criteria":["low",{"k":1},null]}}})");
  return value;
}

TEST(KevTexts, ARequestIsOneTrunkAndABranchPerQuestion) {
  const Texts texts = With();
  const EncodedRequest request = texts.Encode(Ticket());
  EXPECT_EQ(request.trunk_ids, texts.rows().State("Late."));
  ASSERT_EQ(request.questions.size(), 3u);
  size_t tokens = request.trunk_ids.size();
  for (const EncodedQuestion& question : request.questions) {
    tokens += question.ids.size();
    ASSERT_EQ(question.wanted.size(), question.options.size() + 1);
    EXPECT_TRUE(std::is_sorted(question.wanted.begin(), question.wanted.end()));
    for (size_t i = 0; i < question.options.size(); ++i)
      EXPECT_EQ(question.ids[question.wanted[i]], texts.rows().delimiters().close);
    EXPECT_EQ(question.wanted.back(), question.ids.size() - 1);
    EXPECT_EQ(question.ids.back(), texts.rows().delimiters().decide);
    EXPECT_TRUE(question.codes.empty() && question.groups.empty());
  }
  EXPECT_EQ(request.input_tokens, tokens);
  EXPECT_EQ(request.questions[0].kind, "noul");
  EXPECT_EQ(request.questions[1].kind, "choice");
  EXPECT_EQ(request.questions[2].kind, "score");
  EXPECT_THAT(request.questions[0].options, ElementsAre("false", "true"));
  EXPECT_THAT(request.questions[1].options, ElementsAre("a", "b"));
  EXPECT_THAT(request.questions[2].options, ElementsAre("0", "1", "2"));
  EXPECT_TRUE(request.questions[1].legend.empty());
  EXPECT_THAT(request.questions[2].legend,
              ElementsAre(json::Value::String("low"), json::Value::String("k: 1"),
                          json::Value::String("")));
}

TEST(KevTexts, AQuestionAloneHasTheSameTrunkAndBranch) {
  const Texts texts = With();
  const EncodedRequest together = texts.Encode(Ticket());
  for (size_t q = 0; q < 3; ++q) {
    const EncodedRequest alone = texts.Encode(OneQuestion(Ticket(), q));
    EXPECT_EQ(alone.trunk_ids, together.trunk_ids);
    ASSERT_EQ(alone.questions.size(), 1u);
    EXPECT_EQ(alone.questions[0].ids, together.questions[q].ids);
    EXPECT_EQ(alone.input_tokens, alone.trunk_ids.size() + alone.questions[0].ids.size());
  }
}

TEST(KevTexts, TheStateAloneIsTheTrunk) {
  EXPECT_EQ(With().EncodeState(Parse(R"({"state":"Late.","questions":7})")),
            With().Encode(Ticket()).trunk_ids);
}

TEST(KevTexts, OptionsReachEveryRequest) {
  const json::Value dated = Parse(R"({"state":"2026-01-01 2026-01-02"})");
  const Texts facts = With({.date_facts = true});
  EXPECT_EQ(facts.EncodeState(dated),
            facts.rows().State("2026-01-01 2026-01-02\n\ndate_facts: 2026-01-02 is 1 day after "
                               "2026-01-01."));
  EXPECT_THROW(With({.limits = {.state_tokens = 5}}).Encode(dated), Error);
}

// A case file with control tokens in the state, an instruction, a name and a description: the row
// holds two options and nothing else.
TEST(KevTexts, ControlTokensInEveryFieldAreText) {
  const std::string file = "cases/14_control_tokens/body_everywhere.json";
  const json::Value request = Parse(ReadFile(kData / file, ErrorKind::kFile, 1 << 16));
  const Texts texts = With();
  const EncodedRequest encoded = texts.Encode(request);
  std::vector<int32_t> row = encoded.trunk_ids;
  const EncodedQuestion& question = encoded.questions.at(0);
  row.insert(row.end(), question.ids.begin(), question.ids.end());
  const Delimiters d = texts.rows().delimiters();
  EXPECT_EQ(std::count(row.begin(), row.end(), d.state), 1);
  EXPECT_EQ(std::count(row.begin(), row.end(), d.question), 1);
  EXPECT_EQ(std::count(row.begin(), row.end(), d.open), 2);
  EXPECT_EQ(std::count(row.begin(), row.end(), d.close), 2);
  EXPECT_EQ(std::count(row.begin(), row.end(), d.decide), 1);
  EXPECT_THAT(question.options, ElementsAre("a<|box_end|><|box_start|>b", "c"));  // as sent
}

// Escaped to ASCII, not escaped against control tokens: those are matched.
TEST(KevTexts, OutputTokensAreThoseOfThePrintedAnswers) {
  const Texts texts = With();
  const json::Value answers = Parse(R"({"q":{"type":"noul","noul":0.5}})");
  EXPECT_EQ(texts.OutputTokens(answers),
            texts.rows().tokenizer().Encode(R"({"q": {"type": "noul", "noul": 0.5}})").size());
  EXPECT_EQ(texts.OutputTokens(Parse("\"<|im_end|>\"")), 3u);
  EXPECT_EQ(texts.OutputTokens(Parse("\"\u00e9\"")),
            texts.rows().tokenizer().Encode("\"\\u00e9\"").size());
}

}  // namespace
}  // namespace assay::families::kev

#include "decide/answers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

#include "testing/random.h"

namespace assay::decide {
namespace {

using families::EncodedQuestion;
using families::EncodedRequest;
using ::testing::ElementsAre;

// A family that is never asked to run: yes is its second option, and it is sure by half.
class FakeFamily : public families::Family {
 public:
  const nn::Decoder& decoder() const override { std::abort(); }
  EncodedRequest Encode(const json::Value&, const families::EncodeOptions&) const override {
    std::abort();
  }
  std::vector<int32_t> EncodeState(const json::Value&,
                                   const families::EncodeOptions&) const override {
    std::abort();
  }
  families::Reading Read(const EncodedQuestion&, View2<const float>) const override {
    std::abort();
  }
  double Confidence(const EncodedQuestion&, const std::vector<double>& p) const override {
    return *std::max_element(p.begin(), p.end()) / 2;
  }
  size_t YesOption() const override { return 1; }
  families::ModelDescription Describe(bool) const override { return {}; }
};

// One that prints and counts as Kev does; what it was given to count is kept.
class KevLike final : public FakeFamily {
 public:
  bool LegendFirst() const override { return true; }
  size_t OutputTokens(const json::Value& answers) const override {
    counted = json::PrintPythonAscii(answers);
    return counted.size();
  }
  mutable std::string counted;
};

EncodedQuestion QuestionOf(std::string name, std::string kind, std::vector<std::string> options) {
  EncodedQuestion question;
  question.name = std::move(name);
  question.kind = std::move(kind);
  question.options = std::move(options);
  question.ids = {7, 8, 9};
  question.wanted = {2};
  return question;
}

QuestionResult ResultOf(std::vector<double> probabilities) {
  QuestionResult result;
  result.reading.scores = probabilities;
  result.reading.probabilities = std::move(probabilities);
  return result;
}

// One question of each kind.
Answers ThreeAnswers() {
  EncodedRequest request;
  request.trunk_ids = {1, 2};
  request.input_tokens = 11;
  request.questions = {QuestionOf("urgent?", "noul", {"no", "yes"}),
                       QuestionOf("team", "choice", {"tech", "billing", "other"}),
                       QuestionOf("how", "score", {"0", "1", "2"})};
  request.questions[2].legend = {json::Value::String("low"),
                                 json::Value::Object({{"when", json::Value::Integer(1)}}),
                                 json::Value::String("high")};
  return MakeAnswers(
      FakeFamily(), "tiny", std::move(request),
      {ResultOf({0.25, 0.75}), ResultOf({0.125, 0.4375, 0.4375}), ResultOf({0.25, 0.5, 0.25})});
}

TEST(RoundDecimals, RoundsAsPythonRounds) {
  struct Case {
    double value;
    int digits;
    double rounded;
  };
  // What CPython 3.11 prints for round(value, digits).
  constexpr Case kCases[] = {
      {0.125, 2, 0.12},
      {2.675, 2, 2.67},
      {0.5, 0, 0.0},
      {1.5, 0, 2.0},
      {2.5, 0, 2.0},
      {5e-05, 4, 0.0001},
      {0.00015, 4, 0.0001},
      {1.005, 2, 1.0},
      {0.045, 2, 0.04},
      {0.055, 2, 0.06},
      {1e-09, 4, 0.0},
      {0.99995, 4, 1.0},
      {0.9999499999999999, 4, 0.9999},
      {0.3333333333333333, 5, 0.33333},
      {0.1, 17, 0.1},
      {0.30000000000000004, 16, 0.3},
      {0.30000000000000004, 17, 0.30000000000000004},
      {5e-324, 17, 0.0},
      {9007199254740992.0, 0, 9007199254740992.0},
      {0.285, 2, 0.28},
      {0.615, 2, 0.61},
      {123456.785, 2, 123456.79},
      {0.12345, 4, 0.1235},
      {0.12355, 4, 0.1235},
      {5e-17, 16, 0.0},
      {0.375, 2, 0.38},
      {1, 3, 1},
      {0, 5, 0},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(RoundDecimals(c.value, c.digits), c.rounded)
        << json::PythonFloat(c.value) << " to " << c.digits;
  }
}

TEST(Rounded, NoneChangesNothing) { EXPECT_EQ(Rounded(0.1 + 0.2, {}), 0.30000000000000004); }

TEST(Rounded, KevIsFourDecimals) {
  const Rounding kev{Rounding::Mode::kKev, 0};
  EXPECT_EQ(Rounded(5e-05, kev), 0.0001);
  EXPECT_EQ(Rounded(0.99995, kev), 1.0);
  EXPECT_EQ(Rounded(0.99994, kev), 0.9999);
  EXPECT_EQ(Rounded(1.0, kev), 1.0);
}

TEST(Answers, ANoulIsTheProbabilityOfYes) {
  const Answer answer = ThreeAnswers().list()[0];
  EXPECT_EQ(answer.question, "urgent?");
  EXPECT_EQ(answer.value, 0.75);
}

TEST(Answers, AChoiceIsTheFirstOfTheBest) {
  const Answer answer = ThreeAnswers().list()[1];
  EXPECT_EQ(answer.best, "billing");
  EXPECT_EQ(answer.value, 0.4375);
  EXPECT_EQ(answer.confidence, 0.21875);
}

TEST(Answers, AScoreIsTheMeanLevel) {
  const Answer answer = ThreeAnswers().list()[2];
  EXPECT_EQ(answer.value, 1.0);
  EXPECT_EQ(answer.best, "1");
  EXPECT_THAT(answer.levels, ElementsAre("low", R"({"when":1})", "high"));
}

TEST(Answers, AScoreIsSummedWithCorrection) {
  EncodedRequest request;
  request.questions = {
      QuestionOf("q", "score", {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"})};
  const Answers answers =
      MakeAnswers(FakeFamily(), "m", std::move(request), {ResultOf(std::vector<double>(10, 0.1))});
  EXPECT_EQ(answers.list()[0].value, 4.5);
}

TEST(Answers, JsonHasItsMembersInOrder) {
  EXPECT_EQ(ThreeAnswers().ToJson({}, true),
            R"({"model":"tiny","answers":{"urgent?":{"type":"noul","noul":0.75},)"
            R"("team":{"type":"choice","choice":"billing","confidence":0.21875,)"
            R"("probabilities":{"tech":0.125,"billing":0.4375,"other":0.4375}},)"
            R"("how":{"type":"score","score":1.0,"confidence":0.25,)"
            R"("probabilities":{"0":0.25,"1":0.5,"2":0.25},)"
            R"("legend":{"0":"low","1":{"when":1},"2":"high"}}},)"
            R"("usage":{"input_tokens":11,"output_tokens":0}})");
}

TEST(Answers, JsonOnSeveralLinesIsTheSameValue) {
  const Answers answers = ThreeAnswers();
  const std::string pretty = answers.ToJson({}, false);
  EXPECT_TRUE(pretty.starts_with("{\n  \"model\": \"tiny\",\n  \"answers\": {\n")) << pretty;
  EXPECT_EQ(json::PrintCompact(json::Parse(pretty, ErrorKind::kRequest, "")),
            answers.ToJson({}, true));
}

TEST(Answers, AnIdComesFirst) {
  EXPECT_TRUE(ThreeAnswers().ToJson({}, true, "a\"b").starts_with(R"({"id":"a\"b","model":)"));
}

TEST(Answers, RoundingReachesEveryPrintedNumberAndNoOther) {
  const Answers answers = ThreeAnswers();
  EXPECT_EQ(answers.ToJson({Rounding::Mode::kDigits, 1}, true),
            R"({"model":"tiny","answers":{"urgent?":{"type":"noul","noul":0.8},)"
            R"("team":{"type":"choice","choice":"billing","confidence":0.2,)"
            R"("probabilities":{"tech":0.1,"billing":0.4,"other":0.4}},)"
            R"("how":{"type":"score","score":1.0,"confidence":0.2,)"
            R"("probabilities":{"0":0.2,"1":0.5,"2":0.2},)"
            R"("legend":{"0":"low","1":{"when":1},"2":"high"}}},)"
            R"("usage":{"input_tokens":11,"output_tokens":0}})");
  EXPECT_EQ(answers.list()[1].value, 0.4375);
}

std::vector<double> NumbersOf(const json::Value& array) {
  std::vector<double> out;
  for (const json::Value& item : array.items()) out.push_back(item.number());
  return out;
}

std::vector<int64_t> IntegersOf(const json::Value& array) {
  std::vector<int64_t> out;
  for (const json::Value& item : array.items()) out.push_back(item.int64().value());
  return out;
}

TEST(Trace, SaysWhichRowWasRead) {
  const std::vector<std::string> lines = ThreeAnswers().TraceLines("line 4");
  ASSERT_EQ(lines.size(), 3u);
  const json::Value line = json::Parse(lines[1], ErrorKind::kRequest, "trace");
  EXPECT_EQ(line.members()[0].first, "id");
  EXPECT_EQ(line.Find("id")->string(), "line 4");
  EXPECT_EQ(line.Find("question")->string(), "team");
  EXPECT_EQ(line.Find("kind")->string(), "choice");
  EXPECT_THAT(IntegersOf(*line.Find("ids")), ElementsAre(1, 2, 7, 8, 9));
  EXPECT_THAT(IntegersOf(*line.Find("trunk_ids")), ElementsAre(1, 2));
  EXPECT_THAT(IntegersOf(*line.Find("branch_ids")), ElementsAre(7, 8, 9));
  EXPECT_EQ(line.Find("slot")->int64(), 4);
  EXPECT_EQ(line.Find("options")->items()[2].string(), "other");
}

TEST(Trace, NumbersReadBackToTheSameDouble) {
  testing::Random random(3);
  EncodedRequest request;
  std::vector<QuestionResult> results;
  for (int i = 0; i < 50; ++i) {
    request.questions.push_back(QuestionOf("q" + std::to_string(i), "choice", {"a", "b", "c"}));
    QuestionResult result;
    for (int k = 0; k < 3; ++k) {
      const double scale = std::pow(10.0, static_cast<double>(random.Below(40)) - 30.0);
      result.reading.scores.push_back(static_cast<double>(random.Bits()) * scale / 3);
      result.reading.probabilities.push_back(static_cast<double>(random.Bits() >> 11) * 0x1p-53);
      result.hidden.first.push_back(random.Uniform(-30, 30));
    }
    result.reading.logits = {{result.reading.scores[0], 1.0 / 3.0}};
    result.hidden.l2 = std::sqrt(static_cast<double>(i) + 0.1);
    results.push_back(result);
  }
  const Answers answers = MakeAnswers(FakeFamily(), "m", std::move(request), results);
  const std::vector<std::string> lines = answers.TraceLines("1");
  for (size_t q = 0; q < lines.size(); ++q) {
    EXPECT_EQ(lines[q].find('\n'), std::string::npos);
    const json::Value line = json::Parse(lines[q], ErrorKind::kRequest, "trace");
    EXPECT_EQ(NumbersOf(*line.Find("scores")), results[q].reading.scores);
    EXPECT_EQ(NumbersOf(*line.Find("probabilities")), results[q].reading.probabilities);
    EXPECT_EQ(NumbersOf(line.Find("logits")->items()[0]), results[q].reading.logits[0]);
    EXPECT_EQ(line.Find("hidden")->Find("l2")->number(), results[q].hidden.l2);
    const std::vector<double> first = NumbersOf(*line.Find("hidden")->Find("first8"));
    EXPECT_EQ(std::vector<float>(first.begin(), first.end()), results[q].hidden.first);
  }
}

TEST(Answers, KevRoundingStartsFromFp32Probabilities) {
  // In fp32 each of these lies on the other side of a half than in float64.
  constexpr std::pair<double, std::string_view> kCases[] = {
      {5e-05, "0.0"},      {0.99995, "0.9999"}, {0.33335, "0.3334"},
      {0.06255, "0.0626"}, {0.18745, "0.1875"}, {1.0, "1.0"}};
  for (const auto& [p, printed] : kCases) {
    EncodedRequest request;
    request.questions = {QuestionOf("q", "noul", {"no", "yes"})};
    const Answers answers =
        MakeAnswers(FakeFamily(), "m", std::move(request), {ResultOf({1 - p, p})});
    const json::Value root =
        json::Parse(answers.ToJson({Rounding::Mode::kKev, 0}, true), ErrorKind::kRequest, "m");
    EXPECT_EQ(json::PrintCompact(*root.Find("answers")->Find("q")->Find("noul")), printed);
    EXPECT_EQ(answers.list()[0].value, p);
  }
}

// Computed values are not rounded to fp32: only what they are computed from is. And the best of
// two that are one number in fp32 is the first.
TEST(Answers, KevValuesAreComputedInFloat64) {
  EncodedRequest request;
  request.questions = {QuestionOf("s", "score", {"0", "1", "2"}),
                       QuestionOf("c", "choice", {"a", "b"})};
  request.questions[0].legend = {json::Value::String("x"), json::Value::String("y"),
                                 json::Value::String("z")};
  // Their mean level is 1.2900499999523163, and 1.29005 in fp32.
  const Answers answers =
      MakeAnswers(FakeFamily(), "m", std::move(request),
                  {ResultOf({0.23517785966396332, 0.23959431052207947, 0.5252278447151184}),
                   ResultOf({0.5, 0.5 + 1e-12})});
  const json::Value root =
      json::Parse(answers.ToJson({Rounding::Mode::kKev, 0}, true), ErrorKind::kRequest, "m");
  EXPECT_EQ(root.Find("answers")->Find("s")->Find("score")->number(), 1.29);
  EXPECT_EQ(root.Find("answers")->Find("c")->Find("choice")->string(), "a");
  EXPECT_EQ(answers.list()[1].best, "b");
}

TEST(Answers, AFamilyMayPrintTheLegendFirstAndCountTokens) {
  const KevLike family;
  EncodedRequest request;
  request.input_tokens = 5;
  request.questions = {QuestionOf("h\u00f6w", "score", {"0", "1"}),
                       QuestionOf("team", "choice", {"a", "b"})};
  request.questions[0].legend = {json::Value::String("low"), json::Value::String("high")};
  const Answers answers = MakeAnswers(family, "m", std::move(request),
                                      {ResultOf({0.25, 0.75}), ResultOf({0.87654321, 0.12345679})});
  EXPECT_EQ(
      answers.ToJson({Rounding::Mode::kDigits, 2}, true),
      "{\"model\":\"m\",\"answers\":{\"h\u00f6w\":{\"type\":\"score\",\"score\":0.75,"
      "\"legend\":{\"0\":\"low\",\"1\":\"high\"},\"probabilities\":{\"0\":0.25,\"1\":0.75},"
      "\"confidence\":0.38},\"team\":{\"type\":\"choice\",\"choice\":\"a\",\"confidence\":0.44,"
      "\"probabilities\":{\"a\":0.88,\"b\":0.12}}},"
      "\"usage\":{\"input_tokens\":5,\"output_tokens\":255}}");
  // As the maker's server rounds, whatever is printed here.
  EXPECT_EQ(family.counted,
            R"({"h\u00f6w": {"type": "score", "score": 0.75, "legend": {"0": "low", "1": "high"}, )"
            R"("probabilities": {"0": 0.25, "1": 0.75}, "confidence": 0.375}, )"
            R"("team": {"type": "choice", "choice": "a", "confidence": 0.4383, )"
            R"("probabilities": {"a": 0.8765, "b": 0.1235}}})");
  EXPECT_EQ(answers.output_tokens(), family.counted.size());
}

TEST(Trace, SaysWhereOptionsAreRead) {
  EncodedRequest request;
  request.trunk_ids = {1, 2};
  request.questions = {QuestionOf("q", "noul", {"false", "true"})};
  request.questions[0].wanted = {0, 1, 2};
  const Answers answers =
      MakeAnswers(FakeFamily(), "m", std::move(request), {ResultOf({0.5, 0.5})});
  const json::Value line = json::Parse(answers.TraceLine(0, "1"), ErrorKind::kRequest, "trace");
  EXPECT_THAT(IntegersOf(*line.Find("marks")), ElementsAre(2, 3));
  EXPECT_EQ(line.Find("slot")->int64(), 4);
  EXPECT_EQ(
      json::Parse(ThreeAnswers().TraceLine(0, "1"), ErrorKind::kRequest, "trace").Find("marks"),
      nullptr);
}

TEST(Answers, WhatIsNoNumberIsNeverPrinted) {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    EncodedRequest request;
    request.questions = {QuestionOf("q", "choice", {"a", "b"})};
    QuestionResult result = ResultOf({0.5, 0.5});
    result.reading.probabilities[1] = bad;
    try {
      MakeAnswers(FakeFamily(), "m", std::move(request), {result});
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kModel);
      EXPECT_EQ(error.where(), "questions.q");
    }
  }
}

}  // namespace
}  // namespace assay::decide

#include "families/kev/questions.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::families::kev {
namespace {

using ::testing::ElementsAre;

json::Value Parse(std::string_view text) {
  return json::Parse(text, ErrorKind::kRequest, "request");
}

Request Read(std::string_view text) { return ReadRequest(Parse(text)); }

Question ReadOne(std::string_view question) {
  return Read(fmt::format(R"({{"state":"s","questions":{{"q":{}}}}})", question)).questions[0];
}

// "where: message (hint)" of a refusal.
std::string Refusal(std::string_view text) {
  try {
    Read(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kRequest);
    return error.what();
  }
  return "accepted";
}

std::string QuestionRefusal(std::string_view question) {
  return Refusal(fmt::format(R"({{"state":"s","questions":{{"q":{}}}}})", question));
}

std::string Numbered(size_t count, bool object) {
  std::string out;
  for (size_t i = 0; i < count; ++i)
    out += fmt::format("{}{}", i == 0 ? "" : ",", object ? fmt::format("\"o{}\":null", i) : "1");
  return object ? "{" + out + "}" : "[" + out + "]";
}

TEST(KevQuestions, ANoulHasNoBeforeYes) {
  const Question plain = ReadOne(R"({"type":"noul","instructions":"Ok?"})");
  EXPECT_EQ(plain.kind, Kind::kNoul);
  EXPECT_EQ(plain.instructions, "Ok?");
  EXPECT_THAT(plain.options, ElementsAre("no", "yes"));
  EXPECT_THAT(plain.keys, ElementsAre("false", "true"));
  EXPECT_THAT(ReadOne(R"({"type":"noul","criteria":{"true":["a"],"false":0,"other":1}})").options,
              ElementsAre("no: 0", "yes: - a"));
  EXPECT_THAT(ReadOne(R"({"type":"noul","criteria":{"true":"","True":"x"}})").options,
              ElementsAre("no", "yes"));
  EXPECT_THAT(ReadOne(R"({"type":"noul","criteria":null})").options, ElementsAre("no", "yes"));
}

TEST(KevQuestions, AChoiceHasItsNamesInOrder) {
  const Question choice =
      ReadOne(R"({"type":"choice","criteria":{"b":"two","a":null,"c":"","":false}})");
  EXPECT_THAT(choice.options, ElementsAre("b: two", "a", "c", ": False"));
  EXPECT_THAT(choice.keys, ElementsAre("b", "a", "c", ""));
}

TEST(KevQuestions, AScoreHasItsLevelsAndNumbers) {
  const Question score = ReadOne(R"({"type":"score","criteria":["low",null,2.0,{"a":1}]})");
  EXPECT_THAT(score.options, ElementsAre("low", "", "2.0", "a: 1"));
  EXPECT_THAT(score.keys, ElementsAre("0", "1", "2", "3"));
}

TEST(KevQuestions, InstructionsAreAnyJsonOrNone) {
  EXPECT_EQ(ReadOne(R"({"type":"noul"})").instructions, "");
  EXPECT_EQ(ReadOne(R"({"type":"noul","instructions":null})").instructions, "");
  EXPECT_EQ(ReadOne(R"({"type":"noul","instructions":1e2})").instructions, "100.0");
  EXPECT_EQ(ReadOne(R"({"type":"noul","instructions":{"a":[true]}})").instructions, "a:\n  - True");
}

TEST(KevQuestions, TheStateIsAnyJson) {
  const auto state = [](std::string_view json) {
    return ReadState(Parse(fmt::format(R"({{"state":{}}})", json)));
  };
  EXPECT_EQ(state("null"), "");
  EXPECT_EQ(state("3.0"), "3.0");
  EXPECT_EQ(state("false"), "False");
  EXPECT_EQ(state(R"({"a":[1]})"), "a:\n  - 1");
}

TEST(KevQuestions, DateFactsAreAddedWhenAskedFor) {
  const json::Value request = Parse(R"({"state":{"a":"2026-01-01","b":"2026-01-02"}})");
  EXPECT_EQ(ReadState(request), "a: 2026-01-01\nb: 2026-01-02");
  EXPECT_EQ(ReadState(request, {.date_facts = true}),
            "a: 2026-01-01\nb: 2026-01-02\ndate_facts: 2026-01-02 is 1 day after 2026-01-01.");
}

TEST(KevQuestions, UnknownMembersAreNotLookedAt) {
  EXPECT_EQ(Read(R"({"x":[],"state":1,"model":"any","questions":{"q":{"type":"noul","w":{}}}})")
                .questions.size(),
            1u);
}

TEST(KevQuestions, TheRequestNeedsStateAndQuestions) {
  EXPECT_EQ(Refusal("[]"), "request: is an array (an object with state and questions)");
  EXPECT_EQ(Refusal(R"({"questions":{}})"), "state: is missing (any JSON value, null too)");
  EXPECT_EQ(Refusal(R"({"state":1,"model":3})"), "model: is an integer (a string, or nothing)");
  EXPECT_EQ(Refusal(R"({"state":1,"model":null})"), "model: is null (a string, or nothing)");
  constexpr std::string_view kHint = " (an object of question name to question, with at least one)";
  EXPECT_EQ(Refusal(R"({"state":1})"), fmt::format("questions: is missing{}", kHint));
  EXPECT_EQ(Refusal(R"({"state":1,"questions":[]})"),
            fmt::format("questions: is an array{}", kHint));
  EXPECT_EQ(Refusal(R"({"state":1,"questions":{}})"), fmt::format("questions: is empty{}", kHint));
}

TEST(KevQuestions, AQuestionIsRefusedByItsField) {
  constexpr std::string_view kTypes = " (one of noul, choice, score)";
  EXPECT_EQ(QuestionRefusal("1"), "questions.q: is an integer (a question is an object)");
  EXPECT_EQ(QuestionRefusal("{}"), fmt::format("questions.q.type: is missing{}", kTypes));
  EXPECT_EQ(QuestionRefusal(R"({"type":1})"),
            fmt::format("questions.q.type: is an integer{}", kTypes));
  EXPECT_EQ(QuestionRefusal(R"({"type":"Noul"})"),
            fmt::format("questions.q.type: 'Noul' is not a question type{}", kTypes));
  EXPECT_EQ(QuestionRefusal(R"({"type":"noul","criteria":[]})"),
            "questions.q.criteria: is an array (an object with true and false, or null)");
  constexpr std::string_view kChoice =
      " (an object of 1 to 255 option names to descriptions or null)";
  EXPECT_EQ(QuestionRefusal(R"({"type":"choice"})"),
            fmt::format("questions.q.criteria: is missing{}", kChoice));
  EXPECT_EQ(QuestionRefusal(R"({"type":"choice","criteria":null})"),
            fmt::format("questions.q.criteria: is null{}", kChoice));
  EXPECT_EQ(QuestionRefusal(R"({"type":"choice","criteria":["a"]})"),
            fmt::format("questions.q.criteria: is an array{}", kChoice));
  EXPECT_EQ(QuestionRefusal(R"({"type":"choice","criteria":{}})"),
            fmt::format("questions.q.criteria: has 0 options{}", kChoice));
  constexpr std::string_view kScore = " (an array of 1 to 255 levels, lowest first)";
  EXPECT_EQ(QuestionRefusal(R"({"type":"score"})"),
            fmt::format("questions.q.criteria: is missing{}", kScore));
  EXPECT_EQ(QuestionRefusal(R"({"type":"score","criteria":{"0":"a"}})"),
            fmt::format("questions.q.criteria: is an object{}", kScore));
  EXPECT_EQ(QuestionRefusal(R"({"type":"score","criteria":[]})"),
            fmt::format("questions.q.criteria: has 0 levels{}", kScore));
}

TEST(KevQuestions, OptionsAreOneTo255) {
  for (const std::string_view type : {"choice", "score"}) {
    const auto with = [&](size_t count) {
      return fmt::format(R"({{"type":"{}","criteria":{}}})", type,
                         Numbered(count, type == "choice"));
    };
    EXPECT_EQ(ReadOne(with(1)).options.size(), 1u);
    EXPECT_EQ(ReadOne(with(255)).options.size(), 255u);
    EXPECT_THAT(QuestionRefusal(with(256)), ::testing::HasSubstr("questions.q.criteria: has 256"));
  }
}

}  // namespace
}  // namespace assay::families::kev

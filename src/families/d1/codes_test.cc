#include "families/d1/codes.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "testing/fixtures.h"
#include "text/tokenizer.h"

namespace assay::families::d1 {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Texts = std::vector<std::string>;
using Group = std::vector<int32_t>;

// A tokenizer for which exactly the listed texts are one token.
class Vocabulary {
 public:
  Vocabulary& Add(const Texts& texts) {
    for (const std::string& text : texts) ids_.emplace(text, static_cast<int32_t>(ids_.size()));
    return *this;
  }
  Vocabulary& AddAs(const std::string& text, int32_t id) {
    ids_[text] = id;
    return *this;
  }
  Vocabulary& Remove(const std::string& text) {
    ids_.erase(text);
    return *this;
  }

  int32_t Id(const std::string& text) const { return ids_.at(text); }
  CodeTable Table() const {
    return CodeTable([ids = ids_](std::string_view text) -> Group {
      const auto found = ids.find(std::string(text));
      return found == ids.end() ? Group{1, 2} : Group{found->second};
    });
  }

 private:
  std::map<std::string, int32_t> ids_;
};

Texts Range(char first, char last) {
  Texts out;
  for (char c = first; c <= last; ++c) out.emplace_back(1, c);
  return out;
}

Texts Numbers(size_t first, size_t last, size_t width) {
  Texts out;
  for (size_t i = first; i <= last; ++i) out.push_back(fmt::format("{:0{}d}", i, width));
  return out;
}

// Letters, numbers and words, each one token; no form with a leading space.
Vocabulary Plain() {
  Vocabulary vocabulary;
  vocabulary.Add(Range('A', 'Z')).Add(Range('a', 'z')).Add(Range('0', '9'));
  vocabulary.Add(Numbers(0, 99, 2)).Add(Numbers(100, 999, 3));
  vocabulary.Add({"yes", "Yes", "no", "No", "NO"});
  return vocabulary;
}

Question ChoiceOf(const Texts& labels) {
  Question question;
  for (const std::string& label : labels) question.choices.push_back({label, ""});
  return question;
}

Question ChoiceOf(size_t count) {
  Texts labels;
  for (size_t i = 0; i < count; ++i) labels.push_back(fmt::format("option {}", i));
  return ChoiceOf(labels);
}

Texts CodesOf(const CodeTable& table, const Question& question) {
  return table.CodesFor(question, "questions.q").codes;
}

Texts CodesOf(const Vocabulary& vocabulary, const Texts& labels) {
  return CodesOf(vocabulary.Table(), ChoiceOf(labels));
}

Error Refusal(const CodeTable& table, const Question& question) {
  try {
    table.CodesFor(question, "questions.q");
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorKind::kUsage, "", "accepted");
}

TEST(Codes, LabelsOfMoreThanOneLetterGetLettersInOrder) {
  EXPECT_THAT(CodesOf(Plain(), {"billing", "technical", "fraud"}), ElementsAre("A", "B", "C"));
}

TEST(Codes, OneLetterLabelsAreTheirOwnCodes) {
  EXPECT_THAT(CodesOf(Plain(), {"q", "B", "a"}), ElementsAre("q", "B", "a"));
}

TEST(Codes, OneLongLabelTakesTheLettersFromAll) {
  EXPECT_THAT(CodesOf(Plain(), {"q", "B", "other"}), ElementsAre("A", "B", "C"));
}

TEST(Codes, ADigitAMarkAndAnEmptyLabelAreNoLetters) {
  EXPECT_THAT(CodesOf(Plain(), {"q", "1"}), ElementsAre("A", "B"));
  EXPECT_THAT(CodesOf(Plain(), {"q", "\u0301"}), ElementsAre("A", "B"));
  EXPECT_THAT(CodesOf(Plain(), {"q", ""}), ElementsAre("A", "B"));
  EXPECT_THAT(CodesOf(Plain(), {"q", "\u2167"}), ElementsAre("A", "B"));  // a letter number
}

TEST(Codes, LabelsAreStrippedAsPythonStrips) {
  for (const char* space :
       {"\t",     "\n",     "\x0b",   "\x0c",   "\r",     "\x1c",   "\x1d",   "\x1e",
        "\x1f",   " ",      "\u0085", "\u00a0", "\u1680", "\u2000", "\u2001", "\u2002",
        "\u2003", "\u2004", "\u2005", "\u2006", "\u2007", "\u2008", "\u2009", "\u200a",
        "\u2028", "\u2029", "\u202f", "\u205f", "\u3000"}) {
    EXPECT_THAT(CodesOf(Plain(), {space + std::string("x") + space, "y"}), ElementsAre("x", "y"))
        << ::testing::PrintToString(space);
  }
  for (const char* no_space : {"\u200b", "\ufeff", "\u180e", "\x1b"}) {
    EXPECT_THAT(CodesOf(Plain(), {no_space + std::string("x"), "y"}), ElementsAre("A", "B"))
        << ::testing::PrintToString(no_space);
  }
}

TEST(Codes, AKeyIsTheLabelAsSent) {
  const OptionCodes codes = Plain().Table().CodesFor(ChoiceOf({" x ", "y"}), "questions.q");
  EXPECT_THAT(codes.keys, ElementsAre(" x ", "y"));
  EXPECT_THAT(codes.codes, ElementsAre("x", "y"));
}

TEST(Codes, EqualLettersAfterStrippingFallToThePool) {
  EXPECT_THAT(CodesOf(Plain(), {"x", " x", "A"}), ElementsAre("x", "A", "B"));
}

TEST(Codes, TwentySixOptionsGetLettersAndTwentySevenGetNumbers) {
  const CodeTable table = Plain().Table();
  EXPECT_EQ(CodesOf(table, ChoiceOf(26)), Range('A', 'Z'));
  EXPECT_EQ(CodesOf(table, ChoiceOf(27)), Numbers(0, 26, 2));
}

TEST(Codes, NumbersGrowToThreeDigitsPastNinetyNine) {
  const Texts codes = CodesOf(Plain().Table(), ChoiceOf(102));
  EXPECT_EQ(codes[99], "99");
  EXPECT_EQ(codes[100], "100");
  EXPECT_EQ(codes[101], "101");
}

TEST(Codes, ACodeOfSeveralTokensIsReplacedFromThePool) {
  // C goes to the second option, so the third falls to the pool as well.
  EXPECT_THAT(CodesOf(Plain().Remove("B"), {"one", "two", "three"}), ElementsAre("A", "C", "D"));
}

TEST(Codes, ThePoolIsWalkedInItsOrder) {
  const auto next = [](const Vocabulary& vocabulary) {
    return CodesOf(vocabulary, {"\u0561"})[0];  // an Armenian letter: no token
  };
  Vocabulary all = Plain().Add({"#0", "#199", "#200", "AA", "ZZ"});
  EXPECT_EQ(next(all), "A");
  for (const std::string& letter : Range('A', 'Z')) {
    if (letter != "Z") all.Remove(letter);
  }
  // The second option wants Z, but the first is served first.
  EXPECT_THAT(CodesOf(all, {"\u0561", "Z"}), ElementsAre("Z", "00"));
  all.Remove("Z").Remove("00");
  EXPECT_EQ(next(all), "01");
  for (const std::string& number : Numbers(0, 99, 2)) all.Remove(number);
  EXPECT_EQ(next(all), "a");
  for (const std::string& letter : Range('a', 'z')) all.Remove(letter);
  EXPECT_EQ(next(all), "#0");
  all.Remove("#0");
  EXPECT_EQ(next(all), "#199");
  all.Remove("#199");
  EXPECT_EQ(next(all), "AA");
  all.Remove("AA");
  EXPECT_EQ(next(all), "NO");
  all.Remove("NO");
  EXPECT_EQ(next(all), "ZZ");
}

TEST(Codes, TakenIsTheTokenNotItsText) {
  Vocabulary vocabulary = Plain();
  vocabulary.AddAs("B", vocabulary.Id("A"));
  EXPECT_THAT(CodesOf(vocabulary, {"one", "two", "three"}), ElementsAre("A", "C", "D"));
}

TEST(Codes, TheFormWithASpaceJoinsTheGroup) {
  const Vocabulary vocabulary = Plain().Add({" A"});
  const OptionCodes codes = vocabulary.Table().CodesFor(ChoiceOf({"one", "two"}), "questions.q");
  EXPECT_THAT(codes.groups, ElementsAre(Group{vocabulary.Id("A"), vocabulary.Id(" A")},
                                        Group{vocabulary.Id("B")}));
}

TEST(Codes, AGroupHoldsAnIdOnce) {
  Vocabulary vocabulary = Plain();
  vocabulary.AddAs(" A", vocabulary.Id("A"));
  const OptionCodes codes = vocabulary.Table().CodesFor(ChoiceOf({"one", "two"}), "questions.q");
  EXPECT_THAT(codes.groups[0], ElementsAre(vocabulary.Id("A")));
}

TEST(Codes, NoCodeLeftIsRefused) {
  const CodeTable table = Vocabulary().Add({"A", "B", "yes", "no"}).Table();
  EXPECT_THAT(CodesOf(table, ChoiceOf(2)), ElementsAre("A", "B"));
  const Error error = Refusal(table, ChoiceOf(3));
  EXPECT_EQ(error.kind(), ErrorKind::kRequest);
  EXPECT_EQ(error.where(), "questions.q.criteria");
  EXPECT_THAT(error.message(), HasSubstr("3 options"));
  EXPECT_THAT(error.message(), HasSubstr("only 2 one-token option codes"));
}

TEST(Codes, TheCapacityIsThatOfTheFullVocabulary) {
  // The counts of spec 3.2: 1,000 numbers, 52 letters and 587 pairs.
  Vocabulary vocabulary = Plain();
  size_t pairs = 0;
  for (char first = 'A'; first <= 'Z'; ++first) {
    for (char second = 'A'; second <= 'Z' && pairs < 587; ++second, ++pairs)
      vocabulary.Add({std::string{first, second}});
  }
  const CodeTable table = vocabulary.Table();
  EXPECT_EQ(CodesOf(table, ChoiceOf(1639)).size(), 1639u);
  EXPECT_THAT(Refusal(table, ChoiceOf(1640)).message(), HasSubstr("only 1639"));
}

TEST(Codes, AnotherScriptsLetterIsOutsideTheOptionTable) {
  const Error error = Refusal(Plain().Add({"\u00e9"}).Table(), ChoiceOf({"a", "\u00e9"}));
  EXPECT_EQ(error.kind(), ErrorKind::kRequest);
  EXPECT_EQ(error.where(), "questions.q.criteria");
  EXPECT_THAT(error.message(), HasSubstr("'\u00e9'"));
  EXPECT_THAT(error.message(), HasSubstr("outside the option table"));
}

TEST(Codes, AnotherScriptsLetterWithoutATokenFallsToThePool) {
  EXPECT_THAT(CodesOf(Plain(), {"\u0561", "q"}), ElementsAre("A", "q"));
}

TEST(Codes, ANoulReadsTheWordsThatAreOneToken) {
  const Vocabulary vocabulary = Plain();
  Question question;
  question.kind = Kind::kNoul;
  const OptionCodes codes = vocabulary.Table().CodesFor(question, "questions.q");
  EXPECT_THAT(codes.keys, ElementsAre("yes", "no"));
  EXPECT_THAT(codes.groups,
              ElementsAre(Group{vocabulary.Id("yes"), vocabulary.Id("Yes")},
                          Group{vocabulary.Id("no"), vocabulary.Id("No"), vocabulary.Id("NO")}));
}

TEST(Codes, ANoulNeedsOneWordOnEachSide) {
  Question question;
  question.kind = Kind::kNoul;
  const Error error = Refusal(Plain().Remove("no").Remove("No").Remove("NO").Table(), question);
  EXPECT_EQ(error.where(), "questions.q");
  EXPECT_THAT(error.message(), HasSubstr("'no'"));
  EXPECT_EQ(Refusal(Plain().Remove("no").Remove("No").Table(), question).message(), "accepted");
}

TEST(Codes, AScoreReadsOneDigitALevel) {
  const Vocabulary vocabulary = Plain().Add({" 0", " 1"});
  Question question;
  question.kind = Kind::kScore;
  question.levels = {"low", "high"};
  const OptionCodes codes = vocabulary.Table().CodesFor(question, "questions.q");
  EXPECT_THAT(codes.keys, ElementsAre("0", "1"));
  EXPECT_THAT(codes.groups, ElementsAre(Group{vocabulary.Id("0")}, Group{vocabulary.Id("1")}));
}

TEST(Codes, AScoreWhoseDigitIsNoTokenIsRefused) {
  Question question;
  question.kind = Kind::kScore;
  question.levels = {"low", "high"};
  EXPECT_THAT(Refusal(Plain().Remove("1").Table(), question).message(), HasSubstr("'1'"));
}

TEST(Codes, TheTableHoldsEachIdOnce) {
  EXPECT_EQ(Vocabulary().Add({"A", " A", "yes", "AA", "unrelated", "1000", "#200"}).Table().size(),
            4u);
  // NO is a pair too.
  EXPECT_EQ(Vocabulary().Add({"NO", "no"}).Table().size(), 2u);
}

Texts StringsOf(const json::Value& array) {
  Texts out;
  for (const json::Value& item : array.items()) out.push_back(item.string());
  return out;
}

TEST(Codes, AreThoseOfTheReferenceForEveryPublicQuestion) {
  const text::Tokenizer tokenizer = text::Tokenizer::Load(testing::TinyD1() / "tokenizer.json");
  const CodeTable table([&](std::string_view text) { return tokenizer.Encode(text); });
  std::map<std::string, std::string> texts;
  for (const auto& [id, text] : testing::PublicD1Requests()) texts[id] = text;
  size_t compared = 0;
  const json::Value golden = testing::Golden("d1_tiny_seed1.json");
  for (const json::Value& record : golden.Find("requests")->items()) {
    const std::string& id = record.Find("id")->string();
    if (record.Find("refused") != nullptr || id == "j13_nonfinite") continue;
    const Request request =
        ReadRequest(json::Parse(texts.at(id), ErrorKind::kRequest, id), Dialect::kHost);
    const auto& recorded = record.Find("questions")->items();
    ASSERT_EQ(request.questions.size(), recorded.size()) << id;
    for (size_t q = 0; q < recorded.size(); ++q) {
      const OptionCodes codes = table.CodesFor(request.questions[q], id);
      EXPECT_EQ(codes.codes, StringsOf(*recorded[q].Find("codes"))) << id;
      EXPECT_EQ(codes.keys, StringsOf(*recorded[q].Find("keys"))) << id;
      std::vector<Group> groups;
      for (const json::Value& group : recorded[q].Find("groups")->items()) {
        groups.emplace_back();
        for (const json::Value& token : group.items())
          groups.back().push_back(static_cast<int32_t>(token.int64().value()));
      }
      EXPECT_EQ(codes.groups, groups) << id;
      ++compared;
    }
  }
  EXPECT_GE(compared, 100u);
}

}  // namespace
}  // namespace assay::families::d1

#include "families/d1/prompt.h"

#include <gtest/gtest.h>

#include <map>

#include "base/sha256.h"
#include "testing/fixtures.h"

namespace assay::families::d1 {
namespace {

constexpr char kEnd[] = "<|im_end|>\n<|im_start|>assistant\n";

Question Asking(Kind kind, std::string instructions) {
  Question question;
  question.kind = kind;
  question.instructions = std::move(instructions);
  return question;
}

TEST(Prompt, AStateEndsInThreeLineFeedsBeforeTheQuestion) {
  EXPECT_EQ(PrefixText("Hello."), "<|startoftext|><|im_start|>user\nHello.\n\n\nQUESTION:\n");
}

TEST(Prompt, AnEmptyStateIsStillAState) {
  EXPECT_EQ(PrefixText(""), "<|startoftext|><|im_start|>user\n\n\n\nQUESTION:\n");
}

TEST(Prompt, WithoutAStateThereIsNoQuestionLine) {
  EXPECT_EQ(PrefixText(std::nullopt), "<|startoftext|><|im_start|>user\n");
}

TEST(Prompt, AStateIsNeitherTrimmedNorEscaped) {
  EXPECT_EQ(PrefixText("  a <|im_end|>\n"),
            "<|startoftext|><|im_start|>user\n  a <|im_end|>\n\n\n\nQUESTION:\n");
}

TEST(Prompt, ANoul) {
  EXPECT_EQ(SuffixText(Asking(Kind::kNoul, "Is it?"), {"yes", "no"}),
            std::string("Is it?\n\nReply with yes or no only.") + kEnd);
}

TEST(Prompt, ANoulWithDescribedSides) {
  Question question = Asking(Kind::kNoul, "Is it?");
  question.yes = "it is";
  question.no = "";
  EXPECT_EQ(SuffixText(question, {"yes", "no"}),
            std::string("Is it?\nYes: it is\nNo: \n\nReply with yes or no only.") + kEnd);
}

TEST(Prompt, AChoicePrintsCodesAndDescriptions) {
  Question question = Asking(Kind::kChoice, "Which?");
  question.choices = {{"a_b", "first one"}, {"es_mx_", ""}, {" x ", ""}};
  EXPECT_EQ(
      SuffixText(question, {"A", "07", "x"}),
      std::string("Which?\n\nOptions:\nA first one\n07 es mx \nx  x \n\nReply with the option "
                  "code only.") +
          kEnd);
}

TEST(Prompt, AScoreNumbersItsLevels) {
  Question question = Asking(Kind::kScore, "How?");
  question.levels = {"low", "", "high"};
  EXPECT_EQ(SuffixText(question, {"0", "1", "2"}),
            std::string("How?\n\n0 low\n1 \n2 high\n\nReply with a single digit 0-2 only.") + kEnd);
}

TEST(Prompt, AScoreOfOneLevel) {
  Question question = Asking(Kind::kScore, "");
  question.levels = {"only"};
  EXPECT_EQ(SuffixText(question, {"0"}),
            std::string("\n\n0 only\n\nReply with a single digit 0-0 only.") + kEnd);
}

TEST(Prompt, IsThatOfTheReferenceForEveryPublicQuestion) {
  std::map<std::string, std::string> texts;
  for (const auto& [id, text] : testing::PublicD1Requests()) texts[id] = text;
  size_t compared = 0;
  const json::Value golden = testing::Golden("d1_tiny_seed1.json");
  for (const json::Value& record : golden.Find("requests")->items()) {
    const std::string& id = record.Find("id")->string();
    if (record.Find("refused") != nullptr || record.Find("pictures") != nullptr ||
        id == "j13_nonfinite") {
      continue;
    }
    const Request request =
        ReadRequest(json::Parse(texts.at(id), ErrorKind::kRequest, id), Dialect::kHost);
    const auto& recorded = record.Find("questions")->items();
    ASSERT_EQ(request.questions.size(), recorded.size()) << id;
    for (size_t q = 0; q < recorded.size(); ++q) {
      std::vector<std::string> codes;
      for (const json::Value& code : recorded[q].Find("codes")->items())
        codes.push_back(code.string());
      const std::string text = PrefixText(request.state) + SuffixText(request.questions[q], codes);
      if (const json::Value* whole = recorded[q].Find("text")) {
        EXPECT_EQ(text, whole->string()) << id;
      } else {
        EXPECT_EQ(Sha256(text), recorded[q].Find("text_sha256")->string()) << id;
      }
      ++compared;
    }
  }
  EXPECT_GE(compared, 80u);
}

}  // namespace
}  // namespace assay::families::d1

#include "text/pretokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "text/unicode_tables.h"

namespace assay::text {
namespace {

using ::testing::ElementsAre;
using Pieces = std::vector<std::string>;

constexpr std::string_view kD1 =
    R"re('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s)re";
constexpr std::string_view kQwen2 =
    R"re((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)re";
constexpr std::string_view kQwen35 =
    R"re((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)re";
constexpr std::string_view kLlama3 =
    R"re((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)re";

Pieces Split(const SplitRules& rules, std::string_view text) {
  Pieces out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = PieceEnd(rules, text, at);
    if (end <= at || end > text.size()) {
      ADD_FAILURE() << "piece " << at << " to " << end;
      break;
    }
    out.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return out;
}

Pieces D1(std::string_view text) { return Split(*FindSplitRules(kD1), text); }
Pieces Qwen2(std::string_view text) { return Split(*FindSplitRules(kQwen2), text); }
Pieces Qwen35(std::string_view text) { return Split(*FindSplitRules(kQwen35), text); }

TEST(Pretokenizer, KnowsExactPatternsOnly) {
  for (const std::string_view pattern : {kD1, kQwen2, kQwen35, kLlama3}) {
    ASSERT_NE(FindSplitRules(pattern), nullptr);
    EXPECT_EQ(FindSplitRules(pattern)->pattern, pattern);
    EXPECT_EQ(FindSplitRules(std::string(pattern) + " "), nullptr);
    EXPECT_EQ(FindSplitRules(pattern.substr(1)), nullptr);
  }
  EXPECT_EQ(FindSplitRules(""), nullptr);
}

TEST(Pretokenizer, ContractionsComeFirstInEitherCase) {
  EXPECT_THAT(D1("I'm WE'LL they'vex"), ElementsAre("I", "'m", " WE", "'LL", " they", "'ve", "x"));
  EXPECT_THAT(D1("'re'S'd"), ElementsAre("'re", "'S", "'d"));
  EXPECT_THAT(D1("'\u017Fx"), ElementsAre("'\u017F", "x"));  // U+017F folds to s
  EXPECT_THAT(D1("'l 'v 'x"), ElementsAre("'l", " '", "v", " '", "x"));
  EXPECT_THAT(D1("'"), ElementsAre("'"));
  EXPECT_THAT(D1("'l"), ElementsAre("'l"));
  EXPECT_THAT(Qwen2("It'S 'vE"), ElementsAre("It", "'S", " '", "vE"));
}

TEST(Pretokenizer, LettersTakeOneCharacterBeforeThem) {
  EXPECT_THAT(D1("\tif _x \u200Ba \uFEFFb"),
              ElementsAre("\tif", " _", "x", " \u200B", "a", " \uFEFF", "b"));
  EXPECT_THAT(D1("_x"), ElementsAre("_x"));
  EXPECT_THAT(D1("\u0085x\u0301y"), ElementsAre("\u0085x", "\u0301y"));
  EXPECT_THAT(D1("\nx\rx"), ElementsAre("\n", "x", "\r", "x"));  // not CR or LF
  EXPECT_THAT(D1("7x"), ElementsAre("7", "x"));                  // not a number
}

TEST(Pretokenizer, NumbersComeInThreesForD1AndAloneForQwen) {
  EXPECT_THAT(D1("1234567 12"), ElementsAre("123", "456", "7", " ", "12"));
  EXPECT_THAT(Split(*FindSplitRules(kLlama3), "12345"), ElementsAre("123", "45"));
  EXPECT_THAT(Qwen2("123 4"), ElementsAre("1", "2", "3", " ", "4"));
  EXPECT_THAT(D1("\u0661\u00BD\u2167\u0662"), ElementsAre("\u0661\u00BD\u2167", "\u0662"));
}

TEST(Pretokenizer, SymbolsTakeASpaceBeforeAndLineBreaksAfter) {
  EXPECT_THAT(D1(" ...\r\n\nx"), ElementsAre(" ...\r\n\n", "x"));
  EXPECT_THAT(D1("\t..."), ElementsAre("\t", "..."));
  EXPECT_THAT(D1("a:\n b"), ElementsAre("a", ":\n", " b"));
}

TEST(Pretokenizer, WhiteSpaceEndsAfterItsLastLineBreak) {
  EXPECT_THAT(D1("a \n\t\r\n  b"), ElementsAre("a", " \n\t\r\n", " ", " b"));
  EXPECT_THAT(Qwen2("a \n\t\r\n  b"), ElementsAre("a", " \n\t\r\n", " ", " b"));
  EXPECT_THAT(D1("\n\n\n"), ElementsAre("\n\n\n"));
  EXPECT_THAT(D1("a\n  b"), ElementsAre("a", "\n", " ", " b"));
  EXPECT_THAT(D1("a \u2028 b"), ElementsAre("a", " \u2028", " b"));  // U+2028 is no line break here
}

TEST(Pretokenizer, TheLastSpaceIsLeftForWhatFollows) {
  EXPECT_THAT(D1("a   b"), ElementsAre("a", "  ", " b"));
  EXPECT_THAT(D1("a   7"), ElementsAre("a", "  ", " ", "7"));
  EXPECT_THAT(D1("a\t\t."), ElementsAre("a", "\t", "\t", "."));
  EXPECT_THAT(D1("a   "), ElementsAre("a", "   "));
  EXPECT_THAT(D1("a\u3000\u3000b"), ElementsAre("a", "\u3000", "\u3000b"));
}

TEST(Pretokenizer, MarksAreSymbolsForQwen2AndLettersForQwen35) {
  EXPECT_THAT(Qwen2("\u0928\u094D\u0924"), ElementsAre("\u0928", "\u094D\u0924"));
  EXPECT_THAT(Qwen35("\u0928\u094D\u0924"), ElementsAre("\u0928\u094D\u0924"));
  EXPECT_THAT(Qwen35("7\u0301"), ElementsAre("7", "\u0301"));
  EXPECT_THAT(Qwen35("\u0301\u0301x"), ElementsAre("\u0301\u0301x"));
  EXPECT_THAT(Qwen35(".\u0301x"), ElementsAre(".\u0301x"));
  EXPECT_THAT(Qwen2("..\u0301x"), ElementsAre("..\u0301", "x"));
  EXPECT_THAT(Qwen35("..\u0301x"), ElementsAre("..", "\u0301x"));
}

TEST(Pretokenizer, TheByteLevelPatternIsGpt2s) {
  const SplitRules& rules = ByteLevelSplitRules();
  EXPECT_THAT(Split(rules, "it's IT'S 'll"), ElementsAre("it", "'s", " IT", "'", "S", " '", "ll"));
  EXPECT_THAT(Split(rules, "a 12345\t6"), ElementsAre("a", " 12345", "\t", "6"));
  EXPECT_THAT(Split(rules, "a.\n\n b"), ElementsAre("a", ".", "\n\n", " b"));
  EXPECT_THAT(Split(rules, "_x\tx"), ElementsAre("_", "x", "\t", "x"));
}

TEST(Pretokenizer, AMillionCharactersOfOneKindAreCutToTheEnd) {
  for (const std::string unit : {"a", " ", "\n", ".", "7", "\u4E2D", "\u0301", "'", "'s", " \n",
                                 "\t", "\u00A0", " a", " .", "aB"}) {
    std::string run;
    while (run.size() < 1'000'000) run += unit;
    for (const std::string_view pattern : {kD1, kQwen2, kQwen35}) {
      for (const std::string& text : {run, run + "x", "x" + run}) {
        size_t at = 0;
        while (at < text.size()) {
          const size_t end = PieceEnd(*FindSplitRules(pattern), text, at);
          ASSERT_GT(end, at);
          at = end;
        }
        ASSERT_EQ(at, text.size());
      }
    }
  }
}

}  // namespace
}  // namespace assay::text

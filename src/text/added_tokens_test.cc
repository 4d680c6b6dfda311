#include "text/added_tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::text {
namespace {

using ::testing::ElementsAre;

struct Flags {
  bool single_word = false, lstrip = false, rstrip = false;
};

class Matcher {
 public:
  Matcher& Add(std::string content, Flags flags = {}) {
    AddedToken token;
    token.content = content;
    token.id = static_cast<int32_t>(tokens_.size());
    token.single_word = flags.single_word;
    token.lstrip = flags.lstrip;
    token.rstrip = flags.rstrip;
    tokens_.push_back(std::move(token));
    contents_.push_back(std::move(content));
    return *this;
  }
  // Text parts as they are, tokens as "[id]text".
  std::vector<std::string> Split(std::string_view text) const {
    std::vector<TextPart> parts;
    AddedTokenMatcher(tokens_, contents_).Split(text, parts);
    std::vector<std::string> out;
    for (const TextPart& part : parts) {
      const std::string piece(text.substr(part.begin, part.end - part.begin));
      out.push_back(part.id < 0 ? piece : "[" + std::to_string(part.id) + "]" + piece);
    }
    return out;
  }

 private:
  std::vector<AddedToken> tokens_;
  std::vector<std::string> contents_;
};

TEST(AddedTokens, TheLeftmostAndThereTheLongestCounts) {
  const Matcher matcher = Matcher().Add("<a").Add("<ab>").Add("b>c").Add("<ab>x");
  EXPECT_THAT(matcher.Split("1<ab>c"), ElementsAre("1", "[1]<ab>", "c"));
  EXPECT_THAT(matcher.Split("<ab>x<ab"), ElementsAre("[3]<ab>x", "[0]<a", "b"));
  EXPECT_THAT(matcher.Split("b>c<<a"), ElementsAre("[2]b>c", "<", "[0]<a"));
  EXPECT_THAT(matcher.Split("<"), ElementsAre("<"));
  EXPECT_THAT(matcher.Split(""), ElementsAre());
}

TEST(AddedTokens, NeighboursLeaveNoTextBetween) {
  const Matcher matcher = Matcher().Add("<s>");
  EXPECT_THAT(matcher.Split("<s><s>"), ElementsAre("[0]<s>", "[0]<s>"));
  EXPECT_THAT(matcher.Split(".<s>?"), ElementsAre(".", "[0]<s>", "?"));
}

TEST(AddedTokens, SingleWordsNeedNoWordCharacterBesideThem) {
  const Matcher matcher = Matcher().Add("word", {.single_word = true});
  EXPECT_THAT(matcher.Split("word, (word)"), ElementsAre("[0]word", ", (", "[0]word", ")"));
  EXPECT_THAT(matcher.Split("words"), ElementsAre("words"));
  EXPECT_THAT(matcher.Split("_word"), ElementsAre("_word"));
  EXPECT_THAT(matcher.Split("\u00E9word"), ElementsAre("\u00E9word"));
  EXPECT_THAT(matcher.Split("word\u0301"), ElementsAre("word\u0301"));
  EXPECT_THAT(matcher.Split("wordword word"), ElementsAre("wordword ", "[0]word"));
}

TEST(AddedTokens, StripFlagsTakeWhiteSpaceOfAnyKind) {
  const Matcher matcher = Matcher().Add("<l>", {.lstrip = true}).Add("<r>", {.rstrip = true});
  EXPECT_THAT(matcher.Split("a \u3000\n<l> b"), ElementsAre("a", "[0] \u3000\n<l>", " b"));
  EXPECT_THAT(matcher.Split("a <r>\t\u00A0b"), ElementsAre("a ", "[1]<r>\t\u00A0", "b"));
  // White space that one token took is not there for the next.
  EXPECT_THAT(matcher.Split("<r>  <l>"), ElementsAre("[1]<r>  ", "[0]<l>"));
}

TEST(AddedTokens, ATokenInsideTakenWhiteSpaceIsStillFound) {
  const Matcher matcher =
      Matcher().Add("<r>", {.rstrip = true}).Add(" x").Add("\t").Add(" <l>", {.lstrip = true});
  EXPECT_THAT(matcher.Split("<r>  xy"), ElementsAre("[0]<r>  ", "[1] x", "y"));
  // The reference goes back to the end of the inner token; the space comes twice.
  EXPECT_THAT(matcher.Split("<r>\t y"), ElementsAre("[0]<r>\t ", "[2]\t", " y"));
  EXPECT_THAT(matcher.Split("<r>  <l>"), ElementsAre("[0]<r>  ", "[3]<l>"));
}

TEST(AddedTokens, WhiteSpaceBeforeATokenEndsWhereTheLastOneEnded) {
  const Matcher matcher = Matcher().Add("<l>", {.lstrip = true}).Add(" ");
  EXPECT_THAT(matcher.Split("a \t<l>"), ElementsAre("a", "[1] ", "[0]\t<l>"));
}

}  // namespace
}  // namespace assay::text

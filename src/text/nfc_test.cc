#include "text/nfc.h"

#include <gtest/gtest.h>

#include "base/utf8.h"
#include "text/unicode_tables.h"

namespace assay::text {
namespace {

std::string Nfc(std::string_view text) {
  std::string storage;
  return std::string(ToNfc(text, storage));
}

TEST(Nfc, ComposesLettersAndMarks) {
  EXPECT_EQ(Nfc("Cafe\u0301 tre\u0300s"), "Café très");
  EXPECT_EQ(Nfc("e\u0302\u0301"), "\u1EBF");
  EXPECT_EQ(Nfc("x\u0301"), "x\u0301");
  EXPECT_EQ(Nfc("\u0301e"), "\u0301e");
}

TEST(Nfc, TextInTheFormIsReturnedWithoutACopy) {
  std::string storage = "untouched";
  const std::string_view text = "plain, caf\u00e9, \u65e5\u672c\u8a9e \U0001F642";
  EXPECT_EQ(ToNfc(text, storage).data(), text.data());
  EXPECT_EQ(storage, "untouched");
}

TEST(Nfc, OrdersMarksByClassAndKeepsEqualOnesInOrder) {
  EXPECT_EQ(Nfc("q\u0307\u0323"), "q\u0323\u0307");
  EXPECT_EQ(Nfc("q\u0301\u0300\u0323\u0324"), "q\u0323\u0324\u0301\u0300");
  // A mark between with the same class keeps the later one from joining.
  EXPECT_EQ(Nfc("a\u030D\u0301"), "a\u030D\u0301");
  EXPECT_EQ(Nfc("a\u0308\u0301"), "\u00E4\u0301");
  EXPECT_EQ(Nfc("a\u0315\u0300\u05AE\u0300"), "\u00E0\u05AE\u0300\u0315");
}

TEST(Nfc, ReplacesSingletonsAndExcludedCharacters) {
  EXPECT_EQ(Nfc("\u212B\u2126\uF900"), "\u00C5\u03A9\u8C48");
  EXPECT_EQ(Nfc("\u0958"), "\u0915\u093C");
  EXPECT_EQ(Nfc("\u0344"), "\u0308\u0301");
}

TEST(Nfc, ComposesHangul) {
  EXPECT_EQ(Nfc("\u1100\u1161\u11A8"), "\uAC01");
  EXPECT_EQ(Nfc("\uAC00\u11A8"), "\uAC01");
  EXPECT_EQ(Nfc("\uAC01\u11A8"), "\uAC01\u11A8");
  EXPECT_EQ(Nfc("\u1100\u1160"), "\u1100\u1160");
}

TEST(Nfc, KnowsVersion9AndNothingLater) {
  EXPECT_EQ(Nfc("a\U0001E000\u0316"), "a\u0316\U0001E000");        // Glagolitic mark of 9.0 moves
  EXPECT_EQ(Nfc("a\u0DF1\u07FD\u0316"), "a\u0DF1\u07FD\u0316");    // the mark of 11.0 does not
  EXPECT_EQ(Nfc("\U00011935\U00011930"), "\U00011935\U00011930");  // composes since 13.0
}

TEST(Nfc, TextAroundAChangeIsKept) {
  EXPECT_EQ(Nfc("one \u00e9 two e\u0301 three \u65e5 four a\u030A five"),
            "one \u00e9 two \u00e9 three \u65e5 four \u00e5 five");
  EXPECT_EQ(Nfc("a\u0316\u00e9\u0327"), "a\u0316\u0229\u0301");
}

TEST(Nfc, IsIdempotentOnEveryCharacterWithMarks) {
  for (char32_t code = 0xA0; code <= 0x2FFFF; ++code) {
    if (code >= 0xD800 && code < 0xE000) continue;
    std::string text;
    AppendUtf8(code, text);
    text += "\u0301\u0323";
    const std::string once = Nfc(text);
    ASSERT_EQ(Nfc(once), once) << static_cast<uint32_t>(code);
  }
}

TEST(Nfc, AMillionMarksOnOneLetterAreSorted) {
  std::string text = "e";
  std::string low;
  std::string high;
  for (int i = 0; i < 500'000; ++i) {
    text += "\u0315\u0316";  // classes 232 and 220
    low += "\u0316";
    high += "\u0315";
  }
  EXPECT_TRUE(Nfc(text) == "e" + low + high);
}

}  // namespace
}  // namespace assay::text

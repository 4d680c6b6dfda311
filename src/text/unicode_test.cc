#include <gtest/gtest.h>

#include "text/unicode_tables.h"

namespace assay::text {
namespace {

uint8_t Category(char32_t code) { return ClassOf(code) & (kLetter | kNumber | kMark | kSpace); }

TEST(Unicode, ClassesOfWellKnownCharacters) {
  EXPECT_EQ(Category('a'), kLetter);
  EXPECT_EQ(Category('7'), kNumber);
  EXPECT_EQ(Category('_'), 0);
  EXPECT_EQ(Category(0x301), kMark);
  EXPECT_EQ(Category(0x4E2D), kLetter);
  EXPECT_EQ(Category(0xBD), kNumber);    // one half: \p{No}
  EXPECT_EQ(Category(0x2167), kNumber);  // Roman numeral: \p{Nl}
  EXPECT_EQ(Category(0x200B), 0);        // zero width space is no White_Space
  EXPECT_EQ(Category(0x180E), 0);        // nor is the Mongolian vowel separator
  EXPECT_EQ(Category(0xFEFF), 0);
  EXPECT_EQ(Category(0x10FFFF), 0);
  for (const char32_t code :
       {0x09, 0x0D, 0x20, 0x85, 0xA0, 0x1680, 0x2000, 0x200A, 0x2028, 0x202F, 0x205F, 0x3000}) {
    EXPECT_EQ(Category(code), kSpace) << static_cast<uint32_t>(code);
  }
}

TEST(Unicode, ClassesAreThoseOfVersion16) {
  EXPECT_EQ(Category(0x105C0), kLetter);  // Todhri, added in 16.0
  EXPECT_EQ(Category(0x10D40), kNumber);  // Garay digit zero, added in 16.0
  EXPECT_EQ(Category(0x113B8), kMark);    // Tulu-Tigalari vowel sign, added in 16.0
  EXPECT_EQ(Category(0x088F), 0);         // an Arabic letter of 17.0
}

TEST(Unicode, AlphabeticIsThatOfVersion15) {
  EXPECT_TRUE(IsAlphabetic(U'Z'));
  EXPECT_TRUE(IsAlphabetic(0x1E4D0));   // Nag Mundari, added in 15.0
  EXPECT_FALSE(IsAlphabetic(0x2EBF0));  // a Han character of 15.1
  EXPECT_FALSE(IsAlphabetic(0x105C0));  // 16.0
  EXPECT_FALSE(IsAlphabetic(0x2167));   // numbers and marks are not letters
  EXPECT_FALSE(IsAlphabetic(0x301));
}

TEST(Unicode, StripRemovesWhatPythonRemoves) {
  EXPECT_EQ(StripPython("  a b\t\n"), "a b");
  EXPECT_EQ(StripPython("\x1c\x1f\u00A0\u3000x\u2029\u0085"), "x");
  EXPECT_EQ(StripPython("\u200Bx\uFEFF"), "\u200Bx\uFEFF");
  EXPECT_EQ(StripPython(" \n "), "");
  EXPECT_EQ(StripPython(""), "");
  EXPECT_EQ(StripPython(" \x80 "), "\x80");
  EXPECT_EQ(StripPython("\u00A0\u00A0"), "");
}

}  // namespace
}  // namespace assay::text

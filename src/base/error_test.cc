#include "assay/error.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(Error, IsOnePrintableLine) {
  const Error error(ErrorKind::kRequest, "questions.a\nb", "bad\tvalue\x01 \u2028 \u0085",
                    "send a string");
  EXPECT_STREQ(error.what(), "questions.a\\nb: bad\\tvalue\\x01 \\u2028 \\x85 (send a string)");
}

TEST(Error, CutsLongNamesBetweenCharacters) {
  std::string name;
  for (int i = 0; i < 500; ++i) name += "\u00e9";
  const std::string shown = OneLine(name, 100);
  EXPECT_LE(shown.size(), 103u);
  EXPECT_NE(shown.find("..."), std::string::npos);
  for (size_t i = 0; i < shown.size(); i += shown[i] == '.' ? 1 : 2) {
    EXPECT_TRUE(shown[i] == '.' || shown.substr(i, 2) == "\u00e9") << i;
  }
}

TEST(Error, KindFixesTheExitCode) {
  EXPECT_EQ(ExitCode(ErrorKind::kUsage), 2);
  EXPECT_EQ(ExitCode(ErrorKind::kFile), 2);
  EXPECT_EQ(ExitCode(ErrorKind::kModel), 3);
  EXPECT_EQ(ExitCode(ErrorKind::kRequest), 4);
}

}  // namespace
}  // namespace assay

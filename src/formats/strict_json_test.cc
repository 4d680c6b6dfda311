#include "formats/strict_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/error.h"
#include "testing/temp_folder.h"

namespace assay::formats {
namespace {

using ::testing::HasSubstr;

std::string Problem(std::string_view text) {
  try {
    ParseStrictJson(text, "config.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kModel);
    return error.what();
  }
  return "";
}

TEST(StrictJson, ReadsWhatIsUnambiguous) {
  EXPECT_EQ(Problem(R"({"a":{"a":1,"b":[{"a":2},{"a":3}]},"b":null})"), "");
}

TEST(StrictJson, RefusesAKeyTwiceInOneObject) {
  EXPECT_EQ(Problem(R"({"b":{"a":1,"\u0061":1}})"),
            "config.json: has the key 'a' twice in one object (keep the one that is right)");
}

TEST(StrictJson, RefusesAZeroByteWhereTheParserWouldStop) {
  EXPECT_THAT(Problem(std::string_view("{}\0{", 4)), HasSubstr("zero byte at byte 2"));
}

TEST(StrictJson, RefusesAnIntegerThatCannotBeChecked) {
  EXPECT_EQ(Problem("{\"a\":" + std::string(400, '7') + "}"),
            "config.json: holds an integer of more than 300 digits (download the file again)");
}

TEST(StrictJson, RefusesBrokenText) {
  EXPECT_THAT(Problem("{\"a\":"), HasSubstr("not valid JSON"));
  EXPECT_THAT(Problem("{\"a\":"), HasSubstr(" (download the file again)"));
  EXPECT_THAT(Problem(std::string(5000, '[')), HasSubstr("levels"));
}

TEST(StrictJson, CallsALeftoverOfADownloadWhatItIs) {
  const assay::testing::TempFolder folder;
  const auto read = [&](std::string_view content) -> std::string {
    try {
      ReadStrictJson(folder.Write("config.json", content), 1000);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(read("<html>401</html>"), HasSubstr("config.json: is a web page"));
  EXPECT_THAT(read(std::string(1001, ' ')), HasSubstr("more than 1000 bytes"));
  EXPECT_EQ(read("{}"), "");
}

}  // namespace
}  // namespace assay::formats

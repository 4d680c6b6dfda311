#include "base/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace assay::json {
namespace {

Value Read(std::string_view text) { return Parse(text, ErrorKind::kRequest, "request"); }

std::string Problem(std::string_view text) {
  try {
    Read(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Json, KeepsKeyOrderAndPrintsAsPython) {
  EXPECT_EQ(PrintPython(Read(R"({"zeta":1,"a":[],"b":{},"c":[1,"x"],"d":{"e":null,"f":true}})")),
            "{\n  \"zeta\": 1,\n  \"a\": [],\n  \"b\": {},\n  \"c\": [\n    1,\n    \"x\"\n  ],\n  "
            "\"d\": {\n"
            "    \"e\": null,\n    \"f\": true\n  }\n}");
}

TEST(Json, AsciiIsWhatJsonDumpsPrintsWithoutArguments) {
  // Read back by CPython 3.11's json.dumps.
  EXPECT_EQ(PrintPythonAscii(
                Read(R"({"a\u00e9":[1,2.5,-0.0,null,true,false],"\ud83d\ude00\uffff":{},"e":[],)"
                     R"("q":"\"\\/\u007f\u0001\n\u2028 ~"})")),
            R"({"a\u00e9": [1, 2.5, -0.0, null, true, false], "\ud83d\ude00\uffff": {}, "e": [], )"
            R"("q": "\"\\/\u007f\u0001\n\u2028 ~"})");
  EXPECT_EQ(PrintPythonAscii(Read("\"x\"")), "\"x\"");
}

TEST(Json, RepeatedKeysKeepFirstPlaceAndLastValue) {
  EXPECT_EQ(PrintCompact(Read(R"({"a":1,"b":2,"a":{"x":1,"y":2,"x":[3]},"\u0062":"last"})")),
            R"({"a":{"x":[3],"y":2},"b":"last"})");
}

TEST(Json, RepeatedKeysInLargeObjects) {
  std::string text = "{";
  for (int i = 0; i < 40; ++i) text += "\"k" + std::to_string(i) + "\":" + std::to_string(i) + ",";
  const Value value = Read(text + "\"k3\":\"early\",\"k30\":\"late\"}");
  ASSERT_EQ(value.members().size(), 40u);
  EXPECT_EQ(value.members()[3].second.string(), "early");
  EXPECT_EQ(value.members()[30].second.string(), "late");
}

TEST(Json, IntegersKeepEveryDigit) {
  const std::string text =
      "[9007199254740993,18446744073709551615,18446744073709551616,-9223372036854775808,-"
      "9223372036854775809,"
      "340282366920938463463374607431768211456,0,-7]";
  EXPECT_EQ(PrintCompact(Read(text)), text);
  EXPECT_EQ(PrintCompact(Read("[-0,-0.0]")), "[0,-0.0]");
}

TEST(Json, IntegersPastTheDoubleRangeKeepEveryDigit) {
  const std::string nines(5000, '9');
  const std::string ones = "-1" + std::string(400, '0');
  // Long floats and long strings stand between them, and are what they are.
  const std::string text =
      "{\"" + nines + "\":[" + nines + ",\"\\\"" + nines + "\"," + ones + ",-2.5]}";
  EXPECT_EQ(PrintCompact(Read(text)), text);
  const std::string zeros(400, '0');
  EXPECT_EQ(PrintCompact(Read("[1." + zeros + "," + nines + ",0." + zeros + "1e401]")),
            "[1.0," + nines + ",1.0]");
  EXPECT_EQ(Read(nines).number(), HUGE_VAL);
  EXPECT_EQ(Read(ones).number(), -HUGE_VAL);
  EXPECT_EQ(Read(nines).int64(), std::nullopt);
}

TEST(Json, LongNumbersThatAreNoneAreRefused) {
  const std::string nines(400, '9');
  for (const std::string& text :
       {nines + "e400", nines + ".5", "0" + nines, "[" + nines + ",1e400]", nines + " " + nines,
        "--" + nines, "[" + nines + ",\"", nines + "x", "[\"\\" + nines}) {
    EXPECT_NE(Problem(text), "") << text;
  }
  EXPECT_LT(Problem(nines + "e400").size(), 200u);
}

TEST(Json, FloatsPrintAsPythonRepr) {
  EXPECT_EQ(
      PrintCompact(
          Read("[1.0,1e16,1e-5,0.1,1E22,2.5e-7,5e-324,0.0001,1e15,1E5,9007199254740993.0,1e-400]")),
      "[1.0,1e+16,1e-05,0.1,1e+22,2.5e-07,5e-324,0.0001,1000000000000000.0,100000.0,"
      "9007199254740992.0,0.0]");
  EXPECT_EQ(PythonFloat(123456789012345680.0), "1.2345678901234568e+17");
  EXPECT_EQ(PythonFloat(-1234.5), "-1234.5");
  EXPECT_EQ(PythonFloat(std::numeric_limits<double>::max()), "1.7976931348623157e+308");
}

TEST(Json, PrintedBytesIsTheLengthOfWhatIsPrinted) {
  for (const char* text :
       {"null", "[]", "{}", "-0.0", "[[[]],[{\"a\":{}}]]",
        R"({"a":[1,2.5,true,null],"\u0001\"\\\n\u00e9":{"b":"\ud83d\ude00"}})"}) {
    EXPECT_EQ(PrintedBytes(Read(text)), PrintPython(Read(text)).size()) << text;
  }
}

TEST(Json, StringsEscapeWhatPythonEscapes) {
  EXPECT_EQ(PrintCompact(Read(R"(["\"\\\/\b\f\n\r\t\u0000\u001f\u007f\u2028\ud83d\ude00\u00e9"])")),
            "[\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0000\\u001f\x7f\u2028\U0001F600\u00e9\"]");
}

TEST(Json, RefusesWhatIsNotJson) {
  for (const char* text : {"",
                           "  ",
                           "{",
                           "[1,]",
                           "{\"a\":1,}",
                           "01",
                           "+1",
                           ".5",
                           "0x1",
                           "'a'",
                           "1 2",
                           "NaN",
                           "-Infinity",
                           "1e400",
                           "[\"\\ud800\"]",
                           "[\"\\udc00\\ud800\"]",
                           "\"\n\"",
                           "// c\n1",
                           "\"\xff\"",
                           "\"\xc0\x80\"",
                           "\"\xed\xa0\x80\"",
                           "\xEF\xBB\xBF{}",
                           "nul"}) {
    EXPECT_NE(Problem(text), "") << text;
  }
}

TEST(Json, SaysWhereItWentWrong) {
  EXPECT_EQ(Problem("{\"a\":}"),
            "request: not valid JSON at byte 6: unexpected '}'; expected '[', '{', or a literal");
}

TEST(Json, AZeroByteIsNotTheEnd) {
  EXPECT_NE(Problem(std::string_view("{\"a\":1}\0 x", 10)), "");
  EXPECT_NE(Problem(std::string_view("{}\0", 3)), "");
}

TEST(Json, ErrorsNeverQuoteTheInput) {
  EXPECT_EQ(Problem("{\"a\": \"\xff\"}"),
            "request: not valid JSON at byte 8: invalid string: ill-formed UTF-8 byte");
}

TEST(Json, DepthIsLimitedWithoutRecursion) {
  EXPECT_EQ(Problem(std::string(256, '[') + std::string(256, ']')), "");
  EXPECT_NE(Problem(std::string(257, '[') + std::string(257, ']')), "");
  EXPECT_NE(Problem(std::string(200000, '[')), "");
}

TEST(Json, TheNumberOfValuesIsLimited) {
  const ParseLimits limits{.max_values = 4};
  EXPECT_NO_THROW(Parse("[1,{\"a\":2}]", ErrorKind::kRequest, "r", limits));
  EXPECT_THROW(Parse("[1,{\"a\":2},3]", ErrorKind::kRequest, "r", limits), Error);
  EXPECT_THROW(Parse("[[],[],[],[]]", ErrorKind::kRequest, "r", limits), Error);
}

TEST(Json, Int64OnlyWhenItFits) {
  EXPECT_EQ(Read("-5").int64(), -5);
  EXPECT_EQ(Read("9223372036854775808").int64(), std::nullopt);
  EXPECT_EQ(Read("5.0").int64(), std::nullopt);
}

}  // namespace
}  // namespace assay::json

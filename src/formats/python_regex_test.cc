#include "formats/python_regex.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "assay/error.h"

namespace assay::formats {
namespace {

using ::testing::HasSubstr;

bool Matches(std::string_view pattern, std::string_view text) {
  uint64_t steps = 0;
  return PythonRegex(pattern, "p").MatchesStart(text, steps);
}

std::string Problem(std::string_view pattern) {
  try {
    const PythonRegex regex(pattern, "p");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kModel);
    return error.message();
  }
  return "";
}

struct Row {
  std::string_view pattern;
  std::string_view text;
  bool matches;  // what Python 3.11's re.match says
};

TEST(PythonRegex, AgreesWithPython) {
  const Row rows[] = {
      {"", "", true},
      {"a", "ab", true},
      {"a$", "ab", false},
      {"b", "ab", false},
      {"a$", "a\n", true},
      {"a\\Z", "a\n", false},
      {"a$", "a\n\n", false},
      {".", "\n", false},
      {"^a^", "a", false},
      {"(^a)|b", "b", true},
      {"(.*\\.)?(q_proj)$", "layers.0.q_proj", true},
      {"(.*\\.)?(q_proj)$", "q_proj", true},
      {"(.*\\.)?(q_proj)$", "xq_proj", false},
      {"(.*\\.)?(.*\\.1\\..*q_proj)$", "layers.1.self_attn.q_proj", true},
      {"(.*\\.)?(.*\\.1\\..*q_proj)$", "layers.11.self_attn.q_proj", false},
      {"(.*\\.)?(layers\\.0\\..*)$", "m.layers.0.mlp.up_proj", true},
      // A key may close the group that peft puts around it.
      {"(.*\\.)?(a)|(b)$", "bx", false},
      {"(.*\\.)?(a)|(b)$", "ax", true},
      {"[0-9]+x", "120x", true},
      {"[^0-9]", "1", false},
      {"[]a]", "]", true},
      {"[^]a]", "]", false},
      {"[a-]", "-", true},
      {"[\\d.-]+$", "1.-2", true},
      {"[a-c-e]+$", "b-e", true},
      {"[\\]]", "]", true},
      {"a{2}$", "aa", true},
      {"a{2}$", "aaa", false},
      {"a{2,}$", "aaaa", true},
      {"a{,2}$", "aaa", false},
      {"a{,}$", "aaa", true},
      {"a{1,3}$", "aaa", true},
      {"a{0}$", "", true},
      {"a{x}", "a{x}", true},
      {"a{", "a{", true},
      {"{}", "{}", true},
      {"a*?$", "aaa", true},
      {"(ab|c)+$", "abcab", true},
      {"(ab|c)+$", "abca", false},
      {"(?:a|)b", "b", true},
      {"(a*)*$", "aaaa", true},
      {"(a|b*)*c", "abbac", true},
      {"\\w+\\.\\d+$", "layers.12", true},
      {"\\W", "a", false},
      {"\\s\\S", " a", true},
      {"\\.", "x", false},
      {"\\_", "_", true},
      {"\\bq\\b", "q.x", true},
      {"q\\B", "q.x", false},
      {"q\\Bx", "qx", true},
      {"\\A.", "q", true},
      {"a|", "", true},
      {"a||b", "b", true},
      {"()", "", true},
      {"a\\n", "a\n", true},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(Matches(row.pattern, row.text), row.matches) << row.pattern << " on " << row.text;
  }
}

TEST(PythonRegex, RefusesWhatItDoesNotRead) {
  EXPECT_EQ(Problem("a(?=b)"),
            "the pattern 'a(?=b)' has a group of the form (?, which is not supported");
  for (const char* pattern : {"(?i)a", "(?P<n>a)", "(?<=a)b", "(?!a)", "\\1", "\\x41", "\\u0041",
                              "\\0", "a*+", "a++", "a?+", "caf\xc3\xa9"}) {
    EXPECT_NE(Problem(pattern), "") << pattern;
  }
}

TEST(PythonRegex, RefusesWhatPythonRefuses) {
  for (const char* pattern : {"(",   ")",     "a)",      "(a",    "[a",  "[",   "[]",     "*a",
                              "+",   "?",     "a**",     "a*{2}", "^*",  "$+",  "a{3,2}", "\\",
                              "\\q", "[b-a]", "[\\d-z]", "(|*)",  "a|*", "{2}", "a|{,1}"}) {
    EXPECT_NE(Problem(pattern), "") << pattern;
  }
}

TEST(PythonRegex, HostilePatternsAreBounded) {
  EXPECT_THAT(Problem("((a{1000}){1000}){1000}"), HasSubstr("needs more than 5000 states"));
  EXPECT_THAT(Problem("((){1000}){1000}"), HasSubstr("repeats too much"));
  EXPECT_THAT(Problem("a{1001}"), HasSubstr("repeats more than 1000 times"));
  EXPECT_THAT(Problem(std::string(60, '(') + "a" + std::string(60, ')')), HasSubstr("too deep"));
  EXPECT_THAT(Problem(std::string(5001, 'a')), HasSubstr("too long"));
  // What makes a backtracking matcher try 2^30 ways.
  uint64_t steps = 0;
  EXPECT_FALSE(
      PythonRegex("(a|a)*(a|a)*(a*)*$", "p").MatchesStart(std::string(1000, 'a') + "b", steps));
  EXPECT_LT(steps, 50'000u);
}

}  // namespace
}  // namespace assay::formats

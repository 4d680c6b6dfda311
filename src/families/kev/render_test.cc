#include "families/kev/render.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace assay::families::kev {
namespace {

json::Value Read(std::string_view text) {
  return json::Parse(text, ErrorKind::kRequest, "request");
}

std::string Rendered(std::string_view text) { return Render(Read(text)); }

json::Value Cases(const std::string& name) {
  const std::filesystem::path file =
      std::filesystem::path(ASSAY_SOURCE_DIR) / "tests/data/cases" / name;
  return json::Parse(ReadFile(file, ErrorKind::kFile, 1 << 20), ErrorKind::kFile, name);
}

// The table of spec kev 4.2.
TEST(KevRender, TheTableOfTheSpecification) {
  EXPECT_EQ(Rendered(R"(["a",["b","c"],{"k":1,"l":[2]}])"),
            "- a\n- - b\n  - c\n- k: 1\n  l:\n    - 2");
  EXPECT_EQ(Rendered(R"({"a":null,"b":[],"c":{},"d":{"e":"x\ny","f":[1,{"g":true}]}})"),
            "a: \nb:\n\nc:\n\nd:\n  e: x\ny\n  f:\n    - 1\n    - g: True");
  EXPECT_EQ(Rendered(R"(["  lead",null,""])"), "- lead\n- \n- ");
  EXPECT_EQ(Rendered(R"({"t":"  lead"})"), "t:   lead");
  EXPECT_EQ(Rendered("[]"), "");
  EXPECT_EQ(Rendered("{}"), "");
}

TEST(KevRender, NumbersAreWhatPythonsStrWrites) {
  EXPECT_EQ(Rendered("[1250.0,1e-7,1e16,-0.0,-0,1e22,0.1,12345678901234567890123,5e-324,1E2,1e15]"),
            "- 1250.0\n- 1e-07\n- 1e+16\n- -0.0\n- 0\n- 1e+22\n- 0.1\n- 12345678901234567890123\n- "
            "5e-324\n- 100.0\n- 1000000000000000.0");
  EXPECT_EQ(Rendered("true"), "True");
  EXPECT_EQ(Rendered("null"), "");
}

// What Python's str.lstrip() takes off the front of an item's whole text, and nothing else.
TEST(KevRender, AnItemLosesTheSpaceInFront) {
  EXPECT_EQ(Rendered("[\"\\u3000\\u001c\\u0085\\u00a0\\u2028 x \"]"), "- x ");
  EXPECT_EQ(Rendered("[\"\\u200b x\"]"), "- \u200b x");  // no white space to Python
  EXPECT_EQ(Rendered("[\" \\n \", \"y\"]"), "- \n- y");  // nothing but space
  EXPECT_EQ(Rendered(R"([{"  ":1,"  b":2}])"), "- : 1\n    b: 2");
  EXPECT_EQ(Rendered(R"([{" ":[" x"]}])"), "- :\n    - x");
  EXPECT_EQ(Rendered(R"([{"":null}])"), "- : ");
  EXPECT_EQ(Rendered(R"([[[]],[[" a"]],{"b":[]}])"), "- - \n- - - a\n- b:\n");
  EXPECT_EQ(Rendered(R"([[], "z"])"), "- \n- z");
}

TEST(KevRender, EveryCaseOfTheJsonTextsIsAsRecorded) {
  const json::Value expected = Cases("26_json_text/expected.json");
  ASSERT_GE(expected.members().size(), 16u);
  for (const auto& [name, row] : expected.members()) {
    const json::Value request = Cases("26_json_text/" + name + ".json");
    EXPECT_EQ(Render(*request.Find("state")), row.Find("kev")->string()) << name;
  }
}

// Time grows with the text alone: a list of lists has one front per level.
TEST(KevRender, DeepListsAreWrittenOnce) {
  const std::string text = std::string(250, '[') + "\"x\"" + std::string(250, ']');
  std::string want;
  for (int i = 0; i < 250; ++i) want += "- ";
  EXPECT_EQ(Rendered(text), want + "x");
}

TEST(KevOption, OnlyNothingAndTheEmptyTextAreNoDescription) {
  const auto option = [](std::string_view description) {
    const json::Value value = Read(description);
    return OptionText("n", &value);
  };
  EXPECT_EQ(OptionText("n", nullptr), "n");
  EXPECT_EQ(option("null"), "n");
  EXPECT_EQ(option("\"\""), "n");
  EXPECT_EQ(option("0"), "n: 0");
  EXPECT_EQ(option("false"), "n: False");
  EXPECT_EQ(option("[]"), "n: ");
  EXPECT_EQ(option("{}"), "n: ");
  EXPECT_EQ(option("[\"a\",\"b\"]"), "n: - a\n- b");
}

TEST(KevEscape, EveryCaseOfControlTokensIsAsRecorded) {
  const json::Value cases = Cases("14_control_tokens/kev_rewrite.json");
  ASSERT_EQ(cases.items().size(), 16u);
  for (const json::Value& item : cases.items()) {
    EXPECT_EQ(Escape(item.items()[0].string()), item.items()[1].string());
  }
}

TEST(KevEscape, MatchesAreLeftmostAndDoNotOverlap) {
  EXPECT_EQ(Escape("<|a|>|b|>"), "<\u00a6a\u00a6>|b|>");
  EXPECT_EQ(Escape("<|a<|b|>"), "<|a<\u00a6b\u00a6>");
  EXPECT_EQ(Escape("<|<|a|>"), "<|<\u00a6a\u00a6>");
  EXPECT_EQ(Escape("<|a|"), "<|a|");
  EXPECT_EQ(Escape("<|"), "<|");
  EXPECT_EQ(Escape("<"), "<");
  EXPECT_EQ(Escape(""), "");
  EXPECT_EQ(Escape("<|a\n|><|A_9|>."), "<|a\n|><\u00a6A_9\u00a6>.");
}

}  // namespace
}  // namespace assay::families::kev

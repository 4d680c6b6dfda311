#include "decide/request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using ::testing::HasSubstr;

Error Problem(std::string_view text) {
  try {
    Request::Parse(text, "in.json").Id();
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorKind::kUsage, "", "accepted");
}

TEST(Request, WithoutAnIdHasNone) {
  EXPECT_EQ(Request::Parse(R"({"state":1})").Id(), std::nullopt);
}

TEST(Request, AnIdIsAnyString) {
  EXPECT_EQ(Request::Parse(R"({"id":"row 7"})").Id(), "row 7");
  EXPECT_EQ(Request::Parse(R"({"id":""})").Id(), "");
  EXPECT_EQ(Request::Parse(R"({"id":1,"id":"last"})").Id(), "last");
}

TEST(Request, AnIdThatIsNoStringIsRefused) {
  for (const char* text : {R"({"id":7})", R"({"id":null})", R"({"id":["a"]})", R"({"id":{}})"}) {
    const Error error = Problem(text);
    EXPECT_EQ(error.kind(), ErrorKind::kRequest) << text;
    EXPECT_EQ(error.where(), "id") << text;
    EXPECT_EQ(error.hint(), "a string") << text;
  }
}

TEST(Request, TextThatIsNoJsonNamesItsSource) {
  for (const char* text : {"", "{", "{'state': 1}", "nonsense"}) {
    const Error error = Problem(text);
    EXPECT_EQ(error.kind(), ErrorKind::kRequest) << text;
    EXPECT_EQ(error.where(), "in.json") << text;
    EXPECT_THAT(error.message(), HasSubstr("not valid JSON")) << text;
    EXPECT_EQ(error.hint(), "a JSON object with state and questions, in UTF-8") << text;
  }
}

TEST(Request, JsonThatIsNoObjectIsRefused) {
  const Error error = Problem("[1]");
  EXPECT_EQ(error.kind(), ErrorKind::kRequest);
  EXPECT_EQ(error.message(), "is an array");
  EXPECT_EQ(error.hint(), "an object with state and questions");
}

TEST(Request, KeepsNumbersAsWritten) {
  EXPECT_EQ(json::PrintCompact(
                Request::Parse(R"({"state":[12345678901234567890123,-0.0,1e5]})").impl().root),
            R"({"state":[12345678901234567890123,-0.0,100000.0]})");
}

TEST(RequestBuilder, BuildsWhatTheJsonSays) {
  RequestBuilder builder;
  builder.StateText("It crashed.")
      .Noul("urgent", "Is it urgent?")
      .Choice("team", "Which team?", {"tech", "billing"})
      .Score("how", "How bad?", {"fine", "fine", "bad"});
  EXPECT_EQ(builder.Build().impl().root,
            Request::Parse(R"({"state":"It crashed.","questions":{)"
                           R"("urgent":{"type":"noul","instructions":"Is it urgent?"},)"
                           R"("team":{"type":"choice","instructions":"Which team?",)"
                           R"("criteria":{"tech":null,"billing":null}},)"
                           R"("how":{"type":"score","instructions":"How bad?",)"
                           R"("criteria":["fine","fine","bad"]}}})")
                .impl()
                .root);
}

TEST(RequestBuilder, AStateIsTextOrJsonOrNull) {
  const auto state = [](const RequestBuilder& builder) {
    return json::PrintCompact(*builder.Build().impl().root.Find("state"));
  };
  RequestBuilder builder;
  EXPECT_EQ(state(builder), "null");
  EXPECT_EQ(state(builder.StateText("{}")), "\"{}\"");
  EXPECT_EQ(state(builder.StateJson("{ \"a\" : 1.50 }", "s.json")), R"({"a":1.5})");
  EXPECT_EQ(state(builder.StateNull()), "null");
}

TEST(RequestBuilder, AStateThatIsNoJsonNamesItsSource) {
  RequestBuilder builder;
  try {
    builder.StateJson("{", "s.json");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kRequest);
    EXPECT_EQ(error.where(), "s.json");
  }
}

std::string Refusal(const std::string& text) {
  try {
    Request::Parse(text, "request");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kRequest);
    return error.what();
  }
  return "";
}

// `count` numbers, `depth` arrays deep.
std::string Numbers(size_t count, size_t depth) {
  std::string text = "1";
  for (size_t i = 1; i < count; ++i) text += ",1";
  return "{\"state\":" + std::string(depth, '[') + text + std::string(depth, ']') + "}";
}

TEST(Request, TheNumberOfValuesIsLimited) {
  EXPECT_EQ(Refusal(Numbers(kMaxRequestValues - 2, 1)), "");
  EXPECT_EQ(Refusal(Numbers(kMaxRequestValues - 1, 1)),
            "request: more than 100000 values (a JSON object with state and questions, in UTF-8)");
}

TEST(Request, IndentationCannotMakeAHugeTextOfASmallOne) {
  EXPECT_EQ(Refusal(Numbers(40'000, 250)),
            "request: has 20326511 bytes when printed with its indentation (at most 16777216)");
  RequestBuilder builder;
  builder.StateJson(std::string(250, '[') + "1" + std::string(250, ']'), "s.json");
  EXPECT_NO_THROW(builder.Build());
}

TEST(RequestBuilder, MayGoOnAfterBuild) {
  RequestBuilder builder;
  builder.Noul("a", "A?");
  const Request first = builder.Build();
  const Request second = builder.Noul("b", "B?").Build();
  EXPECT_EQ(first.impl().root.Find("questions")->members().size(), 1u);
  EXPECT_EQ(second.impl().root.Find("questions")->members().size(), 2u);
}

}  // namespace
}  // namespace assay

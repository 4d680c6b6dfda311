#include "cli/ask.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "decide/request.h"
#include "testing/temp_folder.h"

namespace assay::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::TempFolder;

std::string Printed(const AskOptions& options) {
  return json::PrintCompact(RequestFromOptions(options).impl().root);
}

std::string PrintedState(const std::string& state) {
  AskOptions options;
  options.state = state;
  options.has_state = true;
  return json::PrintCompact(*RequestFromOptions(options).impl().root.Find("state"));
}

template <typename Function>
Error Problem(Function function) {
  try {
    function();
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorKind::kUsage, "", "accepted");
}

Error StateProblem(const std::string& state) {
  return Problem([&] { PrintedState(state); });
}

Error ListProblem(const std::string& option, const std::string& value) {
  return Problem([&] { ParseNamedList(option, value); });
}

TEST(ParseNamedList, SplitsAtTheLastEqualsSignAndAtCommas) {
  const NamedList list = ParseNamedList("--choice", "Is 1+1=2?=yes it is,no");
  EXPECT_EQ(list.text, "Is 1+1=2?");
  EXPECT_THAT(list.parts, ElementsAre("yes it is", "no"));
}

TEST(ParseNamedList, OneAnswerIsEnough) {
  EXPECT_THAT(ParseNamedList("--score", "Q=only").parts, ElementsAre("only"));
}

TEST(ParseNamedList, WithoutAnEqualsSignIsWrongUse) {
  const Error error = ListProblem("--score", "How urgent?");
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_EQ(error.where(), "--score");
  EXPECT_THAT(error.hint(), HasSubstr("--score \"QUESTION=one,two,three\""));
}

TEST(ParseNamedList, AnEmptyAnswerIsWrongUse) {
  for (const char* value : {"Q=", "Q=a,", "Q=,a", "Q=a,,b"})
    EXPECT_EQ(ListProblem("--choice", value).message(), "has an empty answer") << value;
}

TEST(ParseNamedList, OptionsDifferAndLevelsMayRepeat) {
  EXPECT_THAT(ListProblem("--choice", "Q=a,b,a").message(), HasSubstr("'a' twice"));
  EXPECT_THAT(ParseNamedList("--score", "Q=a,b,a").parts, ElementsAre("a", "b", "a"));
}

TEST(RequestFromOptions, AQuestionsTextIsItsName) {
  AskOptions options;
  options.nouls = {"Urgent?"};
  options.choices = {"Team?=tech,billing"};
  options.scores = {"How?=low,high"};
  EXPECT_EQ(
      Printed(options),
      R"({"state":null,"questions":{"Urgent?":{"type":"noul","instructions":"Urgent?"},)"
      R"("Team?":{"type":"choice","instructions":"Team?","criteria":{"tech":null,"billing":null}},)"
      R"("How?":{"type":"score","instructions":"How?","criteria":["low","high"]}}})");
}

TEST(RequestFromOptions, OneTextIsAskedOnce) {
  AskOptions options;
  options.nouls = {"Same?"};
  options.scores = {"Same?=low,high"};
  const Error error = Problem([&] { RequestFromOptions(options); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_EQ(error.where(), "--score");
  EXPECT_THAT(error.message(), HasSubstr("'Same?' is asked twice"));
}

TEST(RequestFromOptions, QuestionsAreUtf8) {
  AskOptions options;
  options.nouls = {"\xff"};
  const Error error = Problem([&] { RequestFromOptions(options); });
  EXPECT_EQ(error.kind(), ErrorKind::kRequest);
  EXPECT_EQ(error.where(), "--noul");
}

TEST(State, IsTheTextItself) {
  EXPECT_EQ(PrintedState("My parcel is late."), "\"My parcel is late.\"");
  EXPECT_EQ(PrintedState(""), "\"\"");
  EXPECT_EQ(PrintedState("{\"a\":1}"), R"("{\"a\":1}")");
  EXPECT_EQ(PrintedState(std::string(5000, 'x')).size(), 5002u);
}

TEST(State, OfATextFileIsItsContentUntouched) {
  const TempFolder folder;
  EXPECT_EQ(PrintedState(folder.Write("state.txt", " a\r\n")), R"(" a\r\n")");
  EXPECT_EQ(PrintedState(folder.Write("note", "{}")), R"("{}")");
}

TEST(State, OfAJsonFileIsItsValue) {
  const TempFolder folder;
  EXPECT_EQ(PrintedState(folder.Write("state.json", "{ \"a\" : [1.50] }\n")), R"({"a":[1.5]})");
}

TEST(State, OfABadJsonFileIsRefusedByName) {
  const TempFolder folder;
  const Error error = StateProblem(folder.Write("state.json", "{"));
  EXPECT_EQ(error.kind(), ErrorKind::kRequest);
  EXPECT_EQ(error.where(), "state.json");
}

TEST(State, ThatLooksLikeAFileMustBeOne) {
  for (const char* name : {"nowhere.json", "nowhere.txt"}) {
    const Error error = StateProblem(name);
    EXPECT_EQ(error.kind(), ErrorKind::kFile) << name;
    EXPECT_EQ(error.where(), name);
    EXPECT_EQ(error.message(), "no such file");
  }
}

TEST(State, OfAFolderIsRefusedByName) {
  const TempFolder folder;
  const Error error = StateProblem(folder.path());
  EXPECT_EQ(error.kind(), ErrorKind::kFile);
  EXPECT_EQ(error.where(), folder.path());
  EXPECT_EQ(error.message(), "is a folder");
}

TEST(State, IsUtf8) {
  const TempFolder folder;
  EXPECT_EQ(StateProblem("\xc3").where(), "--state");
  EXPECT_EQ(StateProblem(folder.Write("latin.txt", "caf\xe9")).where(), "latin.txt");
}

TEST(ParseNamedList, SpacesBesideCommasAreNotPartOfAnAnswer) {
  const NamedList list = ParseNamedList("--choice", "Which?= billing , technical support,sales ");
  EXPECT_EQ(list.parts, (std::vector<std::string>{"billing", "technical support", "sales"}));
  EXPECT_THROW(ParseNamedList("--choice", "Which?=a, ,b"), Error);
}

}  // namespace
}  // namespace assay::cli

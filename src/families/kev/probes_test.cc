#include "families/kev/probes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::families::kev {
namespace {

using ::testing::ElementsAre;

const json::Value& Ticket() {
  static const json::Value value = json::Parse(
      R"({"model":"m","state":{"a":[1]},"questions":{)"
      R"("team":{"type":"choice","criteria":{"returns":"R","shipping":null,"billing":[2]},"x":1},)"
      R"("letters":{"type":"choice","criteria":{"a":null,"b":null,"c":null}},)"
      R"("ok":{"type":"noul"},"bad":{"type":"choice","criteria":[]}},"extra":true})",
      ErrorKind::kRequest, "request");
  return value;
}

std::vector<std::string> Orders(std::string_view question, size_t runs, std::string_view seed) {
  std::vector<std::string> out;
  for (const auto& order : OptionOrders(Ticket(), question, runs, seed))
    out.push_back(fmt::format("{}", fmt::join(order, " ")));
  return out;
}

std::string Refusal(std::string_view question, size_t runs, std::string_view seed) {
  try {
    OptionOrders(Ticket(), question, runs, seed);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kRequest);
    return fmt::format("{}: {}", error.where(), error.message());
  }
  return "accepted";
}

// The vectors of spec kev 7.3.
TEST(Permute, TheVectorsOfTheSpecification) {
  EXPECT_THAT(Orders("letters", 6, "0"),
              ElementsAre("a b c", "a c b", "c b a", "a b c", "a c b", "a c b"));
  EXPECT_THAT(Orders("team", 4, "7"),
              ElementsAre("returns shipping billing", "billing returns shipping",
                          "billing returns shipping", "shipping billing returns"));
}

TEST(Permute, OnlyAnExistingChoiceHasOrders) {
  for (const std::string_view question : {"ok", "none", "bad", ""}) {
    EXPECT_EQ(Refusal(question, 6, "0"), "question: question must be an existing choice question")
        << question;
  }
  EXPECT_EQ(Refusal("team", 0, "0"), "n_perm: is 0");
  EXPECT_EQ(Refusal("team", 65, "0"), "n_perm: is 65");
  EXPECT_EQ(Refusal("team", 64, "0"), "accepted");
  EXPECT_EQ(Refusal("team", 2, "x"), "seed: is not a seed");
}

TEST(Permute, ARunAsksTheChoiceAlone) {
  EXPECT_EQ(json::PrintCompact(WithOrder(Ticket(), "team", {"billing", "returns", "shipping"})),
            R"({"model":"m","state":{"a":[1]},"questions":{"team":{"type":"choice",)"
            R"("criteria":{"billing":[2],"returns":"R","shipping":null},"x":1}},"extra":true})");
}

TEST(Separate, EveryQuestionIsARequestOfItsOwn) {
  EXPECT_EQ(json::PrintCompact(OneQuestion(Ticket(), 2)),
            R"({"model":"m","state":{"a":[1]},"questions":{"ok":{"type":"noul"}},"extra":true})");
  EXPECT_EQ(json::PrintCompact(OneQuestion(Ticket(), 3)),
            R"({"model":"m","state":{"a":[1]},"questions":{"bad":{"type":"choice",)"
            R"("criteria":[]}},"extra":true})");
}

}  // namespace
}  // namespace assay::families::kev

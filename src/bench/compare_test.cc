#include "bench/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::bench {
namespace {

using json::Value;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kReport[] = R"({
  "window": {"name": "w", "cpu": "c", "instruction_set": "avx2", "threads": 2, "assay": "0.1.0",
             "kernels": ["linear: avx2 f32, bf16 weights"]},
  "model": {"name": "m", "weights_bytes": 1000},
  "cells": [{"name": "4 tokens", "median_seconds": 0.5}, {"name": "8 tokens", "median_seconds": 1.0}]
})";

// The report with one text in it replaced.
Value Report(const std::string& from = "", const std::string& to = "") {
  std::string text = kReport;
  if (!from.empty()) text.replace(text.find(from), from.size(), to);
  return json::Parse(text, ErrorKind::kUsage, "report");
}

Error Refusal(const Value& a, const Value& b) {
  try {
    CompareReports(a, "a.json", b, "b.json");
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorKind::kModel, "", "was compared");
}

TEST(BenchCompare, GivesTheRatioOfTheMedians) {
  const Value out = CompareReports(Report(), "a.json", Report(": 1.0", ": 0.75"), "b.json");
  const auto& cells = out.Find("cells")->items();
  ASSERT_EQ(cells.size(), 2u);
  EXPECT_EQ(cells[0].Find("ratio")->number(), 1);
  EXPECT_EQ(cells[1].Find("ratio")->number(), 0.75);
  EXPECT_THAT(CompareText(out), AllOf(HasSubstr("a is a.json"), HasSubstr("0.750")));
}

TEST(BenchCompare, NamesCellsOfOneReportOnly) {
  const Value out = CompareReports(Report(), "a.json", Report("8 tokens", "9 tokens"), "b.json");
  EXPECT_EQ(out.Find("cells")->items().size(), 1u);
  EXPECT_EQ(out.Find("only_in_a")->items()[0].string(), "8 tokens");
  EXPECT_EQ(out.Find("only_in_b")->items()[0].string(), "9 tokens");
}

TEST(BenchCompare, RefusesAnotherWindowByTheFieldThatDiffers) {
  const struct {
    const char* from;
    const char* to;
    const char* where;
  } kDifferences[] = {{R"("w")", R"("x")", "window.name"},
                      {R"("c")", R"("d")", "window.cpu"},
                      {R"("avx2")", R"("avx512")", "window.instruction_set"},
                      {R"("threads": 2)", R"("threads": 3)", "window.threads"},
                      {R"("m")", R"("n")", "model.name"},
                      {"1000", "1001", "model.weights_bytes"}};
  for (const auto& [from, to, where] : kDifferences) {
    const Error error = Refusal(Report(), Report(from, to));
    EXPECT_EQ(error.kind(), ErrorKind::kUsage) << where;
    EXPECT_EQ(error.where(), where);
    EXPECT_THAT(error.message(), AllOf(HasSubstr("a.json"), HasSubstr("b.json")));
  }
}

TEST(BenchCompare, AnotherVersionAndOtherKernelsAreWhatIsCompared) {
  EXPECT_NO_THROW(CompareReports(Report(), "a", Report("0.1.0", "0.2.0"), "b"));
  EXPECT_NO_THROW(CompareReports(Report(), "a", Report("bf16 weights", "packed weights"), "b"));
}

TEST(BenchCompare, AWindowWithoutANameIsNoWindow) {
  const Value report = Report(R"("w")", R"("")");
  EXPECT_EQ(Refusal(report, report).where(), "window.name");
}

TEST(BenchCompare, AFileThatIsNoReportIsNamed) {
  for (const char* text : {"{}", "[]", "3", R"({"window": 3})", R"({"window": {"name": 3}})"}) {
    const Value other = json::Parse(text, ErrorKind::kUsage, "b");
    EXPECT_EQ(Refusal(Report(), other).where(), "b.json") << text;
    EXPECT_EQ(Refusal(other, Report()).where(), "a.json") << text;
  }
  for (const char* median : {"0.0", "-1.0", "true", "\"1\""})
    EXPECT_EQ(Refusal(Report(), Report("0.5", median)).where(), "b.json") << median;
  EXPECT_EQ(Refusal(Report("\"name\": \"4 tokens\", ", ""), Report()).where(), "a.json");
}

TEST(BenchCompare, NoCellInCommonIsRefused) {
  Value other = Report("8 tokens", "9 tokens");
  other.members().back().second.items().erase(other.members().back().second.items().begin());
  EXPECT_EQ(Refusal(Report(), other).where(), "cells");
}

}  // namespace
}  // namespace assay::bench

#include "bench/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/fixtures.h"

namespace assay::bench {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// The tiny model with times that were not measured: 583,680 linear weights, 1,167,360 bytes.
struct Made {
  std::unique_ptr<Bench> bench = std::make_unique<Bench>(testing::TinyD1(), LoadOptions{1, 0});
  Measurement measurement;

  Made() {
    measurement.window.name = "w";
    measurement.cells = {{{10, 0, 0, 0}, 1, 5, 4, {3, 1, 2}},
                         {{30, 0, 0, 0}, 1, 5, 4, {6}},
                         {{0, 1, 80, 20}, 1, 5, 4, {2}},
                         {{0, 5, 80, 20}, 2, 5, 4, {3}}};
    measurement.multiply_adds = 583680.0 * 2 * 10;  // ten rows a second
    measurement.read_bandwidth = 1167360;           // all weights once a second
    measurement.memory = {10, 20, 30, 40, 1806336 * 2, -5};
  }
};

const json::Value& At(const json::Value& report, std::string_view part, std::string_view key) {
  return *report.Find(part)->Find(key);
}

TEST(BenchReport, FiguresFollowFromTimesAndLimits) {
  const Made made;
  const json::Value report = ReportJson(*made.bench, made.measurement);
  EXPECT_EQ(At(report, "model", "linear_weights").int64(), 583680);
  EXPECT_EQ(At(report, "machine", "compute_bound_from_rows").int64(), 11);
  const auto& cells = report.Find("cells")->items();
  const auto number = [&](size_t cell, const char* key) { return cells[cell].Find(key)->number(); };
  EXPECT_EQ(number(0, "median_seconds"), 2);
  EXPECT_EQ(number(0, "tokens_per_second"), 5);
  EXPECT_DOUBLE_EQ(number(0, "share_of_multiply_adds"), 0.5);
  EXPECT_DOUBLE_EQ(number(0, "share_of_read_bandwidth"), 0.5);
  EXPECT_DOUBLE_EQ(number(3, "share_of_read_bandwidth"), 2.0 / 3);  // two passes
  EXPECT_DOUBLE_EQ(number(3, "ratio_to_one_question"), 1.5);
  EXPECT_DOUBLE_EQ(At(report, "call_cost", "seconds_per_token").number(), 0.2);
  EXPECT_NEAR(At(report, "call_cost", "fixed_seconds").number(), 0, 1e-12);
  EXPECT_DOUBLE_EQ(At(report, "memory", "peak_to_bf16").number(), 2);
  EXPECT_EQ(At(report, "memory", "grown_bytes").int64(), -5);
}

TEST(BenchReport, OneLengthHasNoCallCost) {
  Made made;
  made.measurement.cells.resize(1);
  const json::Value report = ReportJson(*made.bench, made.measurement);
  EXPECT_TRUE(report.Find("call_cost")->is_null());
  EXPECT_THAT(ReportText(report), Not(HasSubstr("call cost")));
}

TEST(BenchReport, TheTableHasALineForEachCell) {
  const Made made;
  const std::string text = ReportText(ReportJson(*made.bench, made.measurement));
  for (const char* part : {"10 tokens", "5 questions of 20 on 80", "window        w", "call cost",
                           "5 take 1.50 times as long as one", "grown by -5 bytes"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST(BenchReport, TimesAreShownWithThreeDigits) {
  EXPECT_EQ(ShowSeconds(12.34), "12.3 s");
  EXPECT_EQ(ShowSeconds(1), "1.00 s");
  EXPECT_EQ(ShowSeconds(0.9999), "1.00 s");
  EXPECT_EQ(ShowSeconds(0.123), "123 ms");
  EXPECT_EQ(ShowSeconds(0.00999), "9.99 ms");
  EXPECT_EQ(ShowSeconds(3.21e-6), "3.21 us");
  EXPECT_EQ(ShowSeconds(-0.05), "-50.0 ms");
  EXPECT_EQ(ShowSeconds(0), "0.00 us");
}

}  // namespace
}  // namespace assay::bench

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/check.h"
#include "base/memory.h"
#include "bench/report.h"

namespace assay::bench {
namespace {

using json::Value;

constexpr size_t kNameWidth = 30;

const Value& Member(const Value& value, std::string_view key) {
  const Value* found = value.Find(key);
  ASSAY_CHECK(found != nullptr);
  return *found;
}

std::string Text(const Value& value, std::string_view key) {
  return OneLine(Member(value, key).string(), 80);
}
double Number(const Value& value, std::string_view key) { return Member(value, key).number(); }

std::string Bytes(const Value& value, std::string_view key) {
  return ShowBytes(static_cast<size_t>(Number(value, key)));
}

std::string Line(std::string_view name, const std::string& value) {
  return fmt::format("{:<14}{}\n", name, value);
}

std::string WindowText(const Value& window) {
  std::string kernels;
  for (const Value& name : Member(window, "kernels").items())
    kernels += (kernels.empty() ? "" : "; ") + name.string();
  std::string out;
  if (!Text(window, "name").empty()) out += Line("window", Text(window, "name"));
  out +=
      Line("machine",
           fmt::format("{}, {}, {:.0f} threads, load average {:.2f} to {:.2f}", Text(window, "cpu"),
                       Text(window, "instruction_set"), Number(window, "threads"),
                       Number(window, "load_average_start"), Number(window, "load_average_end")));
  return out + Line("kernels", kernels);
}

std::string LimitsText(const Value& machine) {
  std::string unit;
  if (machine.Find("bf16_unit_gflops") != nullptr)
    unit = fmt::format("{:.0f} of the bf16 unit, ", Number(machine, "bf16_unit_gflops"));
  return Line("limits",
              fmt::format("{:.1f} GFLOP/s of fp32 multiply-adds, {}{:.1f} GB/s read; multiply-adds "
                          "take longer from {:.0f} rows on",
                          Number(machine, "multiply_adds_gflops"), unit,
                          Number(machine, "read_gb_per_second"),
                          Number(machine, "compute_bound_from_rows")));
}

std::string CellsText(const Value& cells) {
  std::string out =
      fmt::format("\n{:<{}}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{:>6}{:>6}{:>7}\n", "", kNameWidth,
                  "median", "p10", "p90", "first", "second", "tokens/s", "peak", "read", "calls");
  for (const Value& cell : cells.items()) {
    const std::string_view share = cell.Find("share_of_bf16_unit") != nullptr
                                       ? "share_of_bf16_unit"
                                       : "share_of_multiply_adds";
    const auto time = [&](std::string_view key) { return ShowSeconds(Number(cell, key)); };
    out += fmt::format("{:<{}}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9.0f}{:>4.0f} %{:>4.0f} %{:>7.0f}\n",
                       Text(cell, "name"), kNameWidth, time("median_seconds"), time("p10_seconds"),
                       time("p90_seconds"), time("first_seconds"), time("second_seconds"),
                       Number(cell, "tokens_per_second"), 100 * Number(cell, share),
                       100 * Number(cell, "share_of_read_bandwidth"), Number(cell, "repeats"));
  }
  return out + "\n";
}

std::string RatiosText(const Value& cells) {
  std::string ratios;
  for (const Value& cell : cells.items()) {
    const Value* ratio = cell.Find("ratio_to_one_question");
    if (ratio == nullptr || Number(cell, "questions") == 1) continue;
    ratios += fmt::format("{}{:.0f} take {:.2f} times as long as one", ratios.empty() ? "" : ", ",
                          Number(cell, "questions"), ratio->number());
  }
  return ratios.empty() ? "" : Line("questions", ratios);
}

std::string MemoryText(const Value& memory) {
  return Line("memory",
              fmt::format("start {}, loaded {}, first item {}, end {}, peak {} ({:.2f} x the "
                          "decoder in bf16), grown by {:.0f} bytes",
                          Bytes(memory, "start_bytes"), Bytes(memory, "loaded_bytes"),
                          Bytes(memory, "first_item_bytes"), Bytes(memory, "end_bytes"),
                          Bytes(memory, "peak_bytes"), Number(memory, "peak_to_bf16"),
                          Number(memory, "grown_bytes")));
}

}  // namespace

std::string ShowSeconds(double seconds) {
  const struct {
    double unit;
    const char* name;
  } kUnits[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}};
  for (const auto& [unit, name] : kUnits) {
    const double value = seconds / unit;
    if (std::abs(value) < 0.9995 && unit > 1e-6) continue;
    const int decimals = std::abs(value) < 9.995 ? 2 : std::abs(value) < 99.95 ? 1 : 0;
    return fmt::format("{:.{}f} {}", value, decimals, name);
  }
  return "";
}

std::string ReportText(const Value& report) {
  const Value& model = Member(report, "model");
  const Value& load = Member(report, "load");
  const Value& cells = Member(report, "cells");
  std::string out =
      Line("model", fmt::format("{} ({}), {} of {} weights, {} of them linear", Text(model, "name"),
                                Text(model, "family"), Bytes(model, "weights_bytes"),
                                Text(model, "weights"), Bytes(model, "linear_bytes")));
  out += WindowText(Member(report, "window")) + LimitsText(Member(report, "machine"));
  out +=
      Line("load",
           fmt::format("{}, again {}; opening call ({}) {}", ShowSeconds(Number(load, "seconds")),
                       ShowSeconds(Number(load, "warm_seconds")), Text(load, "opening_call"),
                       ShowSeconds(Number(load, "opening_call_seconds"))));
  out += CellsText(cells);
  if (const Value& cost = Member(report, "call_cost"); !cost.is_null()) {
    out +=
        Line("call cost", fmt::format("{} + {} a token", ShowSeconds(Number(cost, "fixed_seconds")),
                                      ShowSeconds(Number(cost, "seconds_per_token"))));
  }
  return out + RatiosText(cells) + MemoryText(Member(report, "memory"));
}

}  // namespace assay::bench

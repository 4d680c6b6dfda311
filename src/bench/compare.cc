#include "bench/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "bench/report.h"

namespace assay::bench {
namespace {

using json::Value;

// A report with what to call it.
struct Side {
  const Value& report;
  const std::string& name;
};

struct Field {
  std::string_view part;
  std::string_view key;
  json::Kind kind;
};

// What a window shares. Times of two machines, of two loads of one machine, or of two models say
// nothing about two programs. The version and the kernels may differ: they are what is compared.
constexpr Field kShared[] = {
    {"window", "name", json::Kind::kString},
    {"window", "cpu", json::Kind::kString},
    {"window", "instruction_set", json::Kind::kString},
    {"window", "threads", json::Kind::kInteger},
    {"model", "name", json::Kind::kString},
    {"model", "weights_bytes", json::Kind::kInteger},
};

[[noreturn]] void NoReport(const Side& side, std::string_view what) {
  throw Error(ErrorKind::kUsage, side.name, fmt::format("is no report of assay bench: {}", what),
              "a file that assay bench --out wrote");
}

const Value& Member(const Side& side, const Value& value, std::string_view key, json::Kind kind) {
  const Value* found = value.Find(key);
  if (found == nullptr || found->kind() != kind) {
    NoReport(side, fmt::format("it has no {} that is {}", key, json::KindName(kind)));
  }
  return *found;
}

const Value& Shared(const Side& side, const Field& field) {
  return Member(side, Member(side, side.report, field.part, json::Kind::kObject), field.key,
                field.kind);
}

void RequireOneWindow(const Side& a, const Side& b) {
  for (const Field& field : kShared) {
    const Value& one = Shared(a, field);
    const Value& other = Shared(b, field);
    if (one == other) continue;
    throw Error(ErrorKind::kUsage, fmt::format("{}.{}", field.part, field.key),
                fmt::format("is {} in {} and {} in {}", json::PrintCompact(one), a.name,
                            json::PrintCompact(other), b.name),
                "two reports of one window: same name, CPU, instruction set, threads and model");
  }
  if (Shared(a, kShared[0]).string().empty()) {
    throw Error(ErrorKind::kUsage, "window.name", "is empty in both reports",
                "both made with one --window NAME");
  }
}

const std::vector<Value>& Cells(const Side& side) {
  return Member(side, side.report, "cells", json::Kind::kArray).items();
}

std::string NameOf(const Side& side, const Value& cell) {
  return Member(side, cell, "name", json::Kind::kString).string();
}

double MedianOf(const Side& side, const Value& cell) {
  const Value& median = Member(side, cell, "median_seconds", json::Kind::kFloat);
  if (!(median.number() > 0)) NoReport(side, "a median is not above 0");
  return median.number();
}

const Value* CellCalled(const Side& side, const std::string& name) {
  const auto& cells = Cells(side);
  const auto found = std::find_if(cells.begin(), cells.end(),
                                  [&](const Value& cell) { return NameOf(side, cell) == name; });
  return found == cells.end() ? nullptr : &*found;
}

// Names of the cells of `side` that `other` lacks.
Value OnlyIn(const Side& side, const Side& other) {
  Value names = Value::Array();
  for (const Value& cell : Cells(side)) {
    const std::string name = NameOf(side, cell);
    if (CellCalled(other, name) == nullptr) names.items().push_back(Value::String(name));
  }
  return names;
}

}  // namespace

Value CompareReports(const Value& a, const std::string& name_a, const Value& b,
                     const std::string& name_b) {
  const Side one{a, name_a};
  const Side other{b, name_b};
  RequireOneWindow(one, other);
  Value cells = Value::Array();
  for (const Value& cell : Cells(one)) {
    const Value* match = CellCalled(other, NameOf(one, cell));
    if (match == nullptr) continue;
    const double before = MedianOf(one, cell);
    const double after = MedianOf(other, *match);
    cells.items().push_back(Value::Object({{"name", Value::String(NameOf(one, cell))},
                                           {"a_median_seconds", Value::Float(before)},
                                           {"b_median_seconds", Value::Float(after)},
                                           {"ratio", Value::Float(after / before)}}));
  }
  if (cells.items().empty()) {
    throw Error(ErrorKind::kUsage, "cells", fmt::format("{} and {} share none", name_a, name_b),
                "the same --tokens or --questions");
  }
  return Value::Object({{"window", Shared(one, kShared[0])},
                        {"a", Value::String(name_a)},
                        {"b", Value::String(name_b)},
                        {"cells", std::move(cells)},
                        {"only_in_a", OnlyIn(one, other)},
                        {"only_in_b", OnlyIn(other, one)}});
}

std::string CompareText(const Value& comparison) {
  std::string out = fmt::format(
      "window {}: a is {}, b is {}\n", OneLine(comparison.Find("window")->string(), 60),
      OneLine(comparison.Find("a")->string(), 60), OneLine(comparison.Find("b")->string(), 60));
  out += fmt::format("{:<30}{:>10}{:>10}{:>8}\n", "median", "a", "b", "b / a");
  for (const Value& cell : comparison.Find("cells")->items()) {
    out += fmt::format("{:<30}{:>10}{:>10}{:>8.3f}\n", OneLine(cell.Find("name")->string(), 30),
                       ShowSeconds(cell.Find("a_median_seconds")->number()),
                       ShowSeconds(cell.Find("b_median_seconds")->number()),
                       cell.Find("ratio")->number());
  }
  for (const char* side : {"a", "b"}) {
    for (const Value& name : comparison.Find(std::string("only_in_") + side)->items())
      out += fmt::format("{:<30}only in {}\n", OneLine(name.string(), 30), side);
  }
  return out;
}

}  // namespace assay::bench

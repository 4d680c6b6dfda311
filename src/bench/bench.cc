#include "assay/bench.h"

#include "base/json.h"
#include "bench/compare.h"
#include "bench/measure.h"
#include "bench/report.h"

namespace assay {

using json::Value;

namespace {

// A field of a line of input, or what stands for it when it is left out.
size_t CountOf(const Value& line, std::string_view field, size_t otherwise) {
  const Value* value = line.Find(field);
  if (value == nullptr) return otherwise;
  const std::optional<int64_t> count = value->int64();
  if (count && *count >= 0) return static_cast<size_t>(*count);
  throw Error(ErrorKind::kRequest, field, "is not a whole number", "1 or more");
}

// A short run reaches every weight, so that the first call that is asked for is not the one that
// reads the file.
constexpr size_t kWarmUpTokens = 64;
constexpr int kWarmUpCalls = 3;

}  // namespace

BenchReport RunBench(const std::filesystem::path& folder, const BenchOptions& options) {
  std::unique_ptr<bench::Bench> model;
  const bench::Measurement measurement = bench::Measure(folder, options, model);
  const Value report = bench::ReportJson(*model, measurement);
  return {json::PrintPython(report), bench::ReportText(report)};
}

BenchReport CompareBench(const BenchFile& a, const BenchFile& b) {
  const Value comparison =
      bench::CompareReports(json::Parse(a.text, ErrorKind::kUsage, a.name), a.name,
                            json::Parse(b.text, ErrorKind::kUsage, b.name), b.name);
  return {json::PrintPython(comparison), bench::CompareText(comparison)};
}

struct BenchServer::Impl {
  BenchOptions options;
  mutable bench::Bench model;
  bench::Work work;

  Impl(const std::filesystem::path& folder, const BenchOptions& asked)
      : options(asked), model(folder, asked.load), work(*model.family, model.threads) {
    bench::CheckCell({0, 1, bench::StateTokens(options, model.row_limit), options.question_tokens},
                     model.row_limit, bench::Asker::kOption);
    const bench::Cell cell{std::min(kWarmUpTokens, model.row_limit), 0, 0, 0};
    for (int i = 0; i < kWarmUpCalls; ++i) work.Seconds(cell);
  }

  bench::Cell CellOf(std::string_view text) const {
    const Value line = json::Parse(text, ErrorKind::kRequest, "line");
    const bool row = line.Find("tokens") != nullptr;
    if (row == (line.Find("questions") != nullptr)) {
      throw Error(ErrorKind::kRequest, "line", "asks for no one thing",
                  R"({"tokens": N} or {"questions": Q, "state": S, "question_tokens": T})");
    }
    bench::Cell cell;
    if (row) {
      cell.tokens = CountOf(line, "tokens", 0);
    } else {
      cell.questions = CountOf(line, "questions", 0);
      cell.question_tokens = CountOf(line, "question_tokens", options.question_tokens);
      cell.state = CountOf(line, "state", bench::StateTokens(options, model.row_limit));
      if (cell.questions == 0)
        throw Error(ErrorKind::kRequest, "questions", "0 questions are no work", "1 or more");
    }
    bench::CheckCell(cell, model.row_limit, bench::Asker::kLine);
    return cell;
  }
};

BenchServer::BenchServer(const std::filesystem::path& folder, const BenchOptions& options)
    : impl_(std::make_unique<Impl>(folder, options)) {}

BenchServer::~BenchServer() = default;

std::string BenchServer::ReadyLine() const {
  const Value ready = Value::Object(
      {{"window", bench::WindowJson(bench::OpenWindow(impl_->model, impl_->options.window))},
       {"model", bench::ModelJson(impl_->model)},
       {"load_seconds", Value::Float(impl_->model.load_seconds)}});
  return json::PrintCompact(Value::Object({{"ready", ready}}));
}

std::string BenchServer::Run(std::string_view line) const {
  const double seconds = impl_->work.Seconds(impl_->CellOf(line));
  return json::PrintCompact(Value::Object({{"seconds", Value::Float(seconds)}}));
}

}  // namespace assay

#include "bench/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>

#include "base/cores.h"
#include "base/file.h"
#include "base/memory.h"
#include "decide/run.h"
#include "families/registry.h"
#include "kernels/cpu_level.h"
#include "kernels/kernel_names.h"
#include "kernels/peak.h"

namespace assay::bench {
namespace {

constexpr size_t kStateTokens = 1500;
constexpr double kSecondsPerCell = 1;
constexpr size_t kMinRounds = 5;
constexpr size_t kMaxRounds = 2000;
constexpr size_t kMemoryRounds = 3;  // that may not grow the resident memory

double Seconds(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string CpuName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

double LoadAverage() {
  double average = 0;
  return getloadavg(&average, 1) == 1 ? average : 0;
}

void AddCells(const std::vector<size_t>& counts, std::string_view option, const Cell& like,
              size_t Cell::* field, std::vector<Cell>& cells) {
  for (size_t i = 0; i < counts.size(); ++i) {
    const auto here = counts.begin() + static_cast<ptrdiff_t>(i);
    if (std::find(counts.begin(), here, counts[i]) != here) {
      throw Error(ErrorKind::kUsage, option, fmt::format("{} is listed twice", counts[i]),
                  "each number once");
    }
    cells.push_back(like);
    cells.back().*field = counts[i];
  }
}

void Show(const BenchOptions& options, double share, const std::string& note) {
  if (options.progress) options.progress(share, note);
}

// First and second call of every cell, the opening call of the process among them.
void RunFirstCalls(const Work& work, const BenchOptions& options, Measurement& out) {
  for (size_t i = 0; i < out.cells.size(); ++i) {
    CellTimes& times = out.cells[i];
    Show(options, 0.2 * static_cast<double>(i) / static_cast<double>(out.cells.size()),
         "first calls: " + times.cell.Name());
    times.first = work.Seconds(times.cell);
    if (i == 0) out.memory.first_item = ReadResidentMemory().now;
    times.second = work.Seconds(times.cell);
    times.passes = work.Passes(times.cell);
  }
}

// One call of every cell in turn, `rounds` times: what disturbs the machine for a while disturbs
// all cells alike.
void RunRounds(const Work& work, const BenchOptions& options, size_t counted, Measurement& out) {
  const size_t rounds = std::max(counted, kMemoryRounds);
  const auto before = static_cast<int64_t>(ReadResidentMemory().now);
  for (size_t round = 0; round < rounds; ++round) {
    for (CellTimes& times : out.cells) {
      Show(options, 0.2 + 0.7 * static_cast<double>(round) / static_cast<double>(rounds),
           fmt::format("round {} of {}: {}", round + 1, rounds, times.cell.Name()));
      const double seconds = work.Seconds(times.cell);
      if (round < counted) times.seconds.push_back(seconds);
    }
    if (round + 1 == kMemoryRounds)
      out.memory.grown = static_cast<int64_t>(ReadResidentMemory().now) - before;
  }
}

// Seconds of a warm-up round, which runs every cell once.
double WarmUp(const Work& work, const Measurement& measurement) {
  double seconds = 0;
  for (const CellTimes& times : measurement.cells) seconds += work.Seconds(times.cell);
  return seconds;
}

size_t RoundsFor(const BenchOptions& options, size_t cells, double seconds_per_round) {
  if (options.repeats > 0) return options.repeats;
  const double rounds = kSecondsPerCell * static_cast<double>(cells) / seconds_per_round;
  return std::clamp(static_cast<size_t>(std::min(rounds, 1e9)), kMinRounds, kMaxRounds);
}

}  // namespace

Bench::Bench(const std::filesystem::path& folder, const LoadOptions& options)
    : name(FolderName(folder)), threads(options.threads == 0 ? UsableCores() : options.threads) {
  const auto start = std::chrono::steady_clock::now();
  family = families::LoadFamily(folder, decide::FamilyOptions(options, threads.count()));
  load_seconds = Seconds(start);
  description = family->Describe(false);
  row_limit = RowLimit(description);
}

size_t StateTokens(const BenchOptions& options, size_t row_limit) {
  const size_t room = row_limit > options.question_tokens ? row_limit - options.question_tokens : 1;
  return options.state.value_or(std::min(kStateTokens, room));
}

std::vector<Cell> CellsOf(const BenchOptions& options, size_t row_limit) {
  std::vector<Cell> cells;
  AddCells(options.tokens, "--tokens", {}, &Cell::tokens, cells);
  const Cell questions{0, 0, StateTokens(options, row_limit), options.question_tokens};
  AddCells(options.questions, "--questions", questions, &Cell::questions, cells);
  for (size_t i = 0; i < cells.size(); ++i) {
    if (i >= options.tokens.size() && cells[i].questions == 0) {
      throw Error(ErrorKind::kUsage, "--questions", "0 questions are no work", "1 or more");
    }
    CheckCell(cells[i], row_limit, Asker::kOption);
  }
  if (cells.empty()) {
    throw Error(ErrorKind::kUsage, "command line", "nothing is to be measured",
                "lengths by --tokens, or numbers of questions by --questions");
  }
  return cells;
}

Window OpenWindow(const Bench& bench, const std::string& name) {
  const nn::Decoder& decoder = bench.family->decoder();
  Window window;
  window.name = name;
  window.cpu = CpuName();
  window.instruction_set = kernels::CpuLevelName(kernels::RunningLevel());
  window.kernels =
      kernels::KernelNames(decoder.linear_weights(), decoder.compute(), decoder.other_kernels());
  window.threads = bench.threads.count();
  window.load_start = window.load_end = LoadAverage();
  return window;
}

Measurement Measure(const std::filesystem::path& folder, const BenchOptions& options,
                    std::unique_ptr<Bench>& bench) {
  const kernels::PeakOptions peaks;
  RequireMemory({0, peaks.buffer_bytes, 0}, MemoryLimits(), "bench");
  Measurement out;
  out.memory.start = ReadResidentMemory().now;
  Show(options, 0, "loading");
  bench = std::make_unique<Bench>(folder, options.load);
  out.memory.loaded = ReadResidentMemory().now;
  for (const Cell& cell : CellsOf(options, bench->row_limit))
    out.cells.push_back({cell, 0, 0, 0, {}});
  out.window = OpenWindow(*bench, options.window);
  const Work work(*bench->family, bench->threads);
  RunFirstCalls(work, options, out);
  const double round_seconds = WarmUp(work, out);
  RunRounds(work, options, RoundsFor(options, out.cells.size(), round_seconds), out);
  const ResidentMemory memory = ReadResidentMemory();
  out.memory.end = memory.now;
  out.memory.peak = memory.peak;
  // After the memory was read: both take some of their own.
  Show(options, 0.9, "second load, machine peaks");
  const auto start = std::chrono::steady_clock::now();
  families::LoadFamily(folder, decide::FamilyOptions(options.load, bench->threads.count()));
  out.warm_load_seconds = Seconds(start);
  out.multiply_adds = kernels::MultiplyAddsPeak(bench->threads, peaks);
  if (const kernels::Bf16Unit* unit = bench->family->decoder().compute().unit; unit != nullptr)
    out.bf16_peak = kernels::Bf16Peak(bench->threads, *unit, peaks);
  out.read_bandwidth = kernels::ReadBandwidth(bench->threads, peaks);
  out.window.load_end = LoadAverage();
  return out;
}

}  // namespace assay::bench

// The protocol of a window: what is run, in what order, and what is timed (docs/bench.md).
#pragma once

#include <filesystem>
#include <memory>

#include "assay/bench.h"
#include "bench/work.h"

namespace assay::bench {

// A model with what runs it.
struct Bench {
  std::string name;
  std::unique_ptr<families::Family> family;
  families::ModelDescription description;
  size_t row_limit = 0;
  double load_seconds = 0;
  Threads threads;

  Bench(const std::filesystem::path& folder, const LoadOptions& options);
};

// What stays the same while a window is measured, and the load average around it.
struct Window {
  std::string name;
  std::string cpu;
  std::string instruction_set;
  std::vector<std::string> kernels;
  size_t threads = 0;
  double load_start = 0;
  double load_end = 0;
};

struct CellTimes {
  Cell cell;
  size_t passes = 0;  // how often a call reads the weights
  double first = 0;   // seconds of the first call of this cell, and of the second
  double second = 0;
  std::vector<double> seconds;  // of the calls that count
};

struct MemoryBytes {
  size_t start = 0;  // before the model is loaded
  size_t loaded = 0;
  size_t first_item = 0;  // after the opening call
  size_t end = 0;
  size_t peak = 0;
  int64_t grown = 0;  // from before to after three times all cells
};

struct Measurement {
  Window window;
  MemoryBytes memory;
  std::vector<CellTimes> cells;  // rows, then questions, as asked for
  double warm_load_seconds = 0;  // of a second load
  double multiply_adds = 0;      // operations a second that the machine reaches
  double bf16_peak = 0;          // of the bf16 unit, when the model runs on it
  double read_bandwidth = 0;     // bytes a second
};

// The cells that the options ask for, checked.
std::vector<Cell> CellsOf(const BenchOptions& options, size_t row_limit);
// Tokens of the state: as asked for, or as many of the default as a row takes.
size_t StateTokens(const BenchOptions& options, size_t row_limit);

Window OpenWindow(const Bench& bench, const std::string& name);

// Loads the model into `bench` and measures it.
Measurement Measure(const std::filesystem::path& folder, const BenchOptions& options,
                    std::unique_ptr<Bench>& bench);

}  // namespace assay::bench

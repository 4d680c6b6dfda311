// Measuring a model on this machine: times, memory, and the share of what the machine can do.
// docs/bench.md says what each figure is. In CMake, link `assay_bench`.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/model.h"

namespace assay {

struct BenchOptions {
  std::vector<size_t> tokens = {16, 39, 64, 94, 128, 256, 402};  // lengths of single rows
  std::vector<size_t> questions = {1, 5, 20};  // numbers of questions about one state
  std::optional<size_t> state;                 // its tokens; 1,500 or what the row limit leaves
  size_t question_tokens = 20;
  size_t repeats = 0;  // 0: about a second for each length and number, at least 5
  std::string window;  // runs that are to be compared bear one name
  LoadOptions load;
  // Called now and then with the share of the work that is done, and what is being done.
  std::function<void(double share, const std::string& note)> progress;
};

// What a command prints: JSON (indent two), or lines for people.
struct BenchReport {
  std::string json;
  std::string text;
};

// Loads the model and measures it. Throws Error(kUsage) for a length that the model does not take.
BenchReport RunBench(const std::filesystem::path& folder, const BenchOptions& options);

// A report's JSON and what to call it in messages.
struct BenchFile {
  std::string name;
  std::string text;
};

// Medians of `b` over those of `a`. Throws Error(kUsage), naming the field that differs, unless
// both were made in one window.
BenchReport CompareBench(const BenchFile& a, const BenchFile& b);

// Measures what it is asked to, one call at a time: for taking turns with another program.
class BenchServer {
 public:
  // Loads the model and runs it a little. Of the options: state, question_tokens, window, load.
  BenchServer(const std::filesystem::path& folder, const BenchOptions& options);
  ~BenchServer();

  // {"ready": what is measured} on one line.
  std::string ReadyLine() const;
  // `line` is {"tokens": N} or {"questions": Q, "state": S, "question_tokens": T}, the last two
  // optional. Runs it once: {"seconds": ...} on one line. Throws Error(kRequest).
  std::string Run(std::string_view line) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace assay

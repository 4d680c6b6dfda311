// A progress line on standard error, on a terminal only.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace assay::cli {

class Progress {
 public:
  // `total` units of work; 0 when it is not known. Shows nothing unless `shown`.
  Progress(size_t total, bool shown);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `done` of the units are over; `note` says what came out ("12 answered, 1 refused"). Draws at
  // most ten times a second.
  void Update(size_t done, const std::string& note);
  // Wipes the line.
  void Finish();

  // The line itself, for tests: a bar, percent, note, speed and time left.
  static std::string Text(size_t done, size_t total, const std::string& note, double seconds);

 private:
  using Clock = std::chrono::steady_clock;
  size_t total_;
  bool shown_;
  bool drawn_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;
};

}  // namespace assay::cli

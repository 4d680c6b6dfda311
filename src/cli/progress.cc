#include "cli/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "assay/error.h"
#include "cli/output.h"

namespace assay::cli {
namespace {

constexpr size_t kBarWidth = 24;
constexpr auto kBetweenDraws = std::chrono::milliseconds(100);
constexpr char kWipe[] = "\r\x1b[K";

std::string Clocked(double seconds) {
  const auto whole = std::lround(seconds);
  return fmt::format("{}:{:02d}", whole / 60, whole % 60);
}

// Progress is a courtesy: a standard error that cannot be written to is no reason to stop the work.
void Show(const std::string& text) {
  try {
    WriteText(STDERR_FILENO, "standard error", text);
  } catch (const Error&) {
    return;
  }
}

}  // namespace

Progress::Progress(size_t total, bool shown) : total_(total), shown_(shown) {}

Progress::~Progress() { Finish(); }

std::string Progress::Text(size_t done, size_t total, const std::string& note, double seconds) {
  if (total == 0) return fmt::format("{}, {}", note, Clocked(seconds));
  const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
  const auto filled = static_cast<size_t>(share * kBarWidth);
  const std::string bar = std::string(filled, '#') + std::string(kBarWidth - filled, '.');
  const std::string left =
      share > 0 ? fmt::format(", {} left", Clocked(seconds / share * (1 - share))) : "";
  return fmt::format("[{}] {:3d} %  {}{}", bar, static_cast<int>(share * 100), note, left);
}

void Progress::Update(size_t done, const std::string& note) {
  if (!shown_) return;
  const Clock::time_point now = Clock::now();
  if (now - last_ < kBetweenDraws) return;
  last_ = now;
  drawn_ = true;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  Show(kWipe + Text(done, total_, note, seconds));
}

void Progress::Finish() {
  if (!drawn_) return;
  drawn_ = false;
  Show(kWipe);
}

}  // namespace assay::cli

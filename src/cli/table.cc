#include "cli/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "assay/error.h"
#include "base/utf8.h"

namespace assay::cli {
namespace {

constexpr size_t kBarWidth = 20;
constexpr size_t kMaxLabel = 28;
constexpr int kShownDecimals = 4;
constexpr size_t kBesideBar = 14;  // indent, number and the gaps around it

// Columns of a text, one per code point: right for most scripts, near enough for the rest.
size_t Columns(const std::string& text) {
  size_t count = 0;
  for (size_t at = 0; at < text.size(); at += DecodeUtf8(text, at).bytes) ++count;
  return count;
}

// A label of at most `width` columns, padded to it.
std::string Cell(const std::string& text, size_t width, bool unicode) {
  std::string shown;
  size_t count = 0;
  const std::string line = OneLine(text);
  const bool cut = Columns(line) > width;
  for (size_t at = 0; at < line.size() && count < width - (cut ? 1 : 0);) {
    const size_t bytes = DecodeUtf8(line, at).bytes;
    shown.append(line, at, bytes);
    at += bytes;
    ++count;
  }
  if (cut) shown += unicode ? "\u2026" : "~", ++count;
  return shown + std::string(width - count, ' ');
}

std::string Bar(double probability, size_t width, bool unicode) {
  const double columns = std::clamp(probability, 0.0, 1.0) * static_cast<double>(width);
  const auto eighths = static_cast<size_t>(std::lround(columns * 8));
  if (!unicode) return std::string((eighths + 4) / 8, '#');
  static constexpr const char* kParts[] = {"",       "\u258f", "\u258e", "\u258d",
                                           "\u258c", "\u258b", "\u258a", "\u2589"};
  std::string bar;
  for (size_t i = 0; i < eighths / 8; ++i) bar += "\u2588";
  return bar + kParts[eighths % 8];
}

std::string Number(double value) { return fmt::format("{:.{}f}", value, kShownDecimals); }

std::string Headline(const Answer& answer) {
  if (answer.kind == "noul") {
    return answer.value >= 0.5 ? fmt::format("yes ({})", Number(answer.value))
                               : fmt::format("no ({})", Number(1 - answer.value));
  }
  if (answer.kind == "choice") {
    return fmt::format("{} ({}, confidence {})", OneLine(answer.best, 60), Number(answer.value),
                       Number(answer.confidence));
  }
  return fmt::format("{} of {} (confidence {})", Number(answer.value), answer.options.size() - 1,
                     Number(answer.confidence));
}

// "0 Can wait" for a level, the label itself for an option.
std::string OptionText(const Answer& answer, size_t i) {
  return answer.kind == "score" ? fmt::format("{} {}", answer.options[i], answer.levels[i])
                                : answer.options[i];
}

}  // namespace

std::string AnswerTable(const Answers& answers, const std::string& title, const TableStyle& style) {
  std::string out;
  const std::string tokens = fmt::format("{} tokens", answers.input_tokens());
  out += title.empty() ? fmt::format("{}\n", tokens)
                       : fmt::format("{}  ({})\n", OneLine(title, style.width), tokens);
  const size_t label_width = std::min(kMaxLabel, std::max<size_t>(12, style.width / 3));
  // A narrow terminal has no room for bars, and a row that wraps is worse than one without.
  const size_t bar_width =
      std::min(kBarWidth, style.width - std::min(style.width, label_width + kBesideBar));
  for (const Answer& answer : answers.list()) {
    out +=
        fmt::format("  {}: {}\n", OneLine(answer.question, std::max<size_t>(20, style.width / 2)),
                    Headline(answer));
    for (size_t i = 0; i < answer.options.size(); ++i) {
      const std::string bar = Bar(answer.probabilities[i], bar_width, style.unicode);
      out +=
          fmt::format("    {}  {}{}{}\n", Cell(OptionText(answer, i), label_width, style.unicode),
                      Number(answer.probabilities[i]), bar.empty() ? "" : "  ", bar);
    }
  }
  return out;
}

}  // namespace assay::cli

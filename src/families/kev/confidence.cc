#include "families/kev/confidence.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/check.h"
#include "families/readout.h"

namespace assay::families::kev {
namespace {

std::vector<double> Normalized(std::span<const double> probabilities) {
  ASSAY_CHECK(!probabilities.empty());
  const double sum = CompensatedSum(probabilities);
  std::vector<double> out;
  for (const double p : probabilities)
    out.push_back(sum == 0 ? 1 / static_cast<double>(probabilities.size()) : p / sum);
  return out;
}

}  // namespace

double ChoiceConfidence(std::span<const double> probabilities) {
  const std::vector<double> n = Normalized(probabilities);
  if (n.size() == 1) return 1;
  const double even = 1 / static_cast<double>(n.size());
  return (n[Argmax(n)] - even) / (1 - even);
}

double ScoreConfidence(std::span<const double> probabilities) {
  const std::vector<double> n = Normalized(probabilities);
  if (n.size() == 1) return 1;
  const auto mode = static_cast<double>(Argmax(n));
  const auto levels = static_cast<double>(n.size());
  std::vector<double> from_mode;
  std::vector<double> from_middle;
  for (size_t i = 0; i < n.size(); ++i) {
    const auto level = static_cast<double>(i);
    from_mode.push_back(n[i] * std::abs(level - mode));
    from_middle.push_back(std::abs(level - (levels - 1) / 2));
  }
  const double spread = CompensatedSum(from_middle) / levels;
  return std::max(0.0, 1 - CompensatedSum(from_mode) / spread);
}

double Confidence(std::string_view kind, std::span<const double> probabilities) {
  ASSAY_CHECK(kind == "choice" || kind == "score");
  return kind == "score" ? ScoreConfidence(probabilities) : ChoiceConfidence(probabilities);
}

}  // namespace assay::families::kev

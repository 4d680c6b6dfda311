#include "bench/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"

namespace assay::bench {

double Quantile(std::span<const double> sorted, double share) {
  ASSAY_CHECK(!sorted.empty() && share >= 0 && share <= 1);
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(std::floor(at));
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], at - static_cast<double>(below));
}

Spread SpreadOf(std::vector<double> values) {
  std::ranges::sort(values);
  return {Quantile(values, 0.5), Quantile(values, 0.1), Quantile(values, 0.9)};
}

std::optional<Line> FitLine(std::span<const double> x, std::span<const double> y) {
  ASSAY_CHECK(x.size() == y.size());
  if (x.empty()) return std::nullopt;
  const auto count = static_cast<double>(x.size());
  const double mean_x = std::accumulate(x.begin(), x.end(), 0.0) / count;
  const double mean_y = std::accumulate(y.begin(), y.end(), 0.0) / count;
  double xx = 0;
  double xy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    xy += (x[i] - mean_x) * (y[i] - mean_y);
  }
  if (xx == 0) return std::nullopt;
  const double slope = xy / xx;
  return Line{mean_y - slope * mean_x, slope};
}

}  // namespace assay::bench

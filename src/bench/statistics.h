// The few statistics that a report needs.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace assay::bench {

// The value that a share of `sorted` (ascending, not empty) lies below, between neighbours in
// proportion: share 0.5 is the median.
double Quantile(std::span<const double> sorted, double share);

struct Spread {
  double median = 0;
  double p10 = 0;
  double p90 = 0;
};
// `values` in any order, not empty.
Spread SpreadOf(std::vector<double> values);

// y = fixed + slope * x.
struct Line {
  double fixed = 0;
  double slope = 0;
};
// By least squares; nothing when the points have fewer than two different x.
std::optional<Line> FitLine(std::span<const double> x, std::span<const double> y);

}  // namespace assay::bench

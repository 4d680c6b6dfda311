#include "families/readout.h"

#include <algorithm>
#include <cmath>

namespace assay::families {

double CompensatedSum(std::span<const double> values) {
  double sum = 0;
  double correction = 0;
  for (const double x : values) {
    const double next = sum + x;
    correction += std::abs(sum) >= std::abs(x) ? (sum - next) + x : (x - next) + sum;
    sum = next;
  }
  return correction != 0 && std::isfinite(correction) ? sum + correction : sum;
}

std::vector<double> Softmax(std::span<const double> scores) {
  const double top = *std::max_element(scores.begin(), scores.end());
  std::vector<double> out;
  for (const double score : scores) out.push_back(std::exp(score - top));
  const double sum = CompensatedSum(out);
  for (double& value : out) value /= sum;
  return out;
}

double Logit(std::span<const float> hidden, const kernels::WeightMatrix& embedding, size_t row) {
  std::vector<float> weights(embedding.cols);
  kernels::WidenRow(embedding, row, weights);
  double sum = 0;
  for (size_t c = 0; c < weights.size(); ++c) {
    sum += static_cast<double>(hidden[c]) * static_cast<double>(weights[c]);
  }
  return sum;
}

size_t Argmax(std::span<const double> values) {
  return static_cast<size_t>(std::max_element(values.begin(), values.end()) - values.begin());
}

}  // namespace assay::families

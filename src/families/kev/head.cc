#include "families/kev/head.h"

#include <cmath>

#include "base/check.h"
#include "families/readout.h"

namespace assay::families::kev {
namespace {

// Wq h + bq.
std::vector<double> Query(const PointerHead& head, std::span<const float> hidden) {
  std::vector<double> out;
  out.reserve(head.query_bias.size());
  for (size_t r = 0; r < head.query_bias.size(); ++r) {
    const std::span<const float> weights = head.query_weight[r];
    double sum = 0;
    for (size_t c = 0; c < hidden.size(); ++c)
      sum += static_cast<double>(weights[c]) * static_cast<double>(hidden[c]);
    out.push_back(sum + static_cast<double>(head.query_bias[r]));
  }
  return out;
}

}  // namespace

std::vector<double> PointerScores(const PointerHead& head, View2<const float> hidden) {
  const size_t width = hidden.cols();
  const size_t head_dim = head.key_bias.size();
  ASSAY_CHECK(hidden.rows() >= 2 && head_dim > 0 && head.query_bias.size() == head_dim);
  ASSAY_CHECK(head.query_weight.rows() == head_dim && head.query_weight.cols() == width);
  ASSAY_CHECK(head.key_weight.rows() == head_dim && head.key_weight.cols() == width);
  const size_t options = hidden.rows() - 1;
  const std::vector<double> query = Query(head, hidden[options]);
  // (Wk h + bk) . q = h . (Wk' q) + bk . q: one pass over Wk, however many options there are.
  std::vector<double> pointer(width);
  double constant = 0;
  for (size_t r = 0; r < head_dim; ++r) {
    const std::span<const float> weights = head.key_weight[r];
    for (size_t c = 0; c < width; ++c) pointer[c] += query[r] * static_cast<double>(weights[c]);
    constant += query[r] * static_cast<double>(head.key_bias[r]);
  }
  const double scale = std::sqrt(static_cast<double>(head_dim));
  std::vector<double> scores;
  scores.reserve(options);
  for (size_t j = 0; j < options; ++j) {
    const std::span<const float> row = hidden[j];
    double sum = 0;
    for (size_t c = 0; c < width; ++c) sum += static_cast<double>(row[c]) * pointer[c];
    scores.push_back((sum + constant) / scale);
  }
  return scores;
}

Reading ReadPointer(const PointerHead& head, View2<const float> hidden, double temperature) {
  ASSAY_CHECK(std::isfinite(temperature) && temperature != 0);
  Reading reading;
  reading.scores = PointerScores(head, hidden);
  std::vector<double> logits;
  for (const double score : reading.scores) logits.push_back(score / temperature);
  reading.probabilities = Softmax(logits);
  return reading;
}

}  // namespace assay::families::kev

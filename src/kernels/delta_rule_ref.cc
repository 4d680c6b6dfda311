#include <cmath>
#include <vector>

#include "kernels/delta_rule.h"

namespace assay::kernels {
namespace {

// One head's state in float64, [key_dim, value_dim].
using Matrix = std::vector<std::vector<double>>;

// One row, from the definition (spec kev 2.5, step 6).
void RefRow(const DeltaShape& shape, const DeltaPart& part, size_t t, size_t head, Matrix& s) {
  const float* row = part.qkv.row(t);
  const float* q = row + head / (shape.value_heads / shape.key_heads) * shape.key_dim;
  const float* k = q + shape.key_width();
  const float* v = row + 2 * shape.key_width() + head * shape.value_dim;
  const double keep = std::exp(static_cast<double>(part.g[t][head]));
  for (size_t j = 0; j < shape.value_dim; ++j) {
    double recalled = 0;
    for (size_t i = 0; i < shape.key_dim; ++i) {
      s[i][j] *= keep;
      recalled += s[i][j] * static_cast<double>(k[i]);
    }
    const double delta =
        static_cast<double>(part.beta[t][head]) * (static_cast<double>(v[j]) - recalled);
    double out = 0;
    for (size_t i = 0; i < shape.key_dim; ++i) {
      s[i][j] += static_cast<double>(k[i]) * delta;
      out += s[i][j] * static_cast<double>(q[i]);
    }
    part.out[t][head * shape.value_dim + j] = static_cast<float>(out);
  }
}

}  // namespace

void DeltaRuleRef(const DeltaShape& shape, const DeltaPart& part) {
  for (size_t head = 0; head < shape.value_heads; ++head) {
    Matrix s(shape.key_dim, std::vector<double>(shape.value_dim));
    const auto each = [&](const auto& visit) {
      for (size_t i = 0; i < shape.key_dim; ++i) {
        for (size_t j = 0; j < shape.value_dim; ++j)
          visit(s[i][j], part.state[DeltaStateIndex(shape, head, i, j)]);
      }
    };
    each([](double& ours, float& stored) { ours = static_cast<double>(stored); });
    for (size_t t = 0; t < part.qkv.rows(); ++t) RefRow(shape, part, t, head, s);
    each([](double& ours, float& stored) { stored = static_cast<float>(ours); });
  }
}

}  // namespace assay::kernels

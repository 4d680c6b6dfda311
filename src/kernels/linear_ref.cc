#include <cmath>
#include <vector>

#include "base/check.h"
#include "kernels/linear.h"

namespace assay::kernels {
namespace {

double Dot(const WeightMatrix& weight, size_t n, std::span<const double> x) {
  std::vector<float> row(weight.cols);
  WidenRow(weight, n, row);
  double sum = 0;
  for (size_t k = 0; k < weight.cols; ++k) sum += x[k] * static_cast<double>(row[k]);
  return sum;
}

double Output(const LinearPart& part, std::span<const double> x, size_t n) {
  double y = Dot(part.weight, n, x);
  if (!part.bias.empty()) y += static_cast<double>(part.bias[n]);
  if (part.low_rank) {
    std::vector<double> inner(part.low_rank->a.rows);
    for (size_t r = 0; r < inner.size(); ++r) inner[r] = Dot(part.low_rank->a, r, x);
    y += static_cast<double>(part.low_rank->scale) * Dot(part.low_rank->b, n, inner);
  }
  return y;
}

}  // namespace

void LinearRef(View2<const float> x, std::span<const LinearPart> parts, Epilogue epilogue) {
  for (size_t r = 0; r < x.rows(); ++r) {
    const std::vector<double> row(x[r].begin(), x[r].end());
    for (const LinearPart& part : parts) {
      for (size_t n = 0; n < part.weight.rows; ++n) {
        const double y = Output(part, row, n);
        if (epilogue == Epilogue::kSiluProduct) {
          ASSAY_CHECK(parts.size() == 2);
          part.out[r][n] = static_cast<float>(y / (1 + std::exp(-y)) * Output(parts[1], row, n));
        } else if (epilogue == Epilogue::kAdd) {
          part.out[r][n] = static_cast<float>(static_cast<double>(part.out[r][n]) + y);
        } else {
          part.out[r][n] = static_cast<float>(y);
        }
      }
      if (epilogue == Epilogue::kSiluProduct) break;
    }
  }
}

}  // namespace assay::kernels

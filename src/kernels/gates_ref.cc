#include "kernels/gates.h"

#include <cmath>

namespace assay::kernels {
namespace {

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

}  // namespace

void SigmoidProductRef(View2<const float> gate, View2<float> x) {
  for (size_t r = 0; r < x.rows(); ++r) {
    for (size_t c = 0; c < x.cols(); ++c) {
      const double factor = Sigmoid(static_cast<double>(gate[r][c]));
      x[r][c] = static_cast<float>(static_cast<double>(x[r][c]) * factor);
    }
  }
}

void DeltaGatesRef(View1<const float> rates, View1<const float> offsets, View2<float> b,
                   View2<float> a) {
  for (size_t r = 0; r < a.rows(); ++r) {
    for (size_t c = 0; c < a.cols(); ++c) {
      b[r][c] = static_cast<float>(Sigmoid(static_cast<double>(b[r][c])));
      const double x = static_cast<double>(a[r][c]) + static_cast<double>(offsets[c]);
      const double softplus = x > 20 ? x : std::log1p(std::exp(x));
      a[r][c] = static_cast<float>(static_cast<double>(rates[c]) * softplus);
    }
  }
}

}  // namespace assay::kernels

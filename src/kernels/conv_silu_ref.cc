#include <cmath>
#include <vector>

#include "kernels/conv_silu.h"

namespace assay::kernels {

void ConvSiluRef(View2<const float> taps, const ConvSiluPart& part) {
  const size_t carried = taps.rows() - 1;
  const size_t rows = part.x.rows();
  for (size_t c = 0; c < taps.cols(); ++c) {
    std::vector<float> u;
    for (size_t i = 0; i < carried; ++i) u.push_back(part.columns[i][c]);
    for (size_t t = 0; t < rows; ++t) u.push_back(part.x[t][c]);
    for (size_t t = 0; t < rows; ++t) {
      double sum = 0;
      for (size_t i = 0; i <= carried; ++i)
        sum += static_cast<double>(taps[i][c]) * static_cast<double>(u[t + i]);
      part.out[t][c] = static_cast<float>(sum / (1 + std::exp(-sum)));
    }
    for (size_t i = 0; i < carried; ++i) part.columns[i][c] = u[rows + i];
  }
}

}  // namespace assay::kernels

#include <vector>

#include "kernels/short_conv.h"

namespace assay::kernels {

void ShortConvRef(View2<const float> taps, const ShortConvPart& part) {
  const size_t channels = taps.cols();
  const size_t carried = taps.rows() - 1;
  const size_t rows = part.bcx.rows();
  for (size_t c = 0; c < channels; ++c) {
    std::vector<float> u;
    for (size_t i = 0; i < carried; ++i) u.push_back(part.columns[i][c]);
    for (size_t t = 0; t < rows; ++t) u.push_back(part.bcx[t][c] * part.bcx[t][2 * channels + c]);
    for (size_t t = 0; t < rows; ++t) {
      double sum = 0;
      for (size_t i = 0; i <= carried; ++i)
        sum += static_cast<double>(taps[i][c]) * static_cast<double>(u[t + i]);
      part.out[t][c] = static_cast<float>(sum * static_cast<double>(part.bcx[t][channels + c]));
    }
    for (size_t i = 0; i < carried; ++i) part.columns[i][c] = u[rows + i];
  }
}

}  // namespace assay::kernels

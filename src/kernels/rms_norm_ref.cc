#include <cmath>

#include "kernels/rms_norm.h"

namespace assay::kernels {

void RmsNormRef(View2<const float> x, View1<const float> gain, float eps, float gain_offset,
                View2<float> out) {
  for (size_t r = 0; r < x.rows(); ++r) {
    double squares = 0;
    for (const float value : x[r])
      squares += static_cast<double>(value) * static_cast<double>(value);
    const double scale =
        1 / std::sqrt(squares / static_cast<double>(x.cols()) + static_cast<double>(eps));
    for (size_t c = 0; c < x.cols(); ++c) {
      const double factor = static_cast<double>(gain[c]) + static_cast<double>(gain_offset);
      out[r][c] = static_cast<float>(static_cast<double>(x[r][c]) * scale * factor);
    }
  }
}

}  // namespace assay::kernels

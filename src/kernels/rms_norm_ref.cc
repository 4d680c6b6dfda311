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

void GatedNormRef(View2<float> x, View1<const float> gain, float eps, View2<const float> gate) {
  for (size_t r = 0; r < x.rows(); ++r) {
    double squares = 0;
    for (const float value : x[r])
      squares += static_cast<double>(value) * static_cast<double>(value);
    const double scale =
        1 / std::sqrt(squares / static_cast<double>(x.cols()) + static_cast<double>(eps));
    for (size_t c = 0; c < x.cols(); ++c) {
      const double z = static_cast<double>(gate[r][c]);
      const double factor = scale * static_cast<double>(gain[c]) * z / (1 + std::exp(-z));
      x[r][c] = static_cast<float>(static_cast<double>(x[r][c]) * factor);
    }
  }
}

void L2NormRef(size_t head_dim, float eps, float scale, View2<float> x) {
  for (size_t r = 0; r < x.rows(); ++r) {
    for (size_t head = 0; head < x.cols(); head += head_dim) {
      const View1<float> values = x[r].subspan(head, head_dim);
      double squares = static_cast<double>(eps);
      for (const float value : values)
        squares += static_cast<double>(value) * static_cast<double>(value);
      const double factor = static_cast<double>(scale) / std::sqrt(squares);
      for (float& value : values) value = static_cast<float>(static_cast<double>(value) * factor);
    }
  }
}

}  // namespace assay::kernels

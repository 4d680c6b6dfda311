#include "kernels/rotary.h"

#include <cmath>

#include "base/check.h"

namespace assay::kernels {

std::vector<float> RotaryFrequencies(double theta, size_t dims) {
  std::vector<float> out(dims / 2);
  for (size_t i = 0; i < out.size(); ++i) {
    // The makers raise theta to an fp32 exponent and round the power and the quotient to fp32 each.
    const float exponent = static_cast<float>(2 * i) / static_cast<float>(dims);
    const auto power = static_cast<float>(std::pow(theta, static_cast<double>(exponent)));
    out[i] = 1.0f / power;
  }
  return out;
}

RotaryTable RotaryAt(std::span<const size_t> positions, std::span<const float> frequencies) {
  RotaryTable table;
  table.half = frequencies.size();
  table.cosines.reserve(positions.size() * table.half);
  table.sines.reserve(positions.size() * table.half);
  for (const size_t position : positions) {
    for (const float frequency : frequencies) {
      const float angle = static_cast<float>(position) * frequency;
      table.cosines.push_back(static_cast<float>(std::cos(static_cast<double>(angle))));
      table.sines.push_back(static_cast<float>(std::sin(static_cast<double>(angle))));
    }
  }
  return table;
}

void Rotate(const RotaryTable& table, size_t head_dim, View2<float> x) {
  const size_t half = table.half;
  ASSAY_CHECK(2 * half <= head_dim && x.cols() % head_dim == 0);
  ASSAY_CHECK(table.cosines.size() == x.rows() * half);
  for (size_t r = 0; r < x.rows(); ++r) {
    const float* cosines = table.cosines.data() + r * half;
    const float* sines = table.sines.data() + r * half;
    for (size_t c = 0; c < x.cols(); c += head_dim) {
      float* first = x.row(r) + c;
      float* second = first + half;
      for (size_t i = 0; i < half; ++i) {
        const float a = first[i];
        const float b = second[i];
        first[i] = a * cosines[i] - b * sines[i];
        second[i] = b * cosines[i] + a * sines[i];
      }
    }
  }
}

}  // namespace assay::kernels

// Random weight matrices for tests of the linear layer.
#pragma once

#include <cstring>
#include <vector>

#include "base/bf16.h"
#include "kernels/weights.h"
#include "testing/random.h"

namespace assay::testing {

using kernels::RowBytes;
using kernels::WeightMatrix;
using kernels::WeightType;

// A weight matrix of any type, stored `offset` bytes past an aligned address.
class TestWeights {
 public:
  TestWeights(Random& random, WeightType type, size_t rows, size_t cols, size_t offset = 0)
      : bytes_(RowBytes(type, cols) * rows + offset + 1), offset_(offset) {
    matrix_ = {bytes_.data() + offset, type, rows, cols};
    for (size_t i = 0; i < rows * cols; ++i) Put(random, i);
  }
  const WeightMatrix& matrix() const { return matrix_; }
  const void* data() const { return bytes_.data() + offset_; }
  size_t size() const { return RowBytes(matrix_.type, matrix_.cols) * matrix_.rows; }
  void CopyFrom(const TestWeights& other) {
    std::memcpy(bytes_.data() + offset_, other.data(), size());
  }

 private:
  void Put(Random& random, size_t i) {
    const float value = random.Uniform(-1, 1);
    char* at = bytes_.data() + offset_;
    if (matrix_.type == WeightType::kF32) {
      std::memcpy(at + i * 4, &value, 4);
    } else if (matrix_.type == WeightType::kBf16) {
      const Bf16 half = NarrowToBf16(value);
      std::memcpy(at + i * 2, &half, 2);
    } else {
      // Any finite half: sign, exponents up to 1, all fractions.
      const auto half = static_cast<uint16_t>((random.Bits() & 0x8000u) | (random.Below(16) << 10) |
                                              (random.Bits() & 0x3FFu));
      std::memcpy(at + i * 2, &half, 2);
    }
  }
  std::vector<char> bytes_;
  size_t offset_;
  WeightMatrix matrix_;
};

}  // namespace assay::testing

// A weight matrix as it lies in a checkpoint: read in place, never copied to fp32.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/view.h"

namespace assay::kernels {

// kInt8 and kInt4 are block-quantized forms that bundles will hold; Linear refuses them until their
// kernels exist.
enum class WeightType { kF32, kBf16, kF16, kInt8, kInt4 };

// Bytes of one row of `cols` weights, scales not counted.
constexpr size_t RowBytes(WeightType type, size_t cols) {
  switch (type) {
    case WeightType::kF32: return cols * 4;
    case WeightType::kBf16:
    case WeightType::kF16: return cols * 2;
    case WeightType::kInt8: return cols;
    case WeightType::kInt4: return (cols + 1) / 2;
  }
  return 0;
}

// [rows, cols] = [outputs, inputs], row-major, contiguous, at any alignment. Borrowed: the
// checkpoint's mapping owns it.
struct WeightMatrix {
  const void* data = nullptr;
  WeightType type = WeightType::kBf16;
  size_t rows = 0;
  size_t cols = 0;
  const uint16_t* scales = nullptr;  // kInt8, kInt4: one f16 per block of a row
  size_t block = 0;                  // kInt8, kInt4: columns per block

  const void* row(size_t r) const {
    return static_cast<const char*>(data) + r * RowBytes(type, cols);
  }
};

// out[c] = row r of the matrix, widened exactly. Unquantized types only.
void WidenRow(const WeightMatrix& matrix, size_t r, View1<float> out);

}  // namespace assay::kernels

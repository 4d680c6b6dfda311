#include "kernels/weights.h"

#include <cstring>

#include "base/bf16.h"
#include "base/check.h"

namespace assay::kernels {
namespace {

template <typename Half>
void WidenHalves(const void* source, View1<float> out) {
  const auto* bytes = static_cast<const char*>(source);
  for (size_t c = 0; c < out.size(); ++c) {
    Half half;
    std::memcpy(&half, bytes + c * sizeof half,
                sizeof half);  // a checkpoint may lie at any address
    out[c] = Widen(half);
  }
}

}  // namespace

void WidenRow(const WeightMatrix& matrix, size_t r, View1<float> out) {
  ASSAY_CHECK(r < matrix.rows && out.size() == matrix.cols);
  switch (matrix.type) {
    case WeightType::kF32: std::memcpy(out.data(), matrix.row(r), out.size_bytes()); return;
    case WeightType::kBf16: WidenHalves<Bf16>(matrix.row(r), out); return;
    case WeightType::kF16: WidenHalves<F16>(matrix.row(r), out); return;
    case WeightType::kInt8:
    case WeightType::kInt4: break;
  }
  ASSAY_CHECK(false && "quantized rows are not widened here");
}

}  // namespace assay::kernels

#include "families/tensors.h"

#include "base/check.h"

namespace assay::families {

using formats::Tensor;

kernels::WeightMatrix MatrixOf(const Tensor& tensor) {
  kernels::WeightMatrix matrix;
  matrix.data = tensor.bytes.data();
  matrix.rows = tensor.shape[0];
  matrix.cols = tensor.shape[1];
  switch (tensor.dtype) {
    case formats::Dtype::kBf16: matrix.type = kernels::WeightType::kBf16; break;
    case formats::Dtype::kF16: matrix.type = kernels::WeightType::kF16; break;
    case formats::Dtype::kF32: matrix.type = kernels::WeightType::kF32; break;
    default: ASSAY_CHECK(false && "the tensor table lets three types through");
  }
  return matrix;
}

std::vector<float> VectorOf(const Tensor& tensor) {
  std::vector<float> out(tensor.elements());
  formats::WidenTo(tensor, 0, out);
  return out;
}

std::vector<float> TapsOf(const Tensor& tensor) {
  const std::vector<float> stored = VectorOf(tensor);
  const size_t channels = tensor.shape[0];
  const size_t taps = tensor.shape[2];
  std::vector<float> out(stored.size());
  for (size_t c = 0; c < channels; ++c) {
    for (size_t t = 0; t < taps; ++t) out[t * channels + c] = stored[c * taps + t];
  }
  return out;
}

}  // namespace assay::families

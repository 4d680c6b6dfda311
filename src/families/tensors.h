// From a checkpoint's tensors to what the decoders take.
#pragma once

#include <vector>

#include "formats/safetensors.h"
#include "kernels/weights.h"

namespace assay::families {

// The matrix where it lies in the checkpoint, which must outlive it. Tensor tables let through only
// what this can take: two dimensions; bf16, fp16 or fp32.
kernels::WeightMatrix MatrixOf(const formats::Tensor& tensor);

// A widened copy, of any shape.
std::vector<float> VectorOf(const formats::Tensor& tensor);

// The taps of a depthwise convolution, stored [channels, 1, taps], as the kernels take them: [taps,
// channels].
std::vector<float> TapsOf(const formats::Tensor& tensor);

}  // namespace assay::families

// From an LFM2.5-VL checkpoint to the decoder's weights: one table of our names, source names and
// shapes (spec d1 1.5).
#pragma once

#include <memory>

#include "formats/checkpoint.h"
#include "formats/lfm2_config.h"
#include "formats/tensor_table.h"
#include "nn/lfm2.h"

namespace assay::families::d1 {

// Every tensor of the architecture: the text decoder under "text.", tower and projector under
// "vision." and "projector.". `w1_rows` is the MLP width that the checkpoint's own w1 has.
formats::TensorTable TensorsOf(const formats::Lfm2VlConfig& config);

// The decoder's shape as the config says it.
nn::Lfm2Shape ShapeOf(const formats::Lfm2TextConfig& text);

// The decoder over the checkpoint's memory, which must outlive it.
std::unique_ptr<nn::Decoder> MakeDecoder(const formats::Lfm2VlConfig& config,
                                         const formats::BoundTensors& tensors,
                                         const kernels::Compute& compute);

}  // namespace assay::families::d1

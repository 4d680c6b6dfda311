// From a Qwen3.5 base or a merged Kev checkpoint to the decoder's weights: one table of our names,
// source names and shapes (spec kev 1.4).
#pragma once

#include "formats/checkpoint.h"
#include "formats/qwen35_config.h"
#include "formats/tensor_table.h"
#include "nn/qwen35.h"

namespace assay::families::kev {

// Every tensor of the text decoder, by the name that follows the prefix, without ".weight". The
// prefix is that of the published base, of transformers' text class, or none, as merged checkpoints
// have it; a checkpoint that mixes them is refused. Picture tower, prediction layers and vocabulary
// head may be there and are not used.
formats::TensorTable TensorsOf(const formats::Qwen35Config& config);

// The decoder's shape as the config says it.
nn::Qwen35Shape ShapeOf(const formats::Qwen35Config& config);

// The weights over the checkpoint's memory, which must outlive them, without adapters: those are
// put in through nn::Qwen35Modules before nn::MakeQwen35 takes the weights.
nn::Qwen35Weights WeightsOf(const formats::Qwen35Config& config,
                            const formats::BoundTensors& tensors);

}  // namespace assay::families::kev

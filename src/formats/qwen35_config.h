// config.json of Qwen3.5 checkpoints: the text decoder only (spec kev 1.3; defaults are those of
// the classes in transformers 5.24). Either the published form, model_type qwen3_5 with a
// text_config, or the text model's own, qwen3_5_text at the top.
//
// What the checkpoint must say itself: the sizes, theta, the share of a head that is rotated, the
// vocabulary. The class default is used, and a note says so, where a tensor's shape checks it again
// or this engine computes nothing else. Refused by name: anything this engine would compute wrongly
// (a rope type other than default, attention without an output gate, biases, another activation,
// MLPs left out, stored quantization) and two places that disagree. Not read: mrope_section, since
// text has one position on all three axes (spec kev 2.4), and whether the head is tied, since no
// vocabulary head is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "formats/config.h"
#include "formats/dtype.h"

namespace assay::formats {

enum class Qwen35LayerKind { kLinear, kAttention };

struct Qwen35Config {
  size_t hidden = 0;
  std::vector<Qwen35LayerKind> layers;  // one per layer, first layer first
  size_t mlp = 0;
  size_t vocab = 0;
  size_t heads = 0;
  size_t kv_heads = 0;  // divides heads
  size_t head_dim = 0;
  size_t rotary_dims = 0;  // the first ones of a head; even
  size_t key_heads = 0;    // of the linear-attention layers, as the next ones
  size_t value_heads = 0;  // a multiple of key_heads
  size_t key_dim = 0;      // of a head; multiples of 16
  size_t value_dim = 0;
  size_t conv_taps = 0;
  double norm_eps = 0;
  double rope_theta = 0;
  size_t max_positions = 0;
  std::optional<Dtype> dtype;  // as the config says; a tensor's own dtype decides
  // Lines that a front door may print: defaults that were used.
  std::vector<std::string> notes;
};

// Reads config.json of a model folder. Errors: Error(kModel, "config.json: PATH.TO.KEY").
Qwen35Config ReadQwen35Config(const std::filesystem::path& folder);
// The same from a parsed root object.
Qwen35Config ParseQwen35Config(const json::Value& root);

}  // namespace assay::formats

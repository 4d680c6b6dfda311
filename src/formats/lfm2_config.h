// config.json of LFM2-VL checkpoints: the LFM2 decoder, the SigLIP2 tower and the projector between
// them (spec d1 1.3, 1.4; defaults are those of the classes in transformers 5.24).
//
// What the checkpoint must say itself: the sizes, the layer kinds, theta, the vocabulary. Where it
// leaves out a key whose class default is also the only value this engine computes, or one that a
// tensor's shape checks again, the default is used and a note says so. Refused by name: anything
// this engine would compute wrongly (a rope type other than default, conv_bias, a projector
// LayerNorm, a pooling head, another activation, stored quantization); projector_use_layernorm and
// vision_use_head must be present, because their class default is true.
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

enum class Lfm2LayerKind { kConv, kAttention };

struct Lfm2TextConfig {
  size_t hidden = 0;
  std::vector<Lfm2LayerKind> layers;  // one per layer, first layer first
  size_t heads = 0;
  size_t kv_heads = 0;  // divides heads
  size_t head_dim = 0;  // even; hidden / heads unless head_dim is given
  size_t mlp = 0;       // the width in effect, after Lfm2MlpWidth
  size_t vocab = 0;
  double norm_eps = 0;
  size_t conv_taps = 0;  // conv_L_cache
  double rope_theta = 0;
  size_t max_positions = 0;
  // What the config says, if it does; the tokenizer's own ids are those that prompts use.
  std::optional<int32_t> bos_id;
  std::vector<int32_t> eos_ids;
  std::optional<int32_t> pad_id;
  std::string mlp_origin;  // how `mlp` came about, for CheckLfm2MlpWidth
};

struct Siglip2Config {
  size_t hidden = 0;
  size_t layers = 0;
  size_t heads = 0;
  size_t head_dim = 0;  // hidden / heads
  size_t mlp = 0;
  size_t patch = 0;          // pixels per side
  size_t channels = 0;       // 3
  size_t position_side = 0;  // the position table is position_side x position_side
  double norm_eps = 0;
};

struct Lfm2VlConfig {
  Lfm2TextConfig text;
  Siglip2Config vision;
  int32_t image_token_id = 0;  // below text.vocab
  size_t downsample_factor = 0;
  size_t projector_hidden = 0;  // its activation is the exact gelu and both layers have biases
  bool tied = false;            // the head is the embedding (see HeadTensor)
  std::optional<Dtype> dtype;   // as the config says; a tensor's own dtype decides
  // Lines that a front door may print: defaults that were used.
  std::vector<std::string> notes;
};

// Reads config.json of a model folder. Errors: Error(kModel, "config.json: PATH.TO.KEY").
Lfm2VlConfig ReadLfm2VlConfig(const std::filesystem::path& folder);
// The same from a parsed root object.
Lfm2VlConfig ParseLfm2VlConfig(const json::Value& root);

// The MLP width in effect: `intermediate`, or with auto_adjust two thirds of it, and then, only
// when there is a multiplier, times that and up to a multiple of `multiple_of` (transformers 5.24).
size_t Lfm2MlpWidth(int64_t intermediate, bool auto_adjust, std::optional<double> multiplier,
                    int64_t multiple_of);

// The weights decide the MLP width; refuses, with both numbers, a config that computes another one.
void CheckLfm2MlpWidth(const Lfm2TextConfig& config, uint64_t w1_rows);

}  // namespace assay::formats

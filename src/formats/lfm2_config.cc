#include "formats/lfm2_config.h"

#include <fmt/format.h>

#include <algorithm>

#include "assay/error.h"
#include "formats/config_parts.h"

namespace assay::formats {
namespace {

// Wide enough for any model of these families, small enough that no product of two overflows.
constexpr IntRange kSize = {1, 1 << 20};
constexpr IntRange kLayers = {1, 1024};
constexpr IntRange kVocab = {1, 1 << 24};
constexpr IntRange kId = {0, (1 << 24) - 1};
constexpr FloatRange kEps = {1e-12, 1e-2};

size_t Size(const ConfigReader& object, const Keys& keys, IntRange range = kSize) {
  return static_cast<size_t>(object.Int(keys, range));
}

// A switch that this engine computes for one value only.
void RequireBool(const ConfigReader& object, const char* key, bool supported, std::string_view what,
                 bool class_default) {
  const auto value = object.FindBool(key);
  if (value.value_or(class_default) == supported) return;
  if (value) object.Refuse(key, fmt::format("is {}: {} is not supported", *value, what));
  object.Refuse(key,
                fmt::format("is missing, which the makers read as {}: {} is not supported",
                            class_default, what),
                fmt::format("{} must be {}", key, supported));
}

std::vector<Lfm2LayerKind> ReadLayers(const ConfigReader& text) {
  const size_t count = Size(text, "num_hidden_layers", kLayers);
  const auto last = static_cast<int64_t>(count) - 1;
  const auto types = ReadLayerTypes(text, count, {"conv", "full_attention"});
  const auto indices = text.FindInts("full_attn_idxs", {0, last});
  if (!types && !indices) {
    text.Refuse("layer_types", "is missing", "also read as full_attn_idxs");
  }
  std::vector<Lfm2LayerKind> from_types;
  std::vector<Lfm2LayerKind> from_indices;
  if (types) {
    for (const size_t type : *types) {
      from_types.push_back(type == 0 ? Lfm2LayerKind::kConv : Lfm2LayerKind::kAttention);
    }
  }
  if (indices) {
    from_indices.assign(count, Lfm2LayerKind::kConv);
    for (const int64_t index : *indices) {
      from_indices[static_cast<size_t>(index)] = Lfm2LayerKind::kAttention;
    }
  }
  if (types && indices && from_types != from_indices) {
    text.Refuse("full_attn_idxs", "names other layers than layer_types",
                "keep the one that is right");
  }
  return types ? from_types : from_indices;
}

void ReadHeads(const ConfigReader& text, Lfm2TextConfig& config) {
  config.heads = Size(text, "num_attention_heads");
  config.kv_heads = Size(text, "num_key_value_heads");
  if (config.heads % config.kv_heads != 0) {
    text.Refuse("num_key_value_heads", fmt::format("is {}, which does not divide the {} heads",
                                                   config.kv_heads, config.heads));
  }
  if (const auto head_dim = text.FindInt("head_dim", kSize)) {
    config.head_dim = static_cast<size_t>(*head_dim);
  } else {
    if (config.hidden % config.heads != 0) {
      text.Refuse("num_attention_heads", fmt::format("is {}, which does not divide hidden_size {}",
                                                     config.heads, config.hidden));
    }
    config.head_dim = config.hidden / config.heads;
  }
  if (config.head_dim % 2 != 0) {
    text.Refuse("head_dim",
                fmt::format("is {}; rotary positions need an even one", config.head_dim));
  }
}

void ReadMlp(const ConfigReader& text, Lfm2TextConfig& config) {
  const int64_t intermediate = text.Int({"intermediate_size", "block_ff_dim"}, kSize);
  const bool adjust = text.BoolOr("block_auto_adjust_ff_dim", true);
  std::optional<double> multiplier;
  int64_t multiple_of = 1;
  if (adjust) {
    // Here a null is not an absent key: it switches multiplying and rounding off.
    if (!text.IsNull("block_ffn_dim_multiplier")) {
      multiplier = text.FloatOr("block_ffn_dim_multiplier", {1e-3, 64}, 1.0);
    }
    multiple_of = text.IntOr("block_multiple_of", kSize, 256);
  }
  config.mlp = Lfm2MlpWidth(intermediate, adjust, multiplier, multiple_of);
  config.mlp_origin =
      fmt::format("intermediate_size {}, block_auto_adjust_ff_dim {}", intermediate, adjust);
  if (config.mlp == 0) {
    text.Refuse("intermediate_size",
                fmt::format("gives an MLP of no width ({})", config.mlp_origin));
  }
}

std::optional<int32_t> ReadId(const ConfigReader& object, const char* key) {
  const auto id = object.FindInt(key, kId);
  if (!id) return std::nullopt;
  return static_cast<int32_t>(*id);
}

Lfm2TextConfig ReadText(const ConfigReader& text) {
  text.OneOf("model_type", {"lfm2"}, 0);
  RequireBool(text, "conv_bias", false, "a bias in the short convolution", false);
  // Fixed in the makers' code; published configs have no such key.
  if (text.Has("hidden_act")) text.OneOf("hidden_act", {"silu"});
  Lfm2TextConfig config;
  config.hidden = Size(text, "hidden_size");
  config.layers = ReadLayers(text);
  ReadHeads(text, config);
  ReadMlp(text, config);
  config.vocab = Size(text, "vocab_size", kVocab);
  config.norm_eps = text.FloatOr("norm_eps", kEps, 1e-5);
  config.conv_taps = static_cast<size_t>(text.IntOr("conv_L_cache", {2, 64}, 3));
  const Rope rope = ReadRope(text, "full_attention");
  if (rope.partial_rotary_factor != 1) {
    text.Refuse("partial_rotary_factor",
                fmt::format("is {}: LFM2 rotates whole heads", rope.partial_rotary_factor));
  }
  config.rope_theta = rope.theta;
  config.max_positions =
      static_cast<size_t>(text.IntOr("max_position_embeddings", {1, 1 << 30}, 128000));
  config.bos_id = ReadId(text, "bos_token_id");
  for (const int64_t id : text.IntOrInts("eos_token_id", kId)) {
    config.eos_ids.push_back(static_cast<int32_t>(id));
  }
  config.pad_id = ReadId(text, "pad_token_id");
  return config;
}

Siglip2Config ReadVision(const ConfigReader& vision) {
  vision.OneOf("model_type", {"siglip2_vision_model"}, 0);
  RequireBool(vision, "vision_use_head", false, "a pooling head on the tower", true);
  vision.OneOf("hidden_act", {"gelu_pytorch_tanh"}, 0);
  Siglip2Config config;
  config.hidden = Size(vision, "hidden_size");
  config.layers = Size(vision, "num_hidden_layers", kLayers);
  config.heads = Size(vision, "num_attention_heads");
  if (config.hidden % config.heads != 0) {
    vision.Refuse("num_attention_heads", fmt::format("is {}, which does not divide hidden_size {}",
                                                     config.heads, config.hidden));
  }
  config.head_dim = config.hidden / config.heads;
  config.mlp = Size(vision, "intermediate_size");
  config.patch = static_cast<size_t>(vision.IntOr("patch_size", {1, 256}, 16));
  config.channels = static_cast<size_t>(vision.IntOr("num_channels", {3, 3}, 3));
  const auto positions = static_cast<size_t>(vision.IntOr("num_patches", {1, 1 << 16}, 256));
  while (config.position_side * config.position_side < positions) ++config.position_side;
  if (config.position_side * config.position_side != positions) {
    vision.Refuse("num_patches", fmt::format("is {}; the position table is a square", positions),
                  "a square number such as 256");
  }
  config.norm_eps = vision.FloatOr("layer_norm_eps", kEps, 1e-6);
  return config;
}

void ReadProjector(const ConfigReader& root, Lfm2VlConfig& config) {
  RequireBool(root, "projector_use_layernorm", false, "a LayerNorm in the projector", true);
  RequireBool(root, "projector_bias", true, "a projector without biases", true);
  root.OneOf("projector_hidden_act", {"gelu"}, 0);
  config.projector_hidden = Size(root, "projector_hidden_size");
  config.downsample_factor = static_cast<size_t>(root.IntOr("downsample_factor", {1, 16}, 2));
}

}  // namespace

size_t Lfm2MlpWidth(int64_t intermediate, bool auto_adjust, std::optional<double> multiplier,
                    int64_t multiple_of) {
  if (!auto_adjust) return static_cast<size_t>(intermediate);
  int64_t width = 2 * intermediate / 3;
  if (multiplier) {
    width = static_cast<int64_t>(*multiplier * static_cast<double>(width));
    width = (width + multiple_of - 1) / multiple_of * multiple_of;
  }
  return static_cast<size_t>(width);
}

void CheckLfm2MlpWidth(const Lfm2TextConfig& config, uint64_t w1_rows) {
  if (w1_rows == config.mlp) return;
  throw Error(ErrorKind::kModel, "config.json: text_config.intermediate_size",
              fmt::format("gives an MLP width of {} ({}), but feed_forward.w1 has {} rows",
                          config.mlp, config.mlp_origin, w1_rows),
              "weights and config.json must come from the same download");
}

Lfm2VlConfig ParseLfm2VlConfig(const json::Value& value) {
  Lfm2VlConfig config;
  const ConfigReader root(value, "config.json", config.notes);
  root.OneOf("model_type", {"lfm2_vl"});
  if (root.Has("quantization_config")) {
    root.Refuse("quantization_config", "is present: checkpoints quantized elsewhere are not read",
                "use the unquantized checkpoint");
  }
  config.text = ReadText(root.Object("text_config"));
  config.vision = ReadVision(root.Object("vision_config"));
  ReadProjector(root, config);
  config.image_token_id = static_cast<int32_t>(
      root.Int("image_token_id", {0, static_cast<int64_t>(config.text.vocab) - 1}));
  config.tied = ReadTied(root, true);
  config.dtype = ReadWeightsDtype(root);
  return config;
}

Lfm2VlConfig ReadLfm2VlConfig(const std::filesystem::path& folder) {
  return ParseLfm2VlConfig(ReadConfigFile(folder));
}

}  // namespace assay::formats

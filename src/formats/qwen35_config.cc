#include "formats/qwen35_config.h"

#include <fmt/format.h>

#include "formats/config_parts.h"

namespace assay::formats {
namespace {

// Wide enough for any model of these families, small enough that no product of two overflows.
constexpr IntRange kSize = {1, 1 << 20};
constexpr IntRange kLayers = {1, 1024};
constexpr IntRange kVocab = {1, 1 << 24};
// What one step of the delta rule works on.
constexpr size_t kHeadUnit = 16;

size_t Size(const ConfigReader& object, const char* key, IntRange range = kSize) {
  return static_cast<size_t>(object.Int(key, range));
}

size_t SizeOr(const ConfigReader& object, const char* key, IntRange range, int64_t class_default) {
  return static_cast<size_t>(object.IntOr(key, range, class_default));
}

// Keys that have one supported value, which is also what an absent one means.
void RequireBool(const ConfigReader& text, const char* key, bool supported,
                 std::string_view otherwise) {
  if (text.FindBool(key).value_or(supported) == supported) return;
  text.Refuse(key, fmt::format("is {}: {} is not supported", !supported, otherwise));
}

void RefuseWhatWouldBeWrong(const ConfigReader& text) {
  RequireBool(text, "attn_output_gate", true, "attention without an output gate");
  RequireBool(text, "attention_bias", false, "a bias in the attention projections");
  text.OneOf("hidden_act", {"silu"}, 0);
  const auto mlp_only = text.FindInts("mlp_only_layers", {0, kLayers.high});
  if (mlp_only && !mlp_only->empty()) {
    text.Refuse("mlp_only_layers", "is not empty: layers without a mixer are not supported");
  }
  if (text.Has("num_experts")) {
    text.Refuse("num_experts", "is present: mixtures of experts are not supported");
  }
}

// layer_types, or every full_attention_interval-th layer full, counted from one.
std::vector<Qwen35LayerKind> ReadLayers(const ConfigReader& text) {
  const size_t count = Size(text, "num_hidden_layers", kLayers);
  const auto types = ReadLayerTypes(text, count, {"linear_attention", "full_attention"});
  const auto every = text.FindInt("full_attention_interval", {1, kLayers.high});
  std::vector<Qwen35LayerKind> layers;
  if (types) {
    for (const size_t type : *types)
      layers.push_back(type == 0 ? Qwen35LayerKind::kLinear : Qwen35LayerKind::kAttention);
    if (!every) return layers;
  }
  const auto interval = static_cast<size_t>(
      every ? *every : text.IntOr("full_attention_interval", {1, kLayers.high}, 4));
  std::vector<Qwen35LayerKind> by_interval;
  for (size_t n = 0; n < count; ++n) {
    by_interval.push_back((n + 1) % interval == 0 ? Qwen35LayerKind::kAttention
                                                  : Qwen35LayerKind::kLinear);
  }
  if (types && layers != by_interval) {
    text.Refuse("full_attention_interval",
                fmt::format("is {}, which names other layers than layer_types", interval),
                "keep the one that is right");
  }
  return by_interval;
}

void RequireDivides(const ConfigReader& text, const char* key, size_t value, size_t count,
                    std::string_view what) {
  if (count % value == 0) return;
  text.Refuse(key, fmt::format("is {}, which does not divide the {} {}", value, count, what));
}

void ReadAttention(const ConfigReader& text, Qwen35Config& config) {
  config.heads = Size(text, "num_attention_heads");
  config.kv_heads = Size(text, "num_key_value_heads");
  RequireDivides(text, "num_key_value_heads", config.kv_heads, config.heads, "heads");
  config.head_dim = SizeOr(text, "head_dim", kSize, 256);
  const auto block = text.FindObject({"rope_parameters", "rope_scaling"});
  if (!text.Has("partial_rotary_factor") && !(block && block->Has("partial_rotary_factor"))) {
    text.Refuse("partial_rotary_factor", "is missing",
                "also read inside rope_parameters; published checkpoints have 0.25");
  }
  const Rope rope = ReadRope(text, "full_attention");
  config.rope_theta = rope.theta;
  // Cut, as the makers cut it.
  config.rotary_dims =
      static_cast<size_t>(static_cast<double>(config.head_dim) * rope.partial_rotary_factor);
  if (config.rotary_dims == 0 || config.rotary_dims % 2 != 0) {
    text.Refuse("partial_rotary_factor",
                fmt::format("is {}, which rotates {} of {} dimensions", rope.partial_rotary_factor,
                            config.rotary_dims, config.head_dim),
                "an even number of them, at least 2");
  }
}

size_t HeadSize(const ConfigReader& text, const char* key) {
  const size_t size = Size(text, key);
  if (size % kHeadUnit == 0) return size;
  text.Refuse(key, fmt::format("is {}", size), fmt::format("a multiple of {}", kHeadUnit));
}

void ReadLinearAttention(const ConfigReader& text, Qwen35Config& config) {
  config.key_heads = Size(text, "linear_num_key_heads");
  config.value_heads = Size(text, "linear_num_value_heads");
  RequireDivides(text, "linear_num_key_heads", config.key_heads, config.value_heads, "value heads");
  config.key_dim = HeadSize(text, "linear_key_head_dim");
  config.value_dim = HeadSize(text, "linear_value_head_dim");
  config.conv_taps = SizeOr(text, "linear_conv_kernel_dim", {2, 64}, 4);
}

void ReadText(const ConfigReader& text, Qwen35Config& config) {
  RefuseWhatWouldBeWrong(text);
  config.hidden = Size(text, "hidden_size");
  config.layers = ReadLayers(text);
  config.mlp = Size(text, "intermediate_size");
  config.vocab = Size(text, "vocab_size", kVocab);
  ReadAttention(text, config);
  ReadLinearAttention(text, config);
  config.norm_eps = text.FloatOr("rms_norm_eps", {1e-12, 1e-2}, 1e-6);
  config.max_positions = SizeOr(text, "max_position_embeddings", {1, 1 << 30}, 32768);
  config.dtype = ReadWeightsDtype(text);
}

}  // namespace

Qwen35Config ParseQwen35Config(const json::Value& value) {
  Qwen35Config config;
  const ConfigReader root(value, "config.json", config.notes);
  const bool whole = root.OneOf("model_type", {"qwen3_5", "qwen3_5_text"}) == 0;
  if (root.Has("quantization_config")) {
    root.Refuse("quantization_config", "is present: checkpoints quantized elsewhere are not read",
                "use the unquantized checkpoint");
  }
  if (!whole) {
    ReadText(root, config);
    return config;
  }
  const ConfigReader text = root.Object("text_config");
  text.OneOf("model_type", {"qwen3_5_text"}, 0);
  ReadText(text, config);
  if (!config.dtype) config.dtype = ReadWeightsDtype(root);
  return config;
}

Qwen35Config ReadQwen35Config(const std::filesystem::path& folder) {
  return ParseQwen35Config(ReadConfigFile(folder));
}

}  // namespace assay::formats

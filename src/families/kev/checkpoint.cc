#include "families/kev/checkpoint.h"

#include <fmt/format.h>

#include "families/tensors.h"

namespace assay::families::kev {
namespace {

using formats::BoundTensors;
using formats::Qwen35Config;
using formats::Qwen35LayerKind;
using formats::Tensor;
using formats::TensorRow;
using formats::TensorTable;

const std::vector<std::string> kPrefixes = {"model.language_model.", "model.", ""};

class TableMaker {
 public:
  explicit TableMaker(const Qwen35Config& config) : config_(config) {
    table_.architecture = "qwen3_5_text";
    table_.ignored = {{"model.visual.", "no pictures are read"},
                      {"mtp.", "the layers that predict further tokens"},
                      {"lm_head.", "the vocabulary head is not read"}};
  }

  TensorTable Make() {
    Add("embed_tokens", ".weight", {config_.vocab, config_.hidden});
    Add("norm", ".weight", {config_.hidden});
    for (size_t n = 0; n < config_.layers.size(); ++n) {
      const std::string layer = fmt::format("layers.{}.", n);
      Add(layer + "input_layernorm", ".weight", {config_.hidden});
      Add(layer + "post_attention_layernorm", ".weight", {config_.hidden});
      Add(layer + "mlp.gate_proj", ".weight", {config_.mlp, config_.hidden});
      Add(layer + "mlp.up_proj", ".weight", {config_.mlp, config_.hidden});
      Add(layer + "mlp.down_proj", ".weight", {config_.hidden, config_.mlp});
      if (config_.layers[n] == Qwen35LayerKind::kLinear) {
        LinearAttention(layer + "linear_attn.");
      } else {
        Attention(layer + "self_attn.");
      }
    }
    return std::move(table_);
  }

 private:
  void Add(const std::string& name, const std::string& ending, std::vector<uint64_t> shape) {
    TensorRow row;
    row.name = name;
    row.sources = formats::Spellings(kPrefixes, name + ending);
    row.shape = std::move(shape);
    row.group = "text";
    table_.rows.push_back(std::move(row));
  }

  void LinearAttention(const std::string& mixer) {
    const kernels::DeltaShape delta = ShapeOf(config_).delta;
    const uint64_t values = delta.value_width();
    Add(mixer + "in_proj_qkv", ".weight", {delta.channels(), config_.hidden});
    Add(mixer + "in_proj_z", ".weight", {values, config_.hidden});
    Add(mixer + "in_proj_b", ".weight", {delta.value_heads, config_.hidden});
    Add(mixer + "in_proj_a", ".weight", {delta.value_heads, config_.hidden});
    Add(mixer + "conv1d", ".weight", {delta.channels(), 1, config_.conv_taps});
    Add(mixer + "A_log", "", {delta.value_heads});
    Add(mixer + "dt_bias", "", {delta.value_heads});
    Add(mixer + "norm", ".weight", {delta.value_dim});
    Add(mixer + "out_proj", ".weight", {config_.hidden, values});
  }

  void Attention(const std::string& mixer) {
    const uint64_t q_width = config_.heads * config_.head_dim;
    const uint64_t kv_width = config_.kv_heads * config_.head_dim;
    // Each head's query, then its gate.
    Add(mixer + "q_proj", ".weight", {2 * q_width, config_.hidden});
    Add(mixer + "k_proj", ".weight", {kv_width, config_.hidden});
    Add(mixer + "v_proj", ".weight", {kv_width, config_.hidden});
    Add(mixer + "o_proj", ".weight", {config_.hidden, q_width});
    Add(mixer + "q_norm", ".weight", {config_.head_dim});
    Add(mixer + "k_norm", ".weight", {config_.head_dim});
  }

  const Qwen35Config& config_;
  TensorTable table_;
};

nn::Qwen35Layer LayerOf(const BoundTensors& tensors, size_t n, Qwen35LayerKind kind) {
  const auto get = [&](std::string_view name) -> const Tensor& {
    return tensors.Get(fmt::format("layers.{}.{}", n, name));
  };
  const auto linear = [&](std::string_view name) -> nn::Qwen35Linear {
    return {MatrixOf(get(name))};
  };
  nn::Qwen35Layer layer;
  layer.input_norm = VectorOf(get("input_layernorm"));
  layer.post_norm = VectorOf(get("post_attention_layernorm"));
  layer.gate_proj = linear("mlp.gate_proj");
  layer.up_proj = linear("mlp.up_proj");
  layer.down_proj = linear("mlp.down_proj");
  if (kind == Qwen35LayerKind::kLinear) {
    layer.delta = {linear("linear_attn.in_proj_qkv"),    linear("linear_attn.in_proj_z"),
                   linear("linear_attn.in_proj_b"),      linear("linear_attn.in_proj_a"),
                   TapsOf(get("linear_attn.conv1d")),    VectorOf(get("linear_attn.A_log")),
                   VectorOf(get("linear_attn.dt_bias")), VectorOf(get("linear_attn.norm")),
                   linear("linear_attn.out_proj")};
  } else {
    layer.attention = {linear("self_attn.q_proj"),        linear("self_attn.k_proj"),
                       linear("self_attn.v_proj"),        linear("self_attn.o_proj"),
                       VectorOf(get("self_attn.q_norm")), VectorOf(get("self_attn.k_norm"))};
  }
  return layer;
}

}  // namespace

TensorTable TensorsOf(const Qwen35Config& config) { return TableMaker(config).Make(); }

nn::Qwen35Shape ShapeOf(const Qwen35Config& config) {
  nn::Qwen35Shape shape;
  shape.hidden = config.hidden;
  shape.vocabulary = config.vocab;
  shape.mlp = config.mlp;
  shape.heads = config.heads;
  shape.kv_heads = config.kv_heads;
  shape.head_dim = config.head_dim;
  shape.rotary_dims = config.rotary_dims;
  shape.conv_taps = config.conv_taps;
  shape.delta = {config.key_heads, config.value_heads, config.key_dim, config.value_dim};
  shape.norm_eps = static_cast<float>(config.norm_eps);
  shape.rope_theta = config.rope_theta;
  for (const Qwen35LayerKind kind : config.layers)
    shape.layer_is_attention.push_back(kind == Qwen35LayerKind::kAttention);
  return shape;
}

nn::Qwen35Weights WeightsOf(const Qwen35Config& config, const BoundTensors& tensors) {
  nn::Qwen35Weights weights;
  weights.embedding = MatrixOf(tensors.Get("embed_tokens"));
  weights.final_norm = VectorOf(tensors.Get("norm"));
  for (size_t n = 0; n < config.layers.size(); ++n)
    weights.layers.push_back(LayerOf(tensors, n, config.layers[n]));
  return weights;
}

}  // namespace assay::families::kev

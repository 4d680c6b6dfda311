#include "families/d1/checkpoint.h"

#include <fmt/format.h>

#include "families/tensors.h"

namespace assay::families::d1 {
namespace {

using formats::BoundTensors;
using formats::Lfm2LayerKind;
using formats::Spellings;
using formats::Tensor;
using formats::TensorRow;
using formats::TensorTable;

// transformers saves tower names with or without the middle segment (spec d1 1.5, naming trap).
const std::vector<std::string> kTowerPrefixes = {"model.vision_tower.vision_model.",
                                                 "model.vision_tower."};

class TableMaker {
 public:
  explicit TableMaker(const formats::Lfm2VlConfig& config) : config_(config) {
    table_.architecture = "lfm2_vl";
  }

  TensorTable Make() {
    Text();
    Tower();
    Projector();
    return std::move(table_);
  }

 private:
  void Add(std::string name, std::vector<std::string> sources, std::vector<uint64_t> shape,
           std::string group = "") {
    TensorRow row;
    row.name = std::move(name);
    row.sources = std::move(sources);
    row.shape = std::move(shape);
    row.group = std::move(group);
    table_.rows.push_back(std::move(row));
  }

  void AddText(const std::string& name, const std::string& source, std::vector<uint64_t> shape) {
    Add("text." + name, {"model.language_model." + source + ".weight"}, std::move(shape));
  }

  void Text() {
    const formats::Lfm2TextConfig& text = config_.text;
    AddText("embedding", "embed_tokens", {text.vocab, text.hidden});
    AddText("final_norm", "embedding_norm", {text.hidden});
    // Not in published files, whose head is the embedding; HeadTensor decides what a stored one
    // means.
    Add("text.head", {"lm_head.weight"}, {text.vocab, text.hidden});
    table_.rows.back().required = false;
    for (size_t n = 0; n < text.layers.size(); ++n) TextLayer(n, text.layers[n]);
  }

  void TextLayer(size_t n, Lfm2LayerKind kind) {
    const formats::Lfm2TextConfig& text = config_.text;
    const std::string ours = fmt::format("{}.", n);
    const std::string source = fmt::format("layers.{}.", n);
    const auto add = [&](const std::string& name, const std::string& rest,
                         std::vector<uint64_t> shape) {
      AddText(ours + name, source + rest, std::move(shape));
    };
    add("operator_norm", "operator_norm", {text.hidden});
    add("ffn_norm", "ffn_norm", {text.hidden});
    add("gate", "feed_forward.w1", {text.mlp, text.hidden});
    add("up", "feed_forward.w3", {text.mlp, text.hidden});
    add("down", "feed_forward.w2", {text.hidden, text.mlp});
    if (kind == Lfm2LayerKind::kConv) {
      add("conv.in_proj", "conv.in_proj", {3 * text.hidden, text.hidden});
      add("conv.taps", "conv.conv", {text.hidden, 1, text.conv_taps});
      add("conv.out_proj", "conv.out_proj", {text.hidden, text.hidden});
      return;
    }
    const uint64_t q_width = text.heads * text.head_dim;
    const uint64_t kv_width = text.kv_heads * text.head_dim;
    add("q_proj", "self_attn.q_proj", {q_width, text.hidden});
    add("k_proj", "self_attn.k_proj", {kv_width, text.hidden});
    add("v_proj", "self_attn.v_proj", {kv_width, text.hidden});
    add("out_proj", "self_attn.out_proj", {text.hidden, q_width});
    add("q_norm", "self_attn.q_layernorm", {text.head_dim});
    add("k_norm", "self_attn.k_layernorm", {text.head_dim});
  }

  void AddTower(const std::string& name, const std::string& source, std::vector<uint64_t> shape) {
    Add("vision." + name, Spellings(kTowerPrefixes, source), std::move(shape), "vision tower");
  }

  // A linear layer or a norm with its bias; a norm has no inputs.
  void AddTowerPair(const std::string& name, const std::string& source, uint64_t outputs,
                    uint64_t inputs) {
    AddTower(name, source + ".weight",
             inputs == 0 ? std::vector<uint64_t>{outputs} : std::vector<uint64_t>{outputs, inputs});
    AddTower(name + "_bias", source + ".bias", {outputs});
  }

  void Tower() {
    const formats::Siglip2Config& vision = config_.vision;
    AddTowerPair("patch_embedding", "embeddings.patch_embedding", vision.hidden,
                 vision.channels * vision.patch * vision.patch);
    AddTower("positions", "embeddings.position_embedding.weight",
             {vision.position_side * vision.position_side, vision.hidden});
    for (size_t n = 0; n < vision.layers; ++n) {
      const std::string ours = fmt::format("{}.", n);
      const std::string source = fmt::format("encoder.layers.{}.", n);
      AddTowerPair(ours + "norm1", source + "layer_norm1", vision.hidden, 0);
      AddTowerPair(ours + "norm2", source + "layer_norm2", vision.hidden, 0);
      for (const std::string part : {"q_proj", "k_proj", "v_proj", "out_proj"}) {
        AddTowerPair(ours + part, fmt::format("{}self_attn.{}", source, part), vision.hidden,
                     vision.hidden);
      }
      AddTowerPair(ours + "fc1", source + "mlp.fc1", vision.mlp, vision.hidden);
      AddTowerPair(ours + "fc2", source + "mlp.fc2", vision.hidden, vision.mlp);
    }
    AddTowerPair("post_norm", "post_layernorm", vision.hidden, 0);
  }

  void Projector() {
    const uint64_t factor = config_.downsample_factor;
    const uint64_t merged = config_.vision.hidden * factor * factor;
    const auto add = [&](const std::string& name, uint64_t outputs, uint64_t inputs) {
      const std::string source = "model.multi_modal_projector." + name;
      Add("projector." + name, {source + ".weight"}, {outputs, inputs});
      Add("projector." + name + "_bias", {source + ".bias"}, {outputs});
    };
    add("linear_1", config_.projector_hidden, merged);
    add("linear_2", config_.text.hidden, config_.projector_hidden);
  }

  const formats::Lfm2VlConfig& config_;
  TensorTable table_;
};

nn::Lfm2Layer LayerOf(const BoundTensors& tensors, size_t n, Lfm2LayerKind kind) {
  const auto get = [&](const char* name) -> const Tensor& {
    return tensors.Get(fmt::format("text.{}.{}", n, name));
  };
  nn::Lfm2Layer layer;
  layer.operator_norm = VectorOf(get("operator_norm"));
  layer.ffn_norm = VectorOf(get("ffn_norm"));
  layer.gate = MatrixOf(get("gate"));
  layer.up = MatrixOf(get("up"));
  layer.down = MatrixOf(get("down"));
  if (kind == Lfm2LayerKind::kConv) {
    layer.conv = {MatrixOf(get("conv.in_proj")), TapsOf(get("conv.taps")),
                  MatrixOf(get("conv.out_proj"))};
  } else {
    layer.attention = {MatrixOf(get("q_proj")),   MatrixOf(get("k_proj")), MatrixOf(get("v_proj")),
                       MatrixOf(get("out_proj")), VectorOf(get("q_norm")), VectorOf(get("k_norm"))};
  }
  return layer;
}

}  // namespace

formats::TensorTable TensorsOf(const formats::Lfm2VlConfig& config) {
  return TableMaker(config).Make();
}

nn::Lfm2Shape ShapeOf(const formats::Lfm2TextConfig& text) {
  nn::Lfm2Shape shape;
  shape.hidden = text.hidden;
  shape.vocabulary = text.vocab;
  shape.mlp = text.mlp;
  shape.heads = text.heads;
  shape.kv_heads = text.kv_heads;
  shape.head_dim = text.head_dim;
  shape.conv_taps = text.conv_taps;
  shape.norm_eps = static_cast<float>(text.norm_eps);
  shape.rope_theta = text.rope_theta;
  for (const Lfm2LayerKind kind : text.layers)
    shape.layer_is_attention.push_back(kind == Lfm2LayerKind::kAttention);
  return shape;
}

std::unique_ptr<nn::Decoder> MakeDecoder(const formats::Lfm2VlConfig& config,
                                         const BoundTensors& tensors,
                                         const kernels::Compute& compute) {
  nn::Lfm2Weights weights;
  weights.embedding = MatrixOf(tensors.Get("text.embedding"));
  weights.final_norm = VectorOf(tensors.Get("text.final_norm"));
  for (size_t n = 0; n < config.text.layers.size(); ++n) {
    weights.layers.push_back(LayerOf(tensors, n, config.text.layers[n]));
  }
  return nn::MakeLfm2(ShapeOf(config.text), std::move(weights), compute);
}

}  // namespace assay::families::d1

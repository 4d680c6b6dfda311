// Sizes and names of the Qwen3.5 decoder: everything that needs no arithmetic on activations.
#include <fmt/format.h>

#include <algorithm>

#include "base/sizes.h"
#include "nn/qwen35.h"

namespace assay::nn {

StateShape Qwen35StateShape(const Qwen35Shape& shape, const DeltaForm& form) {
  StateShape state;
  const auto& kinds = shape.layer_is_attention;
  state.attention_layers = static_cast<size_t>(std::count(kinds.begin(), kinds.end(), true));
  state.attention = {shape.heads, shape.kv_heads, shape.head_dim};
  state.conv_layers = kinds.size() - state.attention_layers;
  state.conv_columns = shape.conv_taps - 1;
  state.conv_channels = shape.delta.channels();
  state.delta_layers = state.conv_layers;
  state.delta = shape.delta;
  state.delta_chunk = form.kind == DeltaForm::Kind::kChunk ? form.chunk : 0;
  return state;
}

size_t Qwen35PassBytes(const Qwen35Shape& shape, size_t rank, size_t rows,
                       const kernels::Compute& compute) {
  const kernels::DeltaShape& delta = shape.delta;
  const size_t values = SaturatingProduct(delta.value_heads, delta.value_dim);
  const size_t channels =
      SaturatingSum(SaturatingProduct(size_t{2}, delta.key_heads, delta.key_dim), values);
  // Inputs and outputs of the convolution; z and the rule's output; beta, g and its exponential.
  const size_t delta_mixer =
      SaturatingSum(SaturatingProduct(size_t{2}, SaturatingSum(channels, values)),
                    SaturatingProduct(size_t{3}, delta.value_heads));
  // Queries with their gates, queries, outputs; keys and values.
  const size_t attention_mixer =
      SaturatingProduct(SaturatingSum(SaturatingProduct(size_t{4}, shape.heads),
                                      SaturatingProduct(size_t{2}, shape.kv_heads)),
                        shape.head_dim);
  const size_t block = std::max({delta_mixer, attention_mixer, shape.mlp});
  const size_t widest =
      std::max({shape.hidden, shape.mlp, SaturatingProduct(shape.heads, shape.head_dim), values});
  const size_t residual = SaturatingProduct(size_t{2}, shape.hidden);
  // The inner rows of four adapters, each twice, and the linear layer's copies of its inputs: with
  // adapters in fp32 beside another form.
  const size_t inner = SaturatingProduct(size_t{8}, rank);
  size_t copies = kernels::LinearRowBytes(widest, {});
  if (compute.form != kernels::ComputeForm::kF32)
    copies = SaturatingSum(copies, kernels::LinearRowBytes(widest, compute));
  return SaturatingProduct(
      rows, SaturatingSum(SaturatingProduct(SaturatingSum(residual, block, inner), sizeof(float)),
                          copies));
}

std::vector<Qwen35Module> Qwen35Modules(const Qwen35Shape& shape, Qwen35Weights& weights) {
  std::vector<Qwen35Module> modules;
  for (size_t n = 0; n < weights.layers.size(); ++n) {
    Qwen35Layer& layer = weights.layers[n];
    const auto add = [&](std::string_view name, Qwen35Linear& linear) {
      modules.push_back({fmt::format("layers.{}.{}", n, name), &linear});
    };
    if (shape.layer_is_attention[n]) {
      add("self_attn.q_proj", layer.attention.q_proj);
      add("self_attn.k_proj", layer.attention.k_proj);
      add("self_attn.v_proj", layer.attention.v_proj);
      add("self_attn.o_proj", layer.attention.o_proj);
    } else {
      add("linear_attn.in_proj_qkv", layer.delta.in_proj_qkv);
      add("linear_attn.in_proj_z", layer.delta.in_proj_z);
      add("linear_attn.in_proj_b", layer.delta.in_proj_b);
      add("linear_attn.in_proj_a", layer.delta.in_proj_a);
      add("linear_attn.out_proj", layer.delta.out_proj);
    }
    add("mlp.gate_proj", layer.gate_proj);
    add("mlp.up_proj", layer.up_proj);
    add("mlp.down_proj", layer.down_proj);
  }
  return modules;
}

}  // namespace assay::nn

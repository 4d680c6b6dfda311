// The Qwen3.5 text decoder: three gated delta-rule layers to one of gated attention, each followed
// by a gated MLP (spec kev 2). Every linear layer may have a low-rank adapter beside its weights.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/delta_rule.h"
#include "kernels/linear.h"
#include "nn/decoder.h"

namespace assay::nn {

struct Qwen35Shape {
  size_t hidden = 0;
  size_t vocabulary = 0;
  size_t mlp = 0;
  size_t heads = 0;
  size_t kv_heads = 0;
  size_t head_dim = 0;
  size_t rotary_dims = 0;  // the first ones of a head; even
  size_t conv_taps = 0;
  kernels::DeltaShape delta;
  float norm_eps = 0;
  double rope_theta = 0;
  std::vector<bool> layer_is_attention;  // one entry a layer
};

// How the delta rule runs. Within a form, alone, together, split and forked runs have the same
// bits, and step has those of fused; fused and chunk agree up to rounding (spec kev 2.6).
struct DeltaForm {
  enum class Kind { kFused, kStep, kChunk };
  Kind kind = Kind::kFused;
  size_t chunk = 64;  // kChunk: positions, a multiple of 16 up to 128

  friend bool operator==(const DeltaForm&, const DeltaForm&) = default;
};

// Layers of each kind, and what a sequence leaves behind in them.
StateShape Qwen35StateShape(const Qwen35Shape& shape, const DeltaForm& form);
// Bytes of activations that a pass of `rows` rows takes, adapters of up to `rank` included; the
// largest number for a shape that overflows it, since shapes are asked about before they are
// compared with weights.
size_t Qwen35PassBytes(const Qwen35Shape& shape, size_t rank, size_t rows,
                       const kernels::Compute& compute = {});

// Weights borrow the checkpoint's memory; small vectors (norm gains, taps) are widened copies.
struct Qwen35Linear {
  kernels::WeightMatrix weight;
  std::optional<kernels::LowRank> low_rank = {};
};

struct Qwen35DeltaWeights {
  Qwen35Linear in_proj_qkv;    // [delta.channels(), hidden]
  Qwen35Linear in_proj_z;      // [delta.value_width(), hidden]
  Qwen35Linear in_proj_b;      // [value_heads, hidden]
  Qwen35Linear in_proj_a;      // [value_heads, hidden]
  std::vector<float> taps;     // [taps, delta.channels()]
  std::vector<float> a_log;    // [value_heads]
  std::vector<float> dt_bias;  // [value_heads]
  std::vector<float> norm;     // [value_dim], a plain factor
  Qwen35Linear out_proj;       // [hidden, delta.value_width()]
};

struct Qwen35AttentionWeights {
  Qwen35Linear q_proj;  // [heads * 2 * head_dim, hidden]: a head's query, then its gate
  Qwen35Linear k_proj;  // [kv_heads * head_dim, hidden]
  Qwen35Linear v_proj;
  Qwen35Linear o_proj;        // [hidden, heads * head_dim]
  std::vector<float> q_norm;  // [head_dim]; these and all norms below are factors less one
  std::vector<float> k_norm;
};

struct Qwen35Layer {
  std::vector<float> input_norm;     // [hidden]
  std::vector<float> post_norm;      // [hidden], before the MLP
  Qwen35DeltaWeights delta;          // of a delta-rule layer
  Qwen35AttentionWeights attention;  // of an attention layer
  Qwen35Linear gate_proj;            // [mlp, hidden]
  Qwen35Linear up_proj;
  Qwen35Linear down_proj;  // [hidden, mlp]
};

struct Qwen35Weights {
  kernels::WeightMatrix embedding;  // [vocabulary, hidden]
  std::vector<Qwen35Layer> layers;
  std::vector<float> final_norm;  // [hidden]
};

// A linear layer by its module name, which is how an adapter's tensors name it.
struct Qwen35Module {
  std::string name;  // "layers.3.self_attn.q_proj"
  Qwen35Linear* linear = nullptr;

  size_t outputs() const { return linear->weight.rows; }
  size_t inputs() const { return linear->weight.cols; }
};
// All of them, first layer first; they point into `weights`.
std::vector<Qwen35Module> Qwen35Modules(const Qwen35Shape& shape, Qwen35Weights& weights);

// How the decoder computes what its weights say.
struct Qwen35Forms {
  DeltaForm delta = {};
  kernels::Compute compute = {};
};

std::unique_ptr<Decoder> MakeQwen35(Qwen35Shape shape, Qwen35Weights weights,
                                    const Qwen35Forms& forms = {});

}  // namespace assay::nn

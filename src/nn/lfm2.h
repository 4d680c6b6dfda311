// The LFM2 decoder: short-convolution layers and grouped-query attention layers, each followed by a
// gated MLP (spec d1 2).
#pragma once

#include <memory>
#include <vector>

#include "kernels/compute_form.h"
#include "kernels/weights.h"
#include "nn/decoder.h"

namespace assay::nn {

struct Lfm2Shape {
  size_t hidden = 0;
  size_t vocabulary = 0;
  size_t mlp = 0;
  size_t heads = 0;
  size_t kv_heads = 0;
  size_t head_dim = 0;
  size_t conv_taps = 0;
  float norm_eps = 0;
  double rope_theta = 0;
  std::vector<bool> layer_is_attention;  // one entry a layer
};

// Layers of each kind, and what a sequence leaves behind in them.
StateShape Lfm2StateShape(const Lfm2Shape& shape);
// Bytes of activations that a pass of `rows` rows takes; the largest number for a shape that
// overflows it, since shapes are asked about before they are compared with weights.
size_t Lfm2PassBytes(const Lfm2Shape& shape, size_t rows, const kernels::Compute& compute = {});

// Weights borrow the checkpoint's memory; small vectors (norm gains, taps) are widened copies.
struct Lfm2ConvWeights {
  kernels::WeightMatrix in_proj;   // [3 * hidden, hidden]: B, C, X
  std::vector<float> taps;         // [taps, hidden]
  kernels::WeightMatrix out_proj;  // [hidden, hidden]
};

struct Lfm2AttentionWeights {
  kernels::WeightMatrix q_proj;  // [heads * head_dim, hidden]
  kernels::WeightMatrix k_proj;  // [kv_heads * head_dim, hidden]
  kernels::WeightMatrix v_proj;
  kernels::WeightMatrix out_proj;  // [hidden, heads * head_dim]
  std::vector<float> q_norm;       // [head_dim]
  std::vector<float> k_norm;
};

struct Lfm2Layer {
  std::vector<float> operator_norm;  // [hidden]
  std::vector<float> ffn_norm;
  Lfm2ConvWeights conv;            // of a conv layer
  Lfm2AttentionWeights attention;  // of an attention layer
  kernels::WeightMatrix gate;      // w1 [mlp, hidden]
  kernels::WeightMatrix up;        // w3
  kernels::WeightMatrix down;      // w2 [hidden, mlp]
};

struct Lfm2Weights {
  kernels::WeightMatrix embedding;  // [vocabulary, hidden]
  std::vector<Lfm2Layer> layers;
  std::vector<float> final_norm;  // [hidden]
};

std::unique_ptr<Decoder> MakeLfm2(Lfm2Shape shape, Lfm2Weights weights,
                                  const kernels::Compute& compute = {});

}  // namespace assay::nn

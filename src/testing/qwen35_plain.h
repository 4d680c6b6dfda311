// A small random Qwen3.5 decoder, and the steps of the specification written out for it in float64.
// For tests.
#pragma once

#include <cmath>
#include <deque>
#include <vector>

#include "nn/qwen35.h"
#include "testing/random.h"

namespace assay::nn {

// Owns its weights. Every linear layer has an adapter of rank 4.
struct Qwen35Toy {
  Qwen35Shape shape;
  std::deque<std::vector<Bf16>> halves;
  std::deque<std::vector<float>> floats;
  Qwen35Weights weights;

  explicit Qwen35Toy(uint64_t seed) {
    using kernels::WeightType;
    testing::Random random(seed);
    shape.hidden = 128;
    shape.vocabulary = 50;
    shape.mlp = 160;
    shape.heads = 4;
    shape.kv_heads = 2;
    shape.head_dim = 32;
    shape.rotary_dims = 8;
    shape.conv_taps = 4;
    shape.delta = {2, 4, 32, 48};
    shape.norm_eps = 1e-6f;
    shape.rope_theta = 1e4;
    for (size_t n = 0; n < 8; ++n) shape.layer_is_attention.push_back(n % 4 == 3);
    const auto matrix = [&](size_t rows, size_t cols) -> kernels::WeightMatrix {
      const float scale = 1 / std::sqrt(static_cast<float>(cols));
      halves.push_back(random.Bf16s(rows * cols, scale));
      return {halves.back().data(), WeightType::kBf16, rows, cols};
    };
    const auto small = [&](size_t rows, size_t cols) -> kernels::WeightMatrix {
      floats.push_back(random.Floats(rows * cols, 1 / std::sqrt(static_cast<float>(cols))));
      return {floats.back().data(), WeightType::kF32, rows, cols};
    };
    const auto linear = [&](size_t rows, size_t cols) -> Qwen35Linear {
      const kernels::WeightMatrix weight = matrix(rows, cols);
      const kernels::WeightMatrix a = small(4, cols);
      return {weight, kernels::LowRank{a, small(rows, 4), 0.5f}};
    };
    const size_t h = shape.hidden, q = shape.heads * shape.head_dim,
                 kv = shape.kv_heads * shape.head_dim;
    const kernels::DeltaShape& delta = shape.delta;
    halves.push_back(random.Bf16s(shape.vocabulary * h, 2));
    weights.embedding = {halves.back().data(), WeightType::kBf16, shape.vocabulary, h};
    for (const bool attention : shape.layer_is_attention) {
      Qwen35Layer layer;
      layer.input_norm = random.Floats(h, 0.3f);
      layer.post_norm = random.Floats(h, 0.3f);
      if (attention) {
        layer.attention = {linear(2 * q, h),
                           linear(kv, h),
                           linear(kv, h),
                           linear(h, q),
                           random.Floats(shape.head_dim, 0.3f),
                           random.Floats(shape.head_dim, 0.3f)};
      } else {
        layer.delta = {linear(delta.channels(), h),
                       linear(delta.value_width(), h),
                       linear(delta.value_heads, h),
                       linear(delta.value_heads, h),
                       random.Floats(shape.conv_taps * delta.channels()),
                       random.Floats(delta.value_heads, 2),
                       random.Floats(delta.value_heads, 2),
                       random.Floats(delta.value_dim, 2),
                       linear(h, delta.value_width())};
      }
      layer.gate_proj = linear(shape.mlp, h);
      layer.up_proj = linear(shape.mlp, h);
      layer.down_proj = linear(h, shape.mlp);
      weights.layers.push_back(std::move(layer));
    }
    weights.final_norm = random.Floats(h, 0.3f);
  }

  std::unique_ptr<Decoder> Make(DeltaForm form = {}) const {
    return MakeQwen35(shape, weights, {form, {}});
  }
};

// Spec kev 2, position by position.
class Qwen35Plain {
 public:
  using Row = std::vector<double>;
  using Rows = std::vector<Row>;

  explicit Qwen35Plain(const Qwen35Toy& toy) : shape_(toy.shape), weights_(toy.weights) {}

  Rows Run(const std::vector<int32_t>& ids) const {
    Rows h;
    for (const int32_t id : ids)
      h.push_back(WeightRow(weights_.embedding, static_cast<size_t>(id)));
    for (size_t n = 0; n < weights_.layers.size(); ++n) {
      const Qwen35Layer& layer = weights_.layers[n];
      const Rows y = Norm(h, layer.input_norm);
      Add(h, shape_.layer_is_attention[n] ? Attention(layer.attention, y) : Delta(layer.delta, y));
      const Rows z = Norm(h, layer.post_norm);
      Rows a = Times(layer.gate_proj, z);
      const Rows b = Times(layer.up_proj, z);
      for (size_t t = 0; t < a.size(); ++t) {
        for (size_t i = 0; i < a[t].size(); ++i) a[t][i] = Silu(a[t][i]) * b[t][i];
      }
      Add(h, Times(layer.down_proj, a));
    }
    return Norm(h, weights_.final_norm);
  }

 private:
  static double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
  static double Silu(double x) { return x * Sigmoid(x); }

  static Row WeightRow(const kernels::WeightMatrix& matrix, size_t r) {
    std::vector<float> row(matrix.cols);
    kernels::WidenRow(matrix, r, row);
    return {row.begin(), row.end()};
  }
  static Rows Times(const kernels::WeightMatrix& matrix, const Rows& x) {
    Rows out(x.size(), Row(matrix.rows));
    for (size_t n = 0; n < matrix.rows; ++n) {
      const Row w = WeightRow(matrix, n);
      for (size_t t = 0; t < x.size(); ++t) {
        for (size_t i = 0; i < w.size(); ++i) out[t][n] += w[i] * x[t][i];
      }
    }
    return out;
  }
  static Rows Times(const Qwen35Linear& linear, const Rows& x) {
    Rows out = Times(linear.weight, x);
    const Rows side = Times(linear.low_rank->b, Times(linear.low_rank->a, x));
    for (size_t t = 0; t < x.size(); ++t) {
      for (size_t n = 0; n < out[t].size(); ++n)
        out[t][n] += static_cast<double>(linear.low_rank->scale) * side[t][n];
    }
    return out;
  }
  static void Add(Rows& h, const Rows& r) {
    for (size_t t = 0; t < h.size(); ++t) {
      for (size_t i = 0; i < h[t].size(); ++i) h[t][i] += r[t][i];
    }
  }
  static Row Part(const Row& row, size_t first, size_t count) {
    return {row.begin() + static_cast<ptrdiff_t>(first),
            row.begin() + static_cast<ptrdiff_t>(first + count)};
  }
  static double Dot(const Row& a, const Row& b) {
    double sum = 0;
    for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  }
  // `offset` is 1 where gains are stored less one.
  static Row NormOne(Row x, const std::vector<float>& gain, double offset) {
    const double scale = 1 / std::sqrt(Dot(x, x) / static_cast<double>(x.size()) + 1e-6);
    for (size_t i = 0; i < x.size(); ++i) x[i] *= scale * (offset + static_cast<double>(gain[i]));
    return x;
  }
  static Rows Norm(Rows x, const std::vector<float>& gain) {
    for (Row& row : x) row = NormOne(row, gain, 1);
    return x;
  }

  Row Head(const Row& row, size_t first, const std::vector<float>& gain, size_t position) const {
    const Row x = NormOne(Part(row, first, shape_.head_dim), gain, 1);
    Row out = x;
    const size_t half = shape_.rotary_dims / 2;
    for (size_t i = 0; i < half; ++i) {
      const double angle = static_cast<double>(position) *
                           std::pow(shape_.rope_theta, -2.0 * static_cast<double>(i) /
                                                           static_cast<double>(shape_.rotary_dims));
      out[i] = x[i] * std::cos(angle) - x[i + half] * std::sin(angle);
      out[i + half] = x[i + half] * std::cos(angle) + x[i] * std::sin(angle);
    }
    return out;
  }

  Rows Attention(const Qwen35AttentionWeights& w, const Rows& y) const {
    const Rows q = Times(w.q_proj, y), k = Times(w.k_proj, y), v = Times(w.v_proj, y);
    const size_t d = shape_.head_dim, group = shape_.heads / shape_.kv_heads;
    Rows out(y.size(), Row(shape_.heads * d));
    for (size_t head = 0; head < shape_.heads; ++head) {
      Rows keys;
      for (size_t t = 0; t < y.size(); ++t)
        keys.push_back(Head(k[t], head / group * d, w.k_norm, t));
      for (size_t t = 0; t < y.size(); ++t) {
        const Row query = Head(q[t], head * 2 * d, w.q_norm, t);
        Row p(t + 1);
        double sum = 0;
        for (size_t j = 0; j <= t; ++j)
          sum += p[j] = std::exp(Dot(query, keys[j]) / std::sqrt(static_cast<double>(d)));
        for (size_t i = 0; i < d; ++i) {
          double mixed = 0;
          for (size_t j = 0; j <= t; ++j) mixed += p[j] / sum * v[j][head / group * d + i];
          out[t][head * d + i] = mixed * Sigmoid(q[t][head * 2 * d + d + i]);
        }
      }
    }
    return Times(w.o_proj, out);
  }

  Rows Convolve(const std::vector<float>& taps, const Rows& u) const {
    Rows out(u.size(), Row(u[0].size()));
    for (size_t t = 0; t < u.size(); ++t) {
      for (size_t c = 0; c < u[t].size(); ++c) {
        for (size_t tap = 0; tap < 4; ++tap) {
          if (t + tap < 3) continue;
          out[t][c] += static_cast<double>(taps[tap * u[t].size() + c]) * u[t + tap - 3][c];
        }
        out[t][c] = Silu(out[t][c]);
      }
    }
    return out;
  }

  Rows Delta(const Qwen35DeltaWeights& w, const Rows& y) const {
    const kernels::DeltaShape& shape = shape_.delta;
    const Rows qkv = Convolve(w.taps, Times(w.in_proj_qkv, y)), z = Times(w.in_proj_z, y),
               b = Times(w.in_proj_b, y), a = Times(w.in_proj_a, y);
    Rows out(y.size(), Row(shape.value_width()));
    for (size_t n = 0; n < shape.value_heads; ++n) {
      const size_t key_head = n / (shape.value_heads / shape.key_heads);
      Rows s(shape.key_dim, Row(shape.value_dim));
      for (size_t t = 0; t < y.size(); ++t) {
        const auto unit = [&](size_t first) {
          Row x = Part(qkv[t], first, shape.key_dim);
          const double scale = 1 / std::sqrt(Dot(x, x) + 1e-6);
          for (double& v : x) v *= scale;
          return x;
        };
        const Row q = unit(key_head * shape.key_dim);
        const Row k = unit(shape.key_width() + key_head * shape.key_dim);
        const double beta = Sigmoid(b[t][n]);
        const double g = -std::exp(static_cast<double>(w.a_log[n])) *
                         std::log1p(std::exp(a[t][n] + static_cast<double>(w.dt_bias[n])));
        Row o(shape.value_dim);
        for (size_t j = 0; j < shape.value_dim; ++j) {
          double recalled = 0;
          for (size_t i = 0; i < shape.key_dim; ++i) recalled += (s[i][j] *= std::exp(g)) * k[i];
          const double v = qkv[t][2 * shape.key_width() + n * shape.value_dim + j];
          for (size_t i = 0; i < shape.key_dim; ++i) {
            s[i][j] += k[i] * beta * (v - recalled);
            o[j] += s[i][j] * q[i] / std::sqrt(static_cast<double>(shape.key_dim));
          }
        }
        o = NormOne(o, w.norm, 0);
        for (size_t j = 0; j < shape.value_dim; ++j)
          out[t][n * shape.value_dim + j] = o[j] * Silu(z[t][n * shape.value_dim + j]);
      }
    }
    return Times(w.out_proj, out);
  }

  const Qwen35Shape& shape_;
  const Qwen35Weights& weights_;
};

}  // namespace assay::nn

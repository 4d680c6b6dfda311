#include "nn/lfm2.h"

#include <algorithm>

#include "base/check.h"
#include "base/sizes.h"
#include "kernels/attention.h"
#include "kernels/linear.h"
#include "kernels/rms_norm.h"
#include "kernels/rotary.h"
#include "kernels/short_conv.h"
#include "nn/pass.h"

namespace assay::nn {
namespace {

using kernels::Epilogue;
using kernels::Linear;
using kernels::LinearPart;

class Lfm2 final : public Decoder {
 public:
  Lfm2(Lfm2Shape shape, Lfm2Weights weights, const kernels::Compute& compute)
      : shape_(std::move(shape)),
        weights_(std::move(weights)),
        compute_(compute),
        attention_shape_{shape_.heads, shape_.kv_heads, shape_.head_dim},
        frequencies_(kernels::RotaryFrequencies(shape_.rope_theta, shape_.head_dim)) {
    ASSAY_CHECK(weights_.layers.size() == shape_.layer_is_attention.size());
    ASSAY_CHECK(!weights_.layers.empty());
  }

  size_t hidden_size() const override { return shape_.hidden; }
  size_t vocabulary() const override { return shape_.vocabulary; }

  StateShape state_shape() const override { return Lfm2StateShape(shape_); }
  kernels::Compute compute() const override { return compute_; }
  std::vector<std::string_view> other_kernels() const override {
    return {"attention", "short conv", "rms norm"};
  }

  std::vector<kernels::WeightMatrix> linear_weights() const override {
    std::vector<kernels::WeightMatrix> out;
    for (size_t n = 0; n < weights_.layers.size(); ++n) {
      const Lfm2Layer& layer = weights_.layers[n];
      const Lfm2AttentionWeights& mixer = layer.attention;
      if (shape_.layer_is_attention[n]) {
        out.insert(out.end(), {mixer.q_proj, mixer.k_proj, mixer.v_proj, mixer.out_proj});
      } else {
        out.insert(out.end(), {layer.conv.in_proj, layer.conv.out_proj});
      }
      out.insert(out.end(), {layer.gate, layer.up, layer.down});
    }
    return out;
  }

 protected:
  void RunPass(Threads& threads, std::span<Segment> segments,
               std::span<const Piece> pieces) const override {
    const Pass pass = StartPass(segments, pieces);
    Buffer residual(pass.rows, shape_.hidden);
    Buffer normed(pass.rows, shape_.hidden);
    const View2<float> h = residual.view();
    const View2<float> y = normed.view();
    const kernels::RotaryTable rotary = kernels::RotaryAt(PositionsOf(pass), frequencies_);
    EmbedRows(pass, weights_.embedding, h);
    size_t conv_layer = 0;
    size_t attention_layer = 0;
    for (size_t n = 0; n < weights_.layers.size(); ++n) {
      const Lfm2Layer& layer = weights_.layers[n];
      kernels::RmsNorm(threads, h, layer.operator_norm, shape_.norm_eps, 0, y);
      if (shape_.layer_is_attention[n]) {
        AttentionBlock(threads, pass, layer.attention, attention_layer++, rotary, y, h);
      } else {
        ConvBlock(threads, pass, layer.conv, conv_layer++, y, h);
      }
      // After the last mixer only the rows that are read matter.
      if (n + 1 == weights_.layers.size()) break;
      kernels::RmsNorm(threads, h, layer.ffn_norm, shape_.norm_eps, 0, y);
      Mlp(threads, layer, y, h);
    }
    ReadOut(threads, pass, h);
  }

 private:
  // h += out_proj(C * conv(B * X)); spec 2.2.
  void ConvBlock(Threads& threads, const Pass& pass, const Lfm2ConvWeights& weights, size_t layer,
                 View2<const float> y, View2<float> h) const {
    Buffer bcx(pass.rows, 3 * shape_.hidden);
    Buffer filtered(pass.rows, shape_.hidden);
    const LinearPart in{weights.in_proj, bcx.view()};
    Linear(threads, y, std::span(&in, 1), Epilogue::kStore, compute_);
    std::vector<kernels::ShortConvPart> parts;
    for (size_t p = 0; p < pass.pieces.size(); ++p) {
      const Piece& piece = pass.pieces[p];
      parts.push_back({bcx.view().Rows(pass.first_row[p], piece.count),
                       pass.segments[piece.segment].state->Columns(layer),
                       filtered.view().Rows(pass.first_row[p], piece.count)});
    }
    const View2<const float> taps(weights.taps.data(), shape_.conv_taps, shape_.hidden);
    kernels::ShortConv(threads, taps, parts);
    const LinearPart out{weights.out_proj, h};
    Linear(threads, filtered.view(), std::span(&out, 1), Epilogue::kAdd, compute_);
  }

  // h += out_proj(attention(rope(norm(q)), rope(norm(k)), v)); spec 2.3.
  void AttentionBlock(Threads& threads, const Pass& pass, const Lfm2AttentionWeights& weights,
                      size_t layer, const kernels::RotaryTable& rotary, View2<const float> y,
                      View2<float> h) const {
    const size_t q_width = shape_.heads * shape_.head_dim;
    const size_t kv_width = attention_shape_.kv_width();
    Buffer q(pass.rows, q_width);
    Buffer k(pass.rows, kv_width);
    Buffer v(pass.rows, kv_width);
    Buffer mixed(pass.rows, q_width);
    const LinearPart qkv[] = {
        {weights.q_proj, q.view()}, {weights.k_proj, k.view()}, {weights.v_proj, v.view()}};
    Linear(threads, y, qkv, Epilogue::kStore, compute_);
    NormHeads(threads, weights.q_norm, q.view());
    NormHeads(threads, weights.k_norm, k.view());
    kernels::Rotate(rotary, shape_.head_dim, q.view());
    kernels::Rotate(rotary, shape_.head_dim, k.view());
    std::vector<std::vector<kernels::KvPageView>> pages;
    std::vector<kernels::AttentionPart> parts;
    for (size_t p = 0; p < pass.pieces.size(); ++p) {
      const Piece& piece = pass.pieces[p];
      const size_t first = pass.first_row[p];
      const size_t position = pass.first_position[p];
      pages.push_back(pass.segments[piece.segment].state->Pages(layer));
      kernels::StoreKeysAndValues(attention_shape_, k.view().Rows(first, piece.count),
                                  v.view().Rows(first, piece.count), position, pages.back());
      parts.push_back({q.view().Rows(first, piece.count), position, pages.back(),
                       mixed.view().Rows(first, piece.count)});
    }
    kernels::Attention(threads, attention_shape_, parts);
    const LinearPart out{weights.out_proj, h};
    Linear(threads, mixed.view(), std::span(&out, 1), Epilogue::kAdd, compute_);
  }

  // Each head of each row is normed by itself: the same memory seen as [rows * heads, head_dim].
  void NormHeads(Threads& threads, View1<const float> gain, View2<float> x) const {
    const View2<float> heads(x.data(), x.rows() * x.cols() / shape_.head_dim, shape_.head_dim);
    kernels::RmsNorm(threads, heads, gain, shape_.norm_eps, 0, heads);
  }

  // h += w2(silu(w1 y) * (w3 y)).
  void Mlp(Threads& threads, const Lfm2Layer& layer, View2<const float> y, View2<float> h) const {
    Buffer product(y.rows(), shape_.mlp);
    const LinearPart gate_up[] = {{layer.gate, product.view()}, {layer.up, {}}};
    Linear(threads, y, gate_up, Epilogue::kSiluProduct, compute_);
    const LinearPart down{layer.down, h};
    Linear(threads, product.view(), std::span(&down, 1), Epilogue::kAdd, compute_);
  }

  // The last layer's MLP and the final norm, of the rows that are wanted.
  void ReadOut(Threads& threads, const Pass& pass, View2<const float> h) const {
    const std::vector<WantedRow> wanted = WantedRows(pass);
    if (wanted.empty()) return;
    Buffer rows(wanted.size(), shape_.hidden);
    Buffer normed(wanted.size(), shape_.hidden);
    const View2<float> read = rows.view();
    for (size_t w = 0; w < wanted.size(); ++w)
      std::copy_n(h.row(wanted[w].row), shape_.hidden, read.row(w));
    const Lfm2Layer& last = weights_.layers.back();
    kernels::RmsNorm(threads, read, last.ffn_norm, shape_.norm_eps, 0, normed.view());
    Mlp(threads, last, normed.view(), read);
    for (size_t w = 0; w < wanted.size(); ++w) {
      kernels::RmsNorm(threads, read.Rows(w, 1), weights_.final_norm, shape_.norm_eps, 0,
                       {wanted[w].out.data(), 1, shape_.hidden});
    }
  }

  Lfm2Shape shape_;
  Lfm2Weights weights_;
  kernels::Compute compute_;
  kernels::AttentionShape attention_shape_;
  std::vector<float> frequencies_;
};

}  // namespace

StateShape Lfm2StateShape(const Lfm2Shape& shape) {
  StateShape state;
  const auto& kinds = shape.layer_is_attention;
  state.attention_layers = static_cast<size_t>(std::count(kinds.begin(), kinds.end(), true));
  state.attention = {shape.heads, shape.kv_heads, shape.head_dim};
  state.conv_layers = kinds.size() - state.attention_layers;
  state.conv_columns = shape.conv_taps - 1;
  state.conv_channels = shape.hidden;
  return state;
}

size_t Lfm2PassBytes(const Lfm2Shape& shape, size_t rows, const kernels::Compute& compute) {
  const size_t heads = SaturatingProduct(size_t{2}, SaturatingSum(shape.heads, shape.kv_heads));
  const size_t mixer = std::max(SaturatingProduct(size_t{4}, shape.hidden),
                                SaturatingProduct(heads, shape.head_dim));
  const size_t residual = SaturatingProduct(size_t{2}, shape.hidden);
  // The linear layer's copy of its inputs.
  const size_t widest =
      std::max({shape.hidden, shape.mlp, SaturatingProduct(shape.heads, shape.head_dim)});
  const size_t kept = SaturatingSum(residual, std::max(mixer, shape.mlp));
  return SaturatingProduct(rows, SaturatingSum(SaturatingProduct(kept, sizeof(float)),
                                               kernels::LinearRowBytes(widest, compute)));
}

std::unique_ptr<Decoder> MakeLfm2(Lfm2Shape shape, Lfm2Weights weights,
                                  const kernels::Compute& compute) {
  return std::make_unique<Lfm2>(std::move(shape), std::move(weights), compute);
}

}  // namespace assay::nn

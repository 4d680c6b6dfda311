#include "nn/qwen35.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "kernels/attention.h"
#include "kernels/conv_silu.h"
#include "kernels/delta_chunk.h"
#include "kernels/gates.h"
#include "kernels/rms_norm.h"
#include "kernels/rotary.h"
#include "nn/pass.h"

namespace assay::nn {
namespace {

using kernels::Epilogue;
using kernels::LinearPart;

// Of the l2 norm of queries and keys; not in any config (spec kev 2.5).
constexpr float kL2Eps = 1e-6f;

LinearPart PartOf(const Qwen35Linear& linear, View2<float> out) {
  return {linear.weight, out, {}, linear.low_rank};
}

class Qwen35 final : public Decoder {
 public:
  Qwen35(Qwen35Shape shape, Qwen35Weights weights, const Qwen35Forms& forms)
      : shape_(std::move(shape)),
        weights_(std::move(weights)),
        compute_(forms.compute),
        form_(forms.delta),
        attention_shape_{shape_.heads, shape_.kv_heads, shape_.head_dim},
        frequencies_(kernels::RotaryFrequencies(shape_.rope_theta, shape_.rotary_dims)) {
    ASSAY_CHECK(weights_.layers.size() == shape_.layer_is_attention.size());
    ASSAY_CHECK(!weights_.layers.empty());
    for (const Qwen35Layer& layer : weights_.layers) {
      std::vector<float>& rates = rates_.emplace_back();
      for (const float a_log : layer.delta.a_log)
        rates.push_back(static_cast<float>(-std::exp(static_cast<double>(a_log))));
    }
  }

  size_t hidden_size() const override { return shape_.hidden; }
  size_t vocabulary() const override { return shape_.vocabulary; }
  StateShape state_shape() const override { return Qwen35StateShape(shape_, form_); }
  kernels::Compute compute() const override { return compute_; }
  std::vector<std::string_view> other_kernels() const override {
    std::string_view rule = "delta rule (fused)";
    if (form_.kind == DeltaForm::Kind::kStep) rule = "delta rule (step)";
    if (form_.kind == DeltaForm::Kind::kChunk) rule = "delta rule (chunk)";
    return {"attention", rule, "conv with silu", "rms norm"};
  }

  std::vector<kernels::WeightMatrix> linear_weights() const override {
    std::vector<kernels::WeightMatrix> out;
    // The list of modules points into weights that may be changed, so it is made of a copy.
    Qwen35Weights weights = weights_;
    for (const Qwen35Module& module : Qwen35Modules(shape_, weights)) {
      out.push_back(module.linear->weight);
      if (!module.linear->low_rank) continue;
      out.push_back(module.linear->low_rank->a);
      out.push_back(module.linear->low_rank->b);
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
    size_t delta_layer = 0;
    size_t attention_layer = 0;
    for (size_t n = 0; n < weights_.layers.size(); ++n) {
      const Qwen35Layer& layer = weights_.layers[n];
      Norm(threads, layer.input_norm, h, y);
      if (shape_.layer_is_attention[n]) {
        AttentionBlock(threads, pass, layer.attention, attention_layer++, rotary, y, h);
      } else {
        DeltaBlock(threads, pass, n, delta_layer++, y, h);
      }
      // After the last mixer only the rows that are read matter.
      if (n + 1 == weights_.layers.size()) break;
      Norm(threads, layer.post_norm, h, y);
      Mlp(threads, layer, y, h);
    }
    ReadOut(threads, pass, h);
  }

 private:
  void StoreLinear(Threads& threads, View2<const float> x,
                   std::span<const LinearPart> parts) const {
    kernels::Linear(threads, x, parts, Epilogue::kStore, compute_);
  }

  // h += linear(x).
  void AddLinear(Threads& threads, const Qwen35Linear& linear, View2<const float> x,
                 View2<float> h) const {
    const LinearPart part = PartOf(linear, h);
    kernels::Linear(threads, x, std::span(&part, 1), Epilogue::kAdd, compute_);
  }

  // Gains are stored less one (spec kev 2.2).
  void Norm(Threads& threads, View1<const float> gain, View2<const float> x,
            View2<float> out) const {
    kernels::RmsNorm(threads, x, gain, shape_.norm_eps, 1, out);
  }

  // h += out_proj(gated_norm(delta_rule(silu(conv(in_proj_qkv y))), in_proj_z y)); spec kev 2.5.
  void DeltaBlock(Threads& threads, const Pass& pass, size_t n, size_t layer, View2<const float> y,
                  View2<float> h) const {
    const Qwen35DeltaWeights& weights = weights_.layers[n].delta;
    const kernels::DeltaShape& delta = shape_.delta;
    Buffer inputs(pass.rows, delta.channels());
    Buffer z(pass.rows, delta.value_width());
    Buffer b(pass.rows, delta.value_heads);
    Buffer a(pass.rows, delta.value_heads);
    const LinearPart in[] = {
        PartOf(weights.in_proj_qkv, inputs.view()), PartOf(weights.in_proj_z, z.view()),
        PartOf(weights.in_proj_b, b.view()), PartOf(weights.in_proj_a, a.view())};
    StoreLinear(threads, y, in);
    Buffer qkv(pass.rows, delta.channels());
    Convolve(threads, pass, weights.taps, layer, inputs.view(), qkv.view());
    const float query_scale = 1.0f / std::sqrt(static_cast<float>(delta.key_dim));
    const size_t key_width = delta.key_width();
    kernels::L2Norm(threads, delta.key_dim, kL2Eps, query_scale, qkv.view().Cols(0, key_width));
    kernels::L2Norm(threads, delta.key_dim, kL2Eps, 1, qkv.view().Cols(key_width, key_width));
    kernels::DeltaGates(threads, rates_[n], weights.dt_bias, b.view(), a.view());
    Buffer mixed(pass.rows, delta.value_width());
    RunRule(threads, pass, layer, qkv.view(), b.view(), a.view(), mixed.view());
    const auto heads = [&](View2<float> x) {
      return View2<float>(x.data(), x.rows() * delta.value_heads, delta.value_dim);
    };
    kernels::GatedNorm(threads, heads(mixed.view()), weights.norm, shape_.norm_eps,
                       heads(z.view()));
    AddLinear(threads, weights.out_proj, mixed.view(), h);
  }

  void Convolve(Threads& threads, const Pass& pass, const std::vector<float>& taps, size_t layer,
                View2<float> x, View2<float> out) const {
    std::vector<kernels::ConvSiluPart> parts;
    for (size_t p = 0; p < pass.pieces.size(); ++p) {
      parts.push_back({pass.Rows(p, x), pass.state(p).Columns(layer), pass.Rows(p, out)});
    }
    kernels::ConvSilu(threads, {taps.data(), shape_.conv_taps, x.cols()}, parts);
  }

  void RunRule(Threads& threads, const Pass& pass, size_t layer, View2<float> qkv,
               View2<float> beta, View2<float> g, View2<float> out) const {
    std::vector<kernels::DeltaPart> parts;
    for (size_t p = 0; p < pass.pieces.size(); ++p) {
      parts.push_back({pass.Rows(p, qkv), pass.Rows(p, beta), pass.Rows(p, g),
                       pass.state(p).Matrices(layer), pass.Rows(p, out)});
    }
    switch (form_.kind) {
      case DeltaForm::Kind::kFused: kernels::DeltaRuleFused(threads, shape_.delta, parts); return;
      case DeltaForm::Kind::kStep: kernels::DeltaRuleStep(threads, shape_.delta, parts); return;
      case DeltaForm::Kind::kChunk: break;
    }
    std::vector<kernels::DeltaChunkPart> chunked;
    for (size_t p = 0; p < parts.size(); ++p) {
      chunked.push_back(
          {parts[p], pass.state(p).OpenRows(layer), pass.first_position[p] % form_.chunk});
    }
    kernels::DeltaRuleChunk(threads, shape_.delta, form_.chunk, chunked);
  }

  // h += o_proj(attention(rope(norm(q)), rope(norm(k)), v) * sigmoid(gate)); spec kev 2.3.
  void AttentionBlock(Threads& threads, const Pass& pass, const Qwen35AttentionWeights& weights,
                      size_t layer, const kernels::RotaryTable& rotary, View2<const float> y,
                      View2<float> h) const {
    const size_t dim = shape_.head_dim;
    const size_t q_width = shape_.heads * dim;
    const size_t kv_width = attention_shape_.kv_width();
    Buffer gated(pass.rows, 2 * q_width);
    Buffer k(pass.rows, kv_width);
    Buffer v(pass.rows, kv_width);
    const LinearPart in[] = {PartOf(weights.q_proj, gated.view()), PartOf(weights.k_proj, k.view()),
                             PartOf(weights.v_proj, v.view())};
    StoreLinear(threads, y, in);
    // Each head of each row by itself: the same memory seen as [rows * heads, head_dim].
    const size_t heads = pass.rows * shape_.heads;
    const View2<const float> queries(gated.view().data(), heads, dim, 2 * dim);
    const View2<const float> gates(gated.view().data() + dim, heads, dim, 2 * dim);
    Buffer q(pass.rows, q_width);
    Norm(threads, weights.q_norm, queries, {q.view().data(), heads, dim});
    const View2<float> keys(k.view().data(), pass.rows * shape_.kv_heads, dim);
    Norm(threads, weights.k_norm, keys, keys);
    kernels::Rotate(rotary, dim, q.view());
    kernels::Rotate(rotary, dim, k.view());
    Buffer mixed(pass.rows, q_width);
    Attend(threads, pass, layer, q.view(), k.view(), v.view(), mixed.view());
    kernels::SigmoidProduct(threads, gates, {mixed.view().data(), heads, dim});
    AddLinear(threads, weights.o_proj, mixed.view(), h);
  }

  void Attend(Threads& threads, const Pass& pass, size_t layer, View2<float> q, View2<float> k,
              View2<float> v, View2<float> out) const {
    std::vector<std::vector<kernels::KvPageView>> pages;
    std::vector<kernels::AttentionPart> parts;
    for (size_t p = 0; p < pass.pieces.size(); ++p) {
      const size_t position = pass.first_position[p];
      pages.push_back(pass.state(p).Pages(layer));
      kernels::StoreKeysAndValues(attention_shape_, pass.Rows(p, k), pass.Rows(p, v), position,
                                  pages.back());
      parts.push_back({pass.Rows(p, q), position, pages.back(), pass.Rows(p, out)});
    }
    kernels::Attention(threads, attention_shape_, parts);
  }

  // h += down(silu(gate y) * up y).
  void Mlp(Threads& threads, const Qwen35Layer& layer, View2<const float> y, View2<float> h) const {
    Buffer product(y.rows(), shape_.mlp);
    const LinearPart gate_up[] = {PartOf(layer.gate_proj, product.view()),
                                  PartOf(layer.up_proj, {})};
    kernels::Linear(threads, y, gate_up, Epilogue::kSiluProduct, compute_);
    AddLinear(threads, layer.down_proj, product.view(), h);
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
    const Qwen35Layer& last = weights_.layers.back();
    Norm(threads, last.post_norm, read, normed.view());
    Mlp(threads, last, normed.view(), read);
    for (size_t w = 0; w < wanted.size(); ++w) {
      Norm(threads, weights_.final_norm, read.Rows(w, 1), {wanted[w].out.data(), 1, shape_.hidden});
    }
  }

  Qwen35Shape shape_;
  Qwen35Weights weights_;
  kernels::Compute compute_;
  DeltaForm form_;
  kernels::AttentionShape attention_shape_;
  std::vector<float> frequencies_;
  std::vector<std::vector<float>> rates_;  // -exp(A_log), of each layer; empty for attention
};

}  // namespace

std::unique_ptr<Decoder> MakeQwen35(Qwen35Shape shape, Qwen35Weights weights,
                                    const Qwen35Forms& forms) {
  return std::make_unique<Qwen35>(std::move(shape), std::move(weights), forms);
}

}  // namespace assay::nn

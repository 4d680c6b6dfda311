#include "nn/lfm2.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "testing/random.h"

namespace assay::nn {
namespace {

using ::assay::testing::Random;
using kernels::WeightMatrix;
using kernels::WeightType;

// A small random decoder that owns its weights.
struct Toy {
  Lfm2Shape shape;
  std::vector<std::vector<Bf16>> storage;
  Lfm2Weights weights;

  WeightMatrix Matrix(Random& random, size_t rows, size_t cols) {
    storage.push_back(random.Bf16s(rows * cols, 2.0f / std::sqrt(static_cast<float>(cols))));
    return {storage.back().data(), WeightType::kBf16, rows, cols};
  }

  explicit Toy(uint64_t seed) {
    Random random(seed);
    shape = {48, 50, 56, 6, 2, 8, 3, 1e-5f, 1e6, {false, true, false, true, false}};
    const auto gains = [&](size_t n) {
      std::vector<float> out = random.Floats(n, 0.4f);
      for (float& value : out) value += 1;
      return out;
    };
    const size_t h = shape.hidden, q = shape.heads * shape.head_dim,
                 kv = shape.kv_heads * shape.head_dim;
    weights.embedding = Matrix(random, shape.vocabulary, h);
    for (const bool attention : shape.layer_is_attention) {
      Lfm2Layer layer;
      layer.operator_norm = gains(h);
      layer.ffn_norm = gains(h);
      if (attention) {
        layer.attention = {Matrix(random, q, h), Matrix(random, kv, h), Matrix(random, kv, h),
                           Matrix(random, h, q), gains(shape.head_dim), gains(shape.head_dim)};
      } else {
        layer.conv = {Matrix(random, 3 * h, h), random.Floats(shape.conv_taps * h),
                      Matrix(random, h, h)};
      }
      layer.gate = Matrix(random, shape.mlp, h);
      layer.up = Matrix(random, shape.mlp, h);
      layer.down = Matrix(random, h, shape.mlp);
      weights.layers.push_back(std::move(layer));
    }
    weights.final_norm = gains(h);
  }
  std::unique_ptr<Decoder> Make() const { return MakeLfm2(shape, weights); }
};

using Rows = std::vector<std::vector<double>>;

// The steps of the specification written out in float64, position by position.
class Plain {
 public:
  explicit Plain(const Toy& toy) : shape_(toy.shape), weights_(toy.weights) {}

  Rows Run(const std::vector<int32_t>& ids) const {
    Rows h;
    for (const int32_t id : ids) h.push_back(Row(weights_.embedding, static_cast<size_t>(id)));
    for (size_t n = 0; n < weights_.layers.size(); ++n) {
      const Lfm2Layer& layer = weights_.layers[n];
      const Rows y = Norm(h, layer.operator_norm);
      Add(h, shape_.layer_is_attention[n] ? Attention(layer.attention, y) : Conv(layer.conv, y));
      const Rows z = Norm(h, layer.ffn_norm);
      Rows a = Times(layer.gate, z);
      const Rows b = Times(layer.up, z);
      for (size_t t = 0; t < a.size(); ++t) {
        for (size_t i = 0; i < a[t].size(); ++i)
          a[t][i] = a[t][i] / (1 + std::exp(-a[t][i])) * b[t][i];
      }
      Add(h, Times(layer.down, a));
    }
    return Norm(h, weights_.final_norm);
  }

 private:
  static std::vector<double> Row(const WeightMatrix& matrix, size_t r) {
    std::vector<float> row(matrix.cols);
    kernels::WidenRow(matrix, r, row);
    return {row.begin(), row.end()};
  }
  static Rows Times(const WeightMatrix& matrix, const Rows& x) {
    Rows out(x.size(), std::vector<double>(matrix.rows));
    for (size_t n = 0; n < matrix.rows; ++n) {
      const std::vector<double> w = Row(matrix, n);
      for (size_t t = 0; t < x.size(); ++t) {
        for (size_t i = 0; i < w.size(); ++i) out[t][n] += w[i] * x[t][i];
      }
    }
    return out;
  }
  static void Add(Rows& h, const Rows& r) {
    for (size_t t = 0; t < h.size(); ++t) {
      for (size_t i = 0; i < h[t].size(); ++i) h[t][i] += r[t][i];
    }
  }
  std::vector<double> NormOne(std::vector<double> x, const std::vector<float>& gain) const {
    double squares = 0;
    for (const double v : x) squares += v * v;
    const double scale = 1 / std::sqrt(squares / static_cast<double>(x.size()) + 1e-5);
    for (size_t i = 0; i < x.size(); ++i) x[i] *= scale * static_cast<double>(gain[i]);
    return x;
  }
  Rows Norm(Rows x, const std::vector<float>& gain) const {
    for (auto& row : x) row = NormOne(row, gain);
    return x;
  }
  Rows Conv(const Lfm2ConvWeights& w, const Rows& y) const {
    const Rows b = Times(w.in_proj, y);
    const size_t h = shape_.hidden;
    Rows o(y.size(), std::vector<double>(h));
    for (size_t t = 0; t < y.size(); ++t) {
      for (size_t c = 0; c < h; ++c) {
        for (size_t tap = 0; tap < 3; ++tap) {
          if (t + tap < 2) continue;
          const auto& past = b[t + tap - 2];
          o[t][c] += static_cast<double>(w.taps[tap * h + c]) * past[c] * past[2 * h + c];
        }
        o[t][c] *= b[t][h + c];
      }
    }
    return Times(w.out_proj, o);
  }
  std::vector<double> Head(const std::vector<double>& row, size_t head,
                           const std::vector<float>& gain, size_t position) const {
    const size_t d = shape_.head_dim;
    std::vector<double> x = NormOne({row.begin() + static_cast<ptrdiff_t>(head * d),
                                     row.begin() + static_cast<ptrdiff_t>((head + 1) * d)},
                                    gain);
    std::vector<double> out(d);
    for (size_t i = 0; i < d / 2; ++i) {
      const double angle = static_cast<double>(position) *
                           std::pow(1e6, -2.0 * static_cast<double>(i) / static_cast<double>(d));
      out[i] = x[i] * std::cos(angle) - x[i + d / 2] * std::sin(angle);
      out[i + d / 2] = x[i + d / 2] * std::cos(angle) + x[i] * std::sin(angle);
    }
    return out;
  }
  Rows Attention(const Lfm2AttentionWeights& w, const Rows& y) const {
    const Rows q = Times(w.q_proj, y), k = Times(w.k_proj, y), v = Times(w.v_proj, y);
    const size_t d = shape_.head_dim, group = shape_.heads / shape_.kv_heads;
    Rows out(y.size(), std::vector<double>(shape_.heads * d));
    for (size_t t = 0; t < y.size(); ++t) {
      for (size_t head = 0; head < shape_.heads; ++head) {
        const auto query = Head(q[t], head, w.q_norm, t);
        std::vector<double> p(t + 1);
        double sum = 0;
        for (size_t j = 0; j <= t; ++j) {
          const auto key = Head(k[j], head / group, w.k_norm, j);
          for (size_t i = 0; i < d; ++i) p[j] += query[i] * key[i];
          sum += p[j] = std::exp(p[j] / std::sqrt(static_cast<double>(d)));
        }
        for (size_t j = 0; j <= t; ++j) {
          for (size_t i = 0; i < d; ++i)
            out[t][head * d + i] += p[j] / sum * v[j][head / group * d + i];
        }
      }
    }
    return Times(w.out_proj, out);
  }

  const Lfm2Shape& shape_;
  const Lfm2Weights& weights_;
};

std::vector<int32_t> Ids(size_t count, uint64_t seed) {
  Random random(seed);
  std::vector<int32_t> ids(count);
  for (int32_t& id : ids) id = static_cast<int32_t>(random.Below(50));
  return ids;
}

// Runs ids on a state; all hidden rows come back.
std::vector<float> Continue(const Decoder& decoder, State& state, std::span<const int32_t> ids,
                            ForwardOptions options = {}) {
  std::vector<size_t> wanted(ids.size());
  for (size_t i = 0; i < wanted.size(); ++i) wanted[i] = i;
  std::vector<float> hidden(ids.size() * decoder.hidden_size());
  Segment segment{&state, ids, wanted, {hidden.data(), ids.size(), decoder.hidden_size()}};
  Threads threads(2);
  decoder.Forward(threads, std::span(&segment, 1), options);
  return hidden;
}

std::vector<float> Whole(const Decoder& decoder, std::span<const int32_t> ids,
                         ForwardOptions options = {}) {
  State state(decoder.state_shape());
  return Continue(decoder, state, ids, options);
}

TEST(Lfm2, EqualsTheSpecificationWrittenOutInFloat64) {
  const Toy toy(1);
  const auto decoder = toy.Make();
  for (const size_t count : {1u, 2u, 5u, 70u}) {
    const std::vector<int32_t> ids = Ids(count, count);
    const Rows expected = Plain(toy).Run(ids);
    const std::vector<float> got = Whole(*decoder, ids);
    for (size_t t = 0; t < count; ++t) {
      for (size_t i = 0; i < 48; ++i)
        ASSERT_NEAR(got[t * 48 + i], expected[t][i], 2e-5) << count << " " << t;
    }
  }
}

// Multiples of the chunk, one more, one less, tails of one row; and the bound of a pass cutting
// across.
TEST(Lfm2, ChunkedRunsHaveTheBitsOfOnePass) {
  const Toy toy(2);
  const auto decoder = toy.Make();
  for (const size_t chunk : {1u, 16u, 32u, 64u}) {
    for (const size_t count : {chunk * 2 - 1, chunk * 2, chunk * 2 + 1, chunk + 1}) {
      const std::vector<int32_t> ids = Ids(count, 9);
      const std::vector<float> whole = Whole(*decoder, ids);
      EXPECT_EQ(Whole(*decoder, ids, {chunk, 512}), whole) << chunk << " " << count;
      EXPECT_EQ(Whole(*decoder, ids, {0, 7}), whole) << chunk << " " << count;
    }
  }
}

TEST(Lfm2, PassBytesCountEveryMatrixAndDoNotOverflow) {
  Lfm2Shape shape = Toy(1).shape;
  // Residual and normed rows; a convolution's four widths; the packed copy of the MLP's inputs.
  EXPECT_EQ(Lfm2PassBytes(shape, 10), 10u * (2 * 48 + 192 + 56 + 32) * sizeof(float));
  shape.heads = shape.kv_heads = shape.head_dim = size_t{1} << 20;
  EXPECT_EQ(Lfm2PassBytes(shape, size_t{1} << 30), std::numeric_limits<size_t>::max());
}

// Written out for the toy: three convolution layers and two of attention, 48 wide.
TEST(Lfm2, NamesEveryMatrixThatARowIsMultipliedBy) {
  const Toy toy(1);
  size_t weights = 0;
  for (const WeightMatrix& matrix : toy.Make()->linear_weights())
    weights += matrix.rows * matrix.cols;
  const size_t conv = (3 * 48 + 48) * 48;
  const size_t attention = (48 + 16 + 16 + 48) * 48;
  EXPECT_EQ(weights, 3 * conv + 2 * attention + 5 * (3 * 56 * 48));
}

TEST(Lfm2, AForkAtEveryPositionHasTheBitsOfTheWholeRow) {
  const Toy toy(3);
  const auto decoder = toy.Make();
  const std::vector<int32_t> ids = Ids(67, 4);
  const std::vector<float> whole = Whole(*decoder, ids);
  State trunk(decoder->state_shape());
  for (size_t at = 0; at < ids.size(); ++at) {
    State branch = trunk.Fork();
    const std::vector<float> rest = Continue(*decoder, branch, std::span(ids).subspan(at));
    ASSERT_EQ(0, std::memcmp(rest.data(), whole.data() + at * 48, rest.size() * sizeof(float)))
        << at;
    Continue(*decoder, trunk, std::span(ids).subspan(at, 1));
  }
}

TEST(Lfm2, StrangersInThePassChangeNoBit) {
  const Toy toy(4);
  const auto decoder = toy.Make();
  const std::vector<size_t> lengths = {1, 40, 3, 65, 2};
  for (const size_t chunk : {0u, 16u}) {
    std::vector<std::vector<int32_t>> ids;
    std::vector<State> states;
    std::vector<std::vector<size_t>> wanted;
    std::vector<std::vector<float>> hidden;
    for (size_t s = 0; s < lengths.size(); ++s) {
      ids.push_back(Ids(lengths[s], s + 20));
      states.emplace_back(decoder->state_shape());
      wanted.push_back(lengths[s] > 1 ? std::vector<size_t>{0, lengths[s] - 1}
                                      : std::vector<size_t>{0});
      hidden.emplace_back(wanted[s].size() * 48);
    }
    std::vector<Segment> segments;
    for (size_t s = 0; s < lengths.size(); ++s) {
      segments.push_back({&states[s], ids[s], wanted[s], {hidden[s].data(), wanted[s].size(), 48}});
    }
    Threads threads(3);
    decoder->Forward(threads, segments, {chunk, 50});
    for (size_t s = 0; s < lengths.size(); ++s) {
      const std::vector<float> alone = Whole(*decoder, ids[s]);
      for (size_t w = 0; w < wanted[s].size(); ++w) {
        ASSERT_EQ(0, std::memcmp(hidden[s].data() + w * 48, alone.data() + wanted[s][w] * 48,
                                 48 * sizeof(float)))
            << "segment " << s << " row " << wanted[s][w];
      }
    }
  }
}

}  // namespace
}  // namespace assay::nn

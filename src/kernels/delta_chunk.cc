#include "kernels/delta_chunk.h"

#include <algorithm>
#include <vector>

#include "base/aligned.h"
#include "base/check.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/delta_chunk.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/math-inl.h"

// Within a chunk that starts from state S, with D_ij = exp(g_{j+1} + ... + g_i) and E_i = exp(g_0 +
// ... + g_i), the deltas d of delta_rule.h obey
//   d_i = beta_i (v_i - E_i S^T k_i) - sum_{j<i} beta_i D_ij (k_i . k_j) d_j,
//   out_i = E_i S^T q_i + sum_{j<=i} D_ij (q_i . k_j) d_j,
// which is the unit lower triangular system of the specification with S already on its right side:
// one solve instead of two, and row by row, so that a row never sees those after it. The exponents
// are summed afresh for each pair: a difference of two running sums would lose digits in heads that
// forget fast.

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::ScalableTag<float>;
using Vec = hn::Vec<F32>;

constexpr size_t kBlockVectors = kDeltaColumns / hn::MaxLanes(F32());
static_assert(kChunkUnit % hn::MaxLanes(F32()) == 0);
// Rows that share one reading of the state.
constexpr size_t kRowTile = kBlockVectors == 1 ? 4 : 2;

// sums[j] = x . column j of `columns`, for kCount vectors of columns and two vectors x at once.
template <size_t kCount>
void TwoProducts(View2<const float> columns, size_t first, const float* a, const float* b,
                 float* a_sums, float* b_sums) {
  const F32 d;
  const size_t lanes = hn::Lanes(d);
  Vec sums[2][kCount];
  for (auto& half : sums) {
    for (Vec& sum : half) sum = hn::Zero(d);
  }
  for (size_t i = 0; i < columns.rows(); ++i) {
    const float* at = columns.row(i) + first;
    for (size_t n = 0; n < kCount; ++n) {
      const auto v = hn::LoadU(d, at + n * lanes);
      sums[0][n] = hn::MulAdd(hn::Set(d, a[i]), v, sums[0][n]);
      sums[1][n] = hn::MulAdd(hn::Set(d, b[i]), v, sums[1][n]);
    }
  }
  for (size_t n = 0; n < kCount; ++n) {
    hn::StoreU(sums[0][n], d, a_sums + first + n * lanes);
    hn::StoreU(sums[1][n], d, b_sums + first + n * lanes);
  }
}

// out[r] = S^T x[r] for one block of columns of S, kDeltaColumns floats each.
template <size_t kRows>
void TimesBlock(const float* state, size_t key_dim, const float* const* x, float* const* out) {
  const F32 d;
  const size_t lanes = hn::Lanes(d);
  Vec sums[kRows][kBlockVectors];
  for (auto& row : sums) {
    for (Vec& sum : row) sum = hn::Zero(d);
  }
  for (size_t i = 0; i < key_dim; ++i) {
    for (size_t v = 0; v < kBlockVectors; ++v) {
      const auto s = hn::LoadU(d, state + i * kDeltaColumns + v * lanes);
      for (size_t r = 0; r < kRows; ++r)
        sums[r][v] = hn::MulAdd(hn::Set(d, x[r][i]), s, sums[r][v]);
    }
  }
  for (size_t r = 0; r < kRows; ++r) {
    for (size_t v = 0; v < kBlockVectors; ++v) hn::StoreU(sums[r][v], d, out[r] + v * lanes);
  }
}

// One value head of one part.
class Head {
 public:
  Head(const DeltaShape& shape, size_t chunk, const DeltaChunkPart& part, size_t head)
      : shape_(shape),
        chunk_(chunk),
        part_(part),
        head_(head),
        query_at_(head / (shape.value_heads / shape.key_heads) * shape.key_dim),
        key_at_(shape.key_width() + query_at_),
        value_at_(2 * shape.key_width() + head * shape.value_dim),
        state_(part.part.state + head * shape.value_dim * shape.key_dim),
        storage_((shape.key_dim + 2) * chunk + (2 * kRowTile + chunk) * shape.value_dim + chunk) {
    float* at = storage_.data();
    const auto take = [&](size_t rows, size_t cols) {
      const View2<float> view(at, rows, cols);
      at += rows * cols;
      return view;
    };
    keys_ = take(shape.key_dim, chunk);
    deltas_ = take(chunk, shape.value_dim);
    products_ = take(2 * kRowTile, shape.value_dim);
    scores_ = take(2, chunk);
    g_ = take(1, chunk);
  }

  void Run() {
    size_t held = part_.held;
    for (size_t i = 0; i < held; ++i) {
      TakeKey(i, part_.open.keys.row(i) + query_at_);
      std::copy_n(part_.open.deltas.row(i) + head_ * shape_.value_dim, shape_.value_dim,
                  deltas_.row(i));
      g_[0][i] = part_.open.g[i][head_];
    }
    const size_t rows = part_.part.qkv.rows();
    for (size_t row = 0; row < rows;) {
      const size_t count = std::min(chunk_ - held, rows - row);
      for (size_t i = 0; i < count; ++i) {
        TakeKey(held + i, part_.part.qkv.row(row + i) + key_at_);
        g_[0][held + i] = part_.part.g[row + i][head_];
      }
      SolveRows(held, row, count);
      held += count;
      row += count;
      if (held == chunk_) {
        AdvanceState();
        held = 0;
      }
    }
    for (size_t i = 0; i < held; ++i) {
      std::copy_n(deltas_.row(i), shape_.value_dim,
                  part_.open.deltas.row(i) + head_ * shape_.value_dim);
      part_.open.g[i][head_] = g_[0][i];
    }
  }

 private:
  // Keys lie as [key_dim, chunk]: a vector holds neighbouring rows of the chunk.
  void TakeKey(size_t i, const float* key) {
    for (size_t k = 0; k < shape_.key_dim; ++k) keys_[k][i] = key[k];
  }

  // exp of the sum of g after each row j up to row i, into keep_[j + 1]; keep_[0] is E_i.
  void Decays(size_t i) {
    const F32 d;
    float sum = 0;
    for (size_t j = i + 1; j > 0; --j) {
      keep_[j] = sum;
      sum += g_[0][j - 1];
    }
    keep_[0] = sum;
    for (size_t j = 0; j < i + 2; j += hn::Lanes(d)) {
      const size_t count = std::min(hn::Lanes(d), i + 2 - j);
      StoreFirst(Exponential(d, LoadFirst(d, keep_ + j, count)), d, keep_ + j, count);
    }
  }

  // Rows [first, first + count) of the chunk, which are rows from `row` on of the pass.
  void SolveRows(size_t first, size_t row, size_t count) {
    size_t done = 0;
    for (; done + kRowTile <= count; done += kRowTile)
      SolveTile<kRowTile>(first + done, row + done);
    for (; done < count; ++done) SolveTile<1>(first + done, row + done);
  }

  template <size_t kRows>
  void SolveTile(size_t first, size_t row) {
    const float* x[2 * kRows];
    float* out[2 * kRows];
    for (size_t r = 0; r < kRows; ++r) {
      x[2 * r] = part_.part.qkv.row(row + r) + key_at_;
      x[2 * r + 1] = part_.part.qkv.row(row + r) + query_at_;
    }
    for (size_t c = 0; c < shape_.value_dim; c += kDeltaColumns) {
      for (size_t r = 0; r < 2 * kRows; ++r) out[r] = products_.row(r) + c;
      TimesBlock<2 * kRows>(state_ + c * shape_.key_dim, shape_.key_dim, x, out);
    }
    for (size_t r = 0; r < kRows; ++r) SolveRow(first + r, row + r, 2 * r);
  }

  // Row i of the chunk; row `product` of products_ is S^T k_i, the next one S^T q_i.
  void SolveRow(size_t i, size_t row, size_t product) {
    const float* at = part_.part.qkv.row(row);
    const float beta = part_.part.beta[row][head_];
    Decays(i);
    Scores(i, at);
    for (size_t j = 0; j < i; ++j) scores_[0][j] *= -beta * keep_[j + 1];
    for (size_t j = 0; j <= i; ++j) scores_[1][j] *= keep_[j + 1];
    float* out = part_.part.out.row(row) + head_ * shape_.value_dim;
    const float* v = at + value_at_;
    for (size_t c = 0; c < shape_.value_dim; ++c) {
      deltas_[i][c] = beta * (v[c] - keep_[0] * products_[product][c]);
      out[c] = keep_[0] * products_[product + 1][c];
    }
    size_t c = 0;
    for (; c + 4 * hn::Lanes(F32()) <= shape_.value_dim; c += 4 * hn::Lanes(F32()))
      AddEarlierRows<4>(i, c, out);
    for (; c < shape_.value_dim; c += hn::Lanes(F32())) AddEarlierRows<1>(i, c, out);
  }

  // scores_[0][j] = k_i . k_j, scores_[1][j] = q_i . k_j for the rows up to i.
  void Scores(size_t i, const float* at) {
    const size_t lanes = hn::Lanes(F32());
    const float* k = at + key_at_;
    const float* q = at + query_at_;
    size_t j = 0;
    for (; j + 3 * lanes <= i; j += 4 * lanes)
      TwoProducts<4>(keys_, j, k, q, scores_.row(0), scores_.row(1));
    for (; j <= i; j += lanes) TwoProducts<1>(keys_, j, k, q, scores_.row(0), scores_.row(1));
  }

  // The sums over earlier rows, in their order, for kCount vectors of columns from c on.
  template <size_t kCount>
  void AddEarlierRows(size_t i, size_t c, float* out) {
    const F32 d;
    const size_t lanes = hn::Lanes(d);
    Vec deltas[kCount];
    Vec outs[kCount];
    for (size_t n = 0; n < kCount; ++n) {
      deltas[n] = hn::LoadU(d, deltas_.row(i) + c + n * lanes);
      outs[n] = hn::LoadU(d, out + c + n * lanes);
    }
    for (size_t j = 0; j < i; ++j) {
      for (size_t n = 0; n < kCount; ++n) {
        const auto delta = hn::LoadU(d, deltas_.row(j) + c + n * lanes);
        deltas[n] = hn::MulAdd(hn::Set(d, scores_[0][j]), delta, deltas[n]);
        outs[n] = hn::MulAdd(hn::Set(d, scores_[1][j]), delta, outs[n]);
      }
    }
    for (size_t n = 0; n < kCount; ++n) {
      hn::StoreU(deltas[n], d, deltas_.row(i) + c + n * lanes);
      hn::StoreU(hn::MulAdd(hn::Set(d, scores_[1][i]), deltas[n], outs[n]), d, out + c + n * lanes);
    }
  }

  // S <- E_last S + sum_j D_last,j k_j d_j^T. keep_ is still that of the last row.
  void AdvanceState() {
    for (size_t k = 0; k < shape_.key_dim; ++k) {
      float* factors = scores_.row(0);
      for (size_t j = 0; j < chunk_; ++j) factors[j] = keys_[k][j] * keep_[j + 1];
      size_t c = 0;
      for (; c + 4 * kDeltaColumns <= shape_.value_dim; c += 4 * kDeltaColumns)
        AdvanceColumns<4>(k, c, factors);
      for (; c < shape_.value_dim; c += kDeltaColumns) AdvanceColumns<1>(k, c, factors);
    }
  }

  template <size_t kBlocks>
  void AdvanceColumns(size_t k, size_t c, const float* factors) {
    const F32 d;
    const size_t lanes = hn::Lanes(d);
    Vec sums[kBlocks][kBlockVectors];
    const auto state = [&](size_t b, size_t v) {
      return state_ + (c + b * kDeltaColumns) * shape_.key_dim + k * kDeltaColumns + v * lanes;
    };
    for (size_t b = 0; b < kBlocks; ++b) {
      for (size_t v = 0; v < kBlockVectors; ++v)
        sums[b][v] = hn::Mul(hn::Set(d, keep_[0]), hn::LoadU(d, state(b, v)));
    }
    for (size_t j = 0; j < chunk_; ++j) {
      const auto factor = hn::Set(d, factors[j]);
      const float* delta = deltas_.row(j) + c;
      for (size_t b = 0; b < kBlocks; ++b) {
        for (size_t v = 0; v < kBlockVectors; ++v) {
          const auto values = hn::LoadU(d, delta + b * kDeltaColumns + v * lanes);
          sums[b][v] = hn::MulAdd(factor, values, sums[b][v]);
        }
      }
    }
    for (size_t b = 0; b < kBlocks; ++b) {
      for (size_t v = 0; v < kBlockVectors; ++v) hn::StoreU(sums[b][v], d, state(b, v));
    }
  }

  const DeltaShape& shape_;
  size_t chunk_;
  const DeltaChunkPart& part_;
  size_t head_;
  size_t query_at_;
  size_t key_at_;
  size_t value_at_;
  float* state_;
  AlignedFloats storage_;
  View2<float> keys_;      // [key_dim, chunk]
  View2<float> deltas_;    // [chunk, value_dim]
  View2<float> products_;  // [2 kRowTile, value_dim]
  View2<float> scores_;    // [2, chunk]
  View2<float> g_;         // [1, chunk]
  float keep_[kMostChunk + 1] = {};
};

void RunHead(const DeltaShape& shape, size_t chunk, const DeltaChunkPart& part, size_t head) {
  Head(shape, chunk, part, head).Run();
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(RunHead);

namespace {

// The keys of the rows that stay open: all value heads of a key head read them, so they are written
// when those are done.
void KeepOpenKeys(const DeltaShape& shape, size_t chunk, const DeltaChunkPart& part) {
  const size_t rows = part.part.qkv.rows();
  const size_t open = (part.held + rows) % chunk;
  const size_t fresh = std::min(open, rows);
  for (size_t i = 0; i < fresh; ++i) {
    std::copy_n(part.part.qkv.row(rows - fresh + i) + shape.key_width(), shape.key_width(),
                part.open.keys.row(open - fresh + i));
  }
}

}  // namespace

size_t OpenChunkFloats(const DeltaShape& shape, size_t chunk) {
  return chunk * (shape.key_width() + shape.value_width() + shape.value_heads);
}

OpenChunk OpenChunkAt(const DeltaShape& shape, size_t chunk, float* memory) {
  float* deltas = memory + chunk * shape.key_width();
  return {{memory, chunk, shape.key_width()},
          {deltas, chunk, shape.value_width()},
          {deltas + chunk * shape.value_width(), chunk, shape.value_heads}};
}

void DeltaRuleChunk(Threads& threads, const DeltaShape& shape, size_t chunk,
                    std::span<const DeltaChunkPart> parts) {
  ASSAY_CHECK(chunk > 0 && chunk % kChunkUnit == 0 && chunk <= kMostChunk);
  for (const DeltaChunkPart& part : parts) {
    CheckDeltaPart(shape, part.part);
    ASSAY_CHECK(part.held < chunk);
  }
  threads.Run(parts.size() * shape.value_heads, [&](size_t task) {
    const DeltaChunkPart& part = parts[task / shape.value_heads];
    if (part.part.qkv.rows() == 0) return;
    HWY_DYNAMIC_DISPATCH(RunHead)(shape, chunk, part, task % shape.value_heads);
  });
  for (const DeltaChunkPart& part : parts) KeepOpenKeys(shape, chunk, part);
}

}  // namespace assay::kernels
#endif  // HWY_ONCE

#include "kernels/delta_rule.h"

#include <algorithm>
#include <vector>

#include "base/check.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/delta_rule.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::ScalableTag<float>;
using Vec = hn::Vec<F32>;

// Vectors of a block's columns.
constexpr size_t kVectors = kDeltaColumns / hn::MaxLanes(F32());
// A sum over key dimensions runs in this many strands, every kStrands-th dimension each, so that
// additions need not wait for each other.
constexpr size_t kStrands = kVectors == 1 ? 4 : 2;
static_assert(kDeltaColumns % kStrands == 0);

struct Columns {
  Vec v[kVectors];
};

struct Strands {
  Columns strand[kStrands];

  HWY_INLINE Strands() {
    for (Columns& columns : strand) {
      for (Vec& v : columns.v) v = hn::Zero(F32());
    }
  }
  HWY_INLINE Columns Sum() const {
    Columns sum;
    for (size_t v = 0; v < kVectors; ++v) {
      sum.v[v] = hn::Add(strand[0].v[v], strand[1].v[v]);
      if constexpr (kStrands == 4) {
        sum.v[v] = hn::Add(sum.v[v], hn::Add(strand[2].v[v], strand[3].v[v]));
      }
    }
    return sum;
  }
};

// S^T k for the columns of one block.
Columns Recall(const float* state, const float* key, size_t key_dim) {
  const F32 d;
  const size_t lanes = hn::Lanes(d);
  Strands sums;
  for (size_t i = 0; i < key_dim; i += kStrands) {
    for (size_t s = 0; s < kStrands; ++s) {
      const auto k = hn::Set(d, key[i + s]);
      const float* at = state + (i + s) * kDeltaColumns;
      for (size_t v = 0; v < kVectors; ++v) {
        Vec& sum = sums.strand[s].v[v];
        sum = hn::MulAdd(k, hn::LoadU(d, at + v * lanes), sum);
      }
    }
  }
  return sums.Sum();
}

struct Row {
  const float* query;
  const float* key;
  const float* next_key;
  float keep;
};

// S <- keep S + k delta^T; `out` = S^T q, and at once what the next row recalls, S^T next_key: the
// state passes through the registers once a row.
void Update(const Row& row, const Columns& new_delta, size_t key_dim, float* HWY_RESTRICT state,
            Columns& out, Columns& recalled) {
  const F32 d;
  const size_t lanes = hn::Lanes(d);
  // Copies of our own stay in registers; what a reference names might be part of the state.
  const Columns delta = new_delta;
  const float* HWY_RESTRICT key = row.key;
  const float* HWY_RESTRICT query = row.query;
  const float* HWY_RESTRICT next_key = row.next_key;
  const auto keep = hn::Set(d, row.keep);
  Strands outs;
  Strands recalls;
  for (size_t i = 0; i < key_dim; i += kStrands) {
    for (size_t s = 0; s < kStrands; ++s) {
      const auto k = hn::Set(d, key[i + s]);
      const auto q = hn::Set(d, query[i + s]);
      const auto next = hn::Set(d, next_key[i + s]);
      float* at = state + (i + s) * kDeltaColumns;
      for (size_t v = 0; v < kVectors; ++v) {
        const auto kept = hn::Mul(keep, hn::LoadU(d, at + v * lanes));
        const auto value = hn::MulAdd(k, delta.v[v], kept);
        Vec& sum = outs.strand[s].v[v];
        sum = hn::MulAdd(q, value, sum);
        Vec& recall = recalls.strand[s].v[v];
        recall = hn::MulAdd(next, value, recall);
        // Last, so that the factors above may be read where they are used.
        hn::StoreU(value, d, at + v * lanes);
      }
    }
  }
  out = outs.Sum();
  recalled = recalls.Sum();
}

// All rows of one part, for one block of columns of one value head. `keeps` is [rows, value_heads].
void RunColumns(const DeltaShape& shape, const DeltaPart& part, View2<const float> keeps,
                size_t head, size_t block) {
  const F32 d;
  const size_t lanes = hn::Lanes(d);
  const size_t rows = part.qkv.rows();
  const size_t query_at = head / (shape.value_heads / shape.key_heads) * shape.key_dim;
  const size_t key_at = shape.key_width() + query_at;
  const size_t out_at = head * shape.value_dim + block * kDeltaColumns;
  const size_t value_at = 2 * shape.key_width() + out_at;
  float* state = part.state + out_at * shape.key_dim;
  Columns recalled = Recall(state, part.qkv.row(0) + key_at, shape.key_dim);
  for (size_t t = 0; t < rows; ++t) {
    const float* at = part.qkv.row(t);
    // The last row has no next one; its own key stands in, and nobody reads the result.
    const float* next = part.qkv.row(std::min(t + 1, rows - 1));
    const Row row{at + query_at, at + key_at, next + key_at, keeps[t][head]};
    const auto keep = hn::Set(d, row.keep);
    const auto beta = hn::Set(d, part.beta[t][head]);
    Columns delta;
    for (size_t v = 0; v < kVectors; ++v) {
      const auto value = hn::LoadU(d, at + value_at + v * lanes);
      delta.v[v] = hn::Mul(beta, hn::Sub(value, hn::Mul(keep, recalled.v[v])));
    }
    Columns out;
    Update(row, delta, shape.key_dim, state, out, recalled);
    for (size_t v = 0; v < kVectors; ++v)
      hn::StoreU(out.v[v], d, part.out.row(t) + out_at + v * lanes);
  }
}

void Exponentials(View2<const float> g, View2<float> out) {
  const F32 d;
  const size_t lanes = hn::Lanes(d);
  for (size_t r = 0; r < g.rows(); ++r) {
    for (size_t c = 0; c < g.cols(); c += lanes) {
      const size_t count = std::min(lanes, g.cols() - c);
      StoreFirst(Exponential(d, LoadFirst(d, g.row(r) + c, count)), d, out.row(r) + c, count);
    }
  }
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(RunColumns);
HWY_EXPORT(Exponentials);

namespace {

// Rows times blocks of columns that are worth handing to another thread: some microseconds.
constexpr size_t kWorkPerTask = 16;

}  // namespace

void CheckDeltaPart(const DeltaShape& shape, const DeltaPart& part) {
  ASSAY_CHECK(shape.key_heads > 0 && shape.value_heads % shape.key_heads == 0);
  ASSAY_CHECK(shape.key_dim % kDeltaColumns == 0 && shape.value_dim % kDeltaColumns == 0);
  const size_t rows = part.qkv.rows();
  ASSAY_CHECK(part.qkv.cols() == shape.channels() && part.out.cols() == shape.value_width());
  ASSAY_CHECK(part.beta.cols() == shape.value_heads && part.g.cols() == shape.value_heads);
  ASSAY_CHECK(part.beta.rows() == rows && part.g.rows() == rows && part.out.rows() == rows);
}

size_t DeltaStateIndex(const DeltaShape& shape, size_t head, size_t key, size_t value) {
  const size_t block = value / kDeltaColumns;
  return (head * shape.value_dim + block * kDeltaColumns) * shape.key_dim + key * kDeltaColumns +
         value % kDeltaColumns;
}

void DeltaRuleFused(Threads& threads, const DeltaShape& shape, std::span<const DeltaPart> parts) {
  std::vector<std::vector<float>> storage;
  std::vector<View2<const float>> keeps;
  size_t most_rows = 1;
  for (const DeltaPart& part : parts) {
    CheckDeltaPart(shape, part);
    storage.emplace_back(part.g.rows() * shape.value_heads);
    const View2<float> keep(storage.back().data(), part.g.rows(), shape.value_heads);
    HWY_DYNAMIC_DISPATCH(Exponentials)(part.g, keep);
    keeps.emplace_back(keep);
    most_rows = std::max(most_rows, part.qkv.rows());
  }
  const size_t blocks = shape.value_dim / kDeltaColumns;
  const size_t per_part = shape.value_heads * blocks;
  const size_t total = parts.size() * per_part;
  const size_t per_task = std::max<size_t>(1, kWorkPerTask / most_rows);
  threads.Run((total + per_task - 1) / per_task, [&](size_t task) {
    const size_t end = std::min(total, (task + 1) * per_task);
    for (size_t i = task * per_task; i < end; ++i) {
      const size_t p = i / per_part;
      if (parts[p].qkv.rows() == 0) continue;
      HWY_DYNAMIC_DISPATCH(RunColumns)
      (shape, parts[p], keeps[p], i % per_part / blocks, i % blocks);
    }
  });
}

void DeltaRuleStep(Threads& threads, const DeltaShape& shape, std::span<const DeltaPart> parts) {
  size_t most_rows = 0;
  for (const DeltaPart& part : parts) most_rows = std::max(most_rows, part.qkv.rows());
  for (size_t t = 0; t < most_rows; ++t) {
    std::vector<DeltaPart> rows;
    for (const DeltaPart& part : parts) {
      if (t >= part.qkv.rows()) continue;
      rows.push_back({part.qkv.Rows(t, 1), part.beta.Rows(t, 1), part.g.Rows(t, 1), part.state,
                      part.out.Rows(t, 1)});
    }
    DeltaRuleFused(threads, shape, rows);
  }
}

}  // namespace assay::kernels
#endif  // HWY_ONCE

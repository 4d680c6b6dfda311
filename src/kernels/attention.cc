#include "kernels/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/check.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::ScalableTag<float>;

// Query heads that share a kv head and are worked on together: each load of a key or value serves
// all of them.
constexpr size_t kTileHeads = HWY_TARGET <= HWY_AVX3 ? 4 : 2;
// Vectors of positions or of dimensions per step; with kTileHeads that fills the registers.
constexpr size_t kTileVectors = 4;

// scores[h][j] = scale * (q_h . k_j) for the 64 positions of a page. The products of a score are
// added in dimension order.
template <size_t kHeads>
void ScorePage(const float* const* queries, const float* keys, size_t head_dim, float scale,
               float* const* scores) {
  const F32 d;
  const size_t lanes = hn::Lanes(d);
  const auto scales = hn::Set(d, scale);
  for (size_t j = 0; j < kPagePositions; j += kTileVectors * lanes) {
    hn::Vec<F32> sums[kHeads][kTileVectors];
    for (size_t h = 0; h < kHeads; ++h) {
      for (size_t v = 0; v < kTileVectors; ++v) sums[h][v] = hn::Zero(d);
    }
    for (size_t i = 0; i < head_dim; ++i) {
      for (size_t h = 0; h < kHeads; ++h) {
        const auto q = hn::Set(d, queries[h][i]);
        for (size_t v = 0; v < kTileVectors; ++v) {
          const auto k = hn::LoadU(d, keys + i * kPagePositions + j + v * lanes);
          sums[h][v] = hn::MulAdd(q, k, sums[h][v]);
        }
      }
    }
    for (size_t h = 0; h < kHeads; ++h) {
      for (size_t v = 0; v < kTileVectors; ++v) {
        hn::StoreU(hn::Mul(sums[h][v], scales), d, scores[h] + j + v * lanes);
      }
    }
  }
}

// Turns `count` scores, padded to whole pages, into exp(score - largest); returns their sum.
float Exponentials(float* scores, size_t count) {
  const F32 d;
  const size_t lanes = hn::Lanes(d);
  const size_t padded = (count + kPagePositions - 1) / kPagePositions * kPagePositions;
  std::fill(scores + count, scores + padded, -std::numeric_limits<float>::infinity());
  auto tops = hn::LoadU(d, scores);
  for (size_t j = lanes; j < padded; j += lanes) tops = hn::Max(tops, hn::LoadU(d, scores + j));
  const auto top = hn::MaxOfLanes(d, tops);
  auto sums = hn::Zero(d);
  for (size_t j = 0; j < padded; j += lanes) {
    const auto e = Exponential(d, hn::Sub(hn::LoadU(d, scores + j), top));
    hn::StoreU(e, d, scores + j);
    sums = hn::Add(sums, e);
  }
  return hn::GetLane(hn::SumOfLanes(d, sums));
}

// totals[h] += sum over `count` positions of p_h[j] * v_j, for kVectors vectors of dimensions. The
// page's own sum comes first, in position order, and is then added to the total: shorter chains,
// and page edges never move.
template <size_t kHeads, size_t kVectors>
void AddValues(const float* const* p, const float* values, size_t head_dim, size_t count,
               float* const* totals) {
  const F32 d;
  const size_t lanes = hn::Lanes(d);
  hn::Vec<F32> sums[kHeads][kVectors];
  for (size_t h = 0; h < kHeads; ++h) {
    for (size_t v = 0; v < kVectors; ++v) sums[h][v] = hn::Zero(d);
  }
  for (size_t j = 0; j < count; ++j) {
    for (size_t v = 0; v < kVectors; ++v) {
      const auto value = hn::LoadU(d, values + j * head_dim + v * lanes);
      for (size_t h = 0; h < kHeads; ++h)
        sums[h][v] = hn::MulAdd(hn::Set(d, p[h][j]), value, sums[h][v]);
    }
  }
  for (size_t h = 0; h < kHeads; ++h) {
    for (size_t v = 0; v < kVectors; ++v) {
      const auto total = hn::LoadU(d, totals[h] + v * lanes);
      hn::StoreU(hn::Add(total, sums[h][v]), d, totals[h] + v * lanes);
    }
  }
}

// Dimensions past the last whole vector, one at a time: the same order of the same operations.
template <size_t kHeads>
void AddValuesTail(const float* const* p, const float* values, size_t head_dim, size_t first,
                   size_t count, float* const* totals) {
  for (size_t i = first; i < head_dim; ++i) {
    for (size_t h = 0; h < kHeads; ++h) {
      float sum = 0;
      for (size_t j = 0; j < count; ++j) sum += p[h][j] * values[j * head_dim + i];
      totals[h][i] += sum;
    }
  }
}

template <size_t kHeads>
void ValuePage(const float* const* p, const float* values, size_t head_dim, size_t count,
               float* const* totals) {
  const size_t lanes = hn::Lanes(F32());
  float* at[kHeads];
  const auto advance = [&](size_t i) {
    for (size_t h = 0; h < kHeads; ++h) at[h] = totals[h] + i;
  };
  size_t i = 0;
  for (; i + kTileVectors * lanes <= head_dim; i += kTileVectors * lanes) {
    advance(i);
    AddValues<kHeads, kTileVectors>(p, values + i, head_dim, count, at);
  }
  for (; i + lanes <= head_dim; i += lanes) {
    advance(i);
    AddValues<kHeads, 1>(p, values + i, head_dim, count, at);
  }
  if (i < head_dim) AddValuesTail<kHeads>(p, values, head_dim, i, count, totals);
}

// kHeads query heads of one row, all reading one kv head. `scores` holds kHeads rows of whole
// pages.
template <size_t kHeads>
void AttendHeads(const AttentionShape& shape, const AttentionPart& part, size_t r, size_t head,
                 View2<float> scores) {
  const size_t count = part.first_position + r + 1;
  const size_t pages = (count + kPagePositions - 1) / kPagePositions;
  const size_t kv_offset = head / (shape.heads / shape.kv_heads) * shape.head_dim * kPagePositions;
  const float scale = 1.0f / std::sqrt(static_cast<float>(shape.head_dim));
  const float* queries[kHeads];
  float* totals[kHeads];
  for (size_t h = 0; h < kHeads; ++h) {
    queries[h] = part.queries.row(r) + (head + h) * shape.head_dim;
    totals[h] = part.out.row(r) + (head + h) * shape.head_dim;
    std::fill_n(totals[h], shape.head_dim, 0.0f);
  }
  float* rows[kHeads];
  const auto page_of_scores = [&](size_t page) {
    for (size_t h = 0; h < kHeads; ++h) rows[h] = scores.row(h) + page * kPagePositions;
  };
  for (size_t page = 0; page < pages; ++page) {
    page_of_scores(page);
    ScorePage<kHeads>(queries, part.pages[page].keys + kv_offset, shape.head_dim, scale, rows);
  }
  float sums[kHeads];
  for (size_t h = 0; h < kHeads; ++h) sums[h] = Exponentials(scores.row(h), count);
  for (size_t page = 0; page < pages; ++page) {
    page_of_scores(page);
    const size_t in_page = std::min(kPagePositions, count - page * kPagePositions);
    ValuePage<kHeads>(rows, part.pages[page].values + kv_offset, shape.head_dim, in_page, totals);
  }
  for (size_t h = 0; h < kHeads; ++h) {
    for (size_t i = 0; i < shape.head_dim; ++i) totals[h][i] /= sums[h];
  }
}

// The query heads of one kv head, for rows [first, first + rows) of one sequence.
void AttendBlock(const AttentionShape& shape, const AttentionPart& part, size_t kv_head,
                 size_t first, size_t rows) {
  const size_t group = shape.heads / shape.kv_heads;
  const size_t positions = part.first_position + first + rows;
  const size_t padded = (positions + kPagePositions - 1) / kPagePositions * kPagePositions;
  std::vector<float> storage(kTileHeads * padded);
  const View2<float> scores(storage.data(), kTileHeads, padded);
  for (size_t r = first; r < first + rows; ++r) {
    size_t h = 0;
    for (; h + kTileHeads <= group; h += kTileHeads) {
      AttendHeads<kTileHeads>(shape, part, r, kv_head * group + h, scores);
    }
    for (; h < group; ++h) AttendHeads<1>(shape, part, r, kv_head * group + h, scores);
  }
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(AttendBlock);

namespace {

constexpr size_t kRowsPerTask = 16;

struct Task {
  size_t part;
  size_t kv_head;
  size_t first;
  size_t rows;
};

}  // namespace

void StoreKeysAndValues(const AttentionShape& shape, View2<const float> keys,
                        View2<const float> values, size_t first_position,
                        std::span<const KvPageView> pages) {
  for (size_t r = 0; r < keys.rows(); ++r) {
    const size_t position = first_position + r;
    const KvPageView& page = pages[position / kPagePositions];
    const size_t slot = position % kPagePositions;
    for (size_t c = 0; c < shape.kv_width(); ++c) page.keys[c * kPagePositions + slot] = keys[r][c];
    for (size_t head = 0; head < shape.kv_heads; ++head) {
      std::copy_n(values.row(r) + head * shape.head_dim, shape.head_dim,
                  page.values + (head * kPagePositions + slot) * shape.head_dim);
    }
  }
}

void Attention(Threads& threads, const AttentionShape& shape,
               std::span<const AttentionPart> parts) {
  std::vector<Task> tasks;
  for (size_t p = 0; p < parts.size(); ++p) {
    ASSAY_CHECK(parts[p].queries.cols() == shape.heads * shape.head_dim);
    ASSAY_CHECK(parts[p].pages.size() * kPagePositions >=
                parts[p].first_position + parts[p].queries.rows());
    for (size_t r = 0; r < parts[p].queries.rows(); r += kRowsPerTask) {
      const size_t rows = std::min(kRowsPerTask, parts[p].queries.rows() - r);
      for (size_t head = 0; head < shape.kv_heads; ++head) tasks.push_back({p, head, r, rows});
    }
  }
  threads.Run(tasks.size(), [&](size_t t) {
    const Task& task = tasks[t];
    HWY_DYNAMIC_DISPATCH(AttendBlock)(shape, parts[task.part], task.kv_head, task.first, task.rows);
  });
}

}  // namespace assay::kernels
#endif  // HWY_ONCE

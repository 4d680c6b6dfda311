// Causal attention over paged keys and values (spec d1 2.3).
#pragma once

#include <cstddef>
#include <span>

#include "base/threads.h"
#include "base/view.h"

namespace assay::kernels {

// Positions per page. Pages start at multiples of it, so where a sequence was split never shows in
// a page.
constexpr size_t kPagePositions = 64;

struct AttentionShape {
  size_t heads = 0;
  size_t kv_heads = 0;
  size_t head_dim = 0;

  size_t kv_width() const { return kv_heads * head_dim; }
  // Floats of one layer's keys, or of its values, in one page.
  size_t page_floats() const { return kv_width() * kPagePositions; }
};

// One layer's part of a page. Keys lie as [kv_heads, head_dim, kPagePositions] (a vector holds
// neighbouring positions), values as [kv_heads, kPagePositions, head_dim].
struct KvPageView {
  float* keys = nullptr;
  float* values = nullptr;
};

// One sequence's part of a pass.
struct AttentionPart {
  View2<const float> queries;  // [rows, heads * head_dim], normed and rotated
  size_t first_position = 0;   // of the first query
  std::span<const KvPageView>
      pages;  // of this layer, from position 0; they hold every position up to the last query
  View2<float> out;  // [rows, heads * head_dim]
};

// Writes keys and values [rows, kv_width] of positions first_position... into their pages.
void StoreKeysAndValues(const AttentionShape& shape, View2<const float> keys,
                        View2<const float> values, size_t first_position,
                        std::span<const KvPageView> pages);

// out = softmax(q k / sqrt(head_dim)) v over the positions up to the query's own; query head h
// reads kv head h / (heads / kv_heads). Softmax and sums in fp32. A query's result depends on
// itself and the positions before it only; sums run in page order, so splitting a sequence changes
// no bit. A score that is not a number makes the result one that is not. Memory: one row of scores
// per task.
void Attention(Threads& threads, const AttentionShape& shape, std::span<const AttentionPart> parts);

// The same in float64, for tests.
void AttentionRef(const AttentionShape& shape, const AttentionPart& part);

}  // namespace assay::kernels

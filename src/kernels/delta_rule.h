// The gated delta rule of a Qwen3.5 layer, position by position (spec kev 2.5). The chunk form is
// in delta_chunk.h.
#pragma once

#include <cstddef>
#include <span>

#include "base/threads.h"
#include "base/view.h"

namespace assay::kernels {

// Value columns that are worked on together: their state stays in the first-level cache.
constexpr size_t kDeltaColumns = 16;

struct DeltaShape {
  size_t key_heads = 0;
  size_t value_heads = 0;  // a multiple of key_heads
  size_t key_dim = 0;      // of a head, as the next: multiples of kDeltaColumns
  size_t value_dim = 0;

  size_t key_width() const { return key_heads * key_dim; }
  size_t value_width() const { return value_heads * value_dim; }
  // Of one row: queries, keys, values.
  size_t channels() const { return 2 * key_width() + value_width(); }
  size_t state_floats() const { return value_heads * key_dim * value_dim; }
};

// One sequence's part of a pass.
struct DeltaPart {
  View2<const float> qkv;   // [rows, channels]: queries and keys normed, queries scaled
  View2<const float> beta;  // [rows, value_heads]
  View2<const float> g;     // [rows, value_heads]: the logarithm of what the state keeps
  // [value_heads, value_dim / kDeltaColumns, key_dim, kDeltaColumns], zero at a row's start and
  // advanced by the call. Fastest where it starts at a cache line.
  float* state = nullptr;
  View2<float> out;  // [rows, value_heads * value_dim]
};

// For each row and value head n, with the query and key of head n / (value_heads / key_heads):
// S <- exp(g) S + k delta^T with delta = beta (v - exp(g) S^T k); out = S^T q. fp32 in fixed order:
// a result depends on its own sequence only, and splitting a sequence changes no bit.
//
// Fused goes through all rows of a head's block of columns in one task. Step runs one row of every
// part at a time: the same bits, slower; what the other forms are measured and tested against.
void DeltaRuleFused(Threads& threads, const DeltaShape& shape, std::span<const DeltaPart> parts);
void DeltaRuleStep(Threads& threads, const DeltaShape& shape, std::span<const DeltaPart> parts);

// The same in float64, for tests; the state is rounded at the end.
void DeltaRuleRef(const DeltaShape& shape, const DeltaPart& part);

// Where the state of a head, key dimension and value dimension lies.
size_t DeltaStateIndex(const DeltaShape& shape, size_t head, size_t key, size_t value);

// Programmer's errors in the shapes of a part.
void CheckDeltaPart(const DeltaShape& shape, const DeltaPart& part);

}  // namespace assay::kernels

// The gated delta rule in chunks (spec kev 2.6): the same recurrence as delta_rule.h, with the rows
// of a chunk solved against each other by forward substitution. The state advances once a chunk.
#pragma once

#include <span>

#include "kernels/delta_rule.h"

namespace assay::kernels {

// Chunk sizes are multiples of this, up to kMostChunk.
constexpr size_t kChunkUnit = 16;
constexpr size_t kMostChunk = 128;

// The rows of a chunk that is not full yet: what later rows of it need of them. One row holds the
// keys [key_width], the solved deltas [value_width] and g [value_heads].
struct OpenChunk {
  View2<float> keys;    // [chunk, key_width]
  View2<float> deltas;  // [chunk, value_width]
  View2<float> g;       // [chunk, value_heads]
};

// `held` rows of `open` are from earlier passes. On return the open rows are those after the last
// chunk that became full: (held + rows) % chunk of them.
struct DeltaChunkPart {
  DeltaPart part;
  OpenChunk open;
  size_t held = 0;
};

// Floats of one layer's open chunk.
size_t OpenChunkFloats(const DeltaShape& shape, size_t chunk);
// The views of one layer's open chunk over that many floats.
OpenChunk OpenChunkAt(const DeltaShape& shape, size_t chunk, float* memory);

// Chunks begin at multiples of `chunk` positions of a sequence, wherever it was split: splitting
// changes no bit. Equal to the forms of delta_rule.h up to rounding.
void DeltaRuleChunk(Threads& threads, const DeltaShape& shape, size_t chunk,
                    std::span<const DeltaChunkPart> parts);

}  // namespace assay::kernels

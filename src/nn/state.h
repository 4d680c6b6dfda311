// State: what a sequence leaves behind in a decoder. A value that can be forked at any position.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "base/view.h"
#include "kernels/attention.h"
#include "kernels/delta_chunk.h"

namespace assay::nn {

// How much of each kind of memory a decoder needs.
struct StateShape {
  size_t attention_layers = 0;
  kernels::AttentionShape attention;
  size_t conv_layers = 0;
  size_t conv_columns = 0;  // carried per layer: taps - 1
  size_t conv_channels = 0;
  size_t delta_layers = 0;
  kernels::DeltaShape delta;
  size_t delta_chunk = 0;  // positions per chunk; 0 when no rows of an open chunk are carried

  // Floats of one page: keys and values of all attention layers for kPagePositions positions.
  size_t page_floats() const { return attention_layers * 2 * attention.page_floats(); }
};

// Keys and values of attention layers (in pages of kPagePositions positions), the last columns of
// convolutions, and the matrices of delta-rule layers with the rows of their open chunk. Movable;
// copied only by Fork. Not for use by two threads at once, but forks are independent of each other
// and of their parent.
class State {
 public:
  explicit State(const StateShape& shape);
  State(State&&) = default;
  State& operator=(State&&) = default;

  const StateShape& shape() const { return shape_; }
  // How many rows this state has seen.
  size_t positions() const { return positions_; }

  // A state with the same past. Whole pages are shared, since nobody writes to one again; the page
  // that is being filled, the columns, the matrices and the open rows are copied. The parent does
  // not change and may go on.
  State Fork() const;

  // Makes room for `count` more positions. The decoder then writes their keys and values through
  // Pages.
  void Extend(size_t count);

  // The pages of one attention layer, from position 0.
  std::vector<kernels::KvPageView> Pages(size_t attention_layer);
  // [conv_columns, conv_channels] of one conv layer, oldest first.
  View2<float> Columns(size_t conv_layer);
  // The matrices of one delta-rule layer, as kernels::DeltaPart has them.
  float* Matrices(size_t delta_layer);
  // The open chunk of one delta-rule layer; its first positions() % delta_chunk rows count.
  kernels::OpenChunk OpenRows(size_t delta_layer);

  // All that it holds, in a fixed order, for saving: bytes() of memory that lies in pieces. A state
  // of the same shape that has been Extended to the same positions takes the pieces back.
  std::vector<std::span<float>> Pieces();

  // Bytes that this state holds, and of those the bytes that no other state shares.
  size_t bytes() const;
  size_t own_bytes() const;
  // Bytes that a state of `positions` positions holds.
  static size_t BytesFor(const StateShape& shape, size_t positions);

 private:
  using Page = std::vector<float>;

  State(const State&) = default;
  size_t fixed_floats() const { return columns_.size() + matrices_.size() + open_rows_.size(); }

  StateShape shape_;
  size_t positions_ = 0;
  std::vector<std::shared_ptr<Page>> pages_;
  std::vector<float> columns_;
  AlignedFloats matrices_;
  std::vector<float> open_rows_;
};

}  // namespace assay::nn

// What the decoders share about one pass: its pieces, their places, its activations.
#pragma once

#include <span>
#include <vector>

#include "base/aligned.h"
#include "base/view.h"
#include "kernels/weights.h"
#include "nn/decoder.h"

namespace assay::nn {

// A matrix of fp32 activations, [rows, cols].
class Buffer {
 public:
  Buffer(size_t rows, size_t cols) : values_(rows * cols), rows_(rows), cols_(cols) {}
  View2<float> view() { return {values_.data(), rows_, cols_}; }

 private:
  AlignedFloats values_;
  size_t rows_;
  size_t cols_;
};

// The pieces of one pass and where their rows lie in it.
struct Pass {
  std::span<Segment> segments;
  std::span<const Piece> pieces;
  std::vector<size_t> first_row;       // of each piece
  std::vector<size_t> first_position;  // in its sequence, of each piece
  size_t rows = 0;

  State& state(size_t piece) const { return *segments[pieces[piece].segment].state; }
  // The rows of one piece, of a matrix over all rows of the pass.
  View2<float> Rows(size_t piece, View2<float> all) const {
    return all.Rows(first_row[piece], pieces[piece].count);
  }
};

// Makes room in the states for the rows of the pass.
Pass StartPass(std::span<Segment> segments, std::span<const Piece> pieces);

// The position of each row in its sequence.
std::vector<size_t> PositionsOf(const Pass& pass);

// out[r] = the embedding of the id of row r.
void EmbedRows(const Pass& pass, const kernels::WeightMatrix& embedding, View2<float> out);

struct WantedRow {
  size_t row;        // of the pass
  View1<float> out;  // where it goes
};
std::vector<WantedRow> WantedRows(const Pass& pass);

}  // namespace assay::nn

#include "nn/pass.h"

#include "base/check.h"

namespace assay::nn {

Pass StartPass(std::span<Segment> segments, std::span<const Piece> pieces) {
  Pass pass{segments, pieces, {}, {}, 0};
  for (const Piece& piece : pieces) {
    State& state = *segments[piece.segment].state;
    pass.first_row.push_back(pass.rows);
    pass.first_position.push_back(state.positions());
    state.Extend(piece.count);
    pass.rows += piece.count;
  }
  return pass;
}

std::vector<size_t> PositionsOf(const Pass& pass) {
  std::vector<size_t> positions;
  positions.reserve(pass.rows);
  for (size_t p = 0; p < pass.pieces.size(); ++p) {
    for (size_t r = 0; r < pass.pieces[p].count; ++r)
      positions.push_back(pass.first_position[p] + r);
  }
  return positions;
}

void EmbedRows(const Pass& pass, const kernels::WeightMatrix& embedding, View2<float> out) {
  size_t row = 0;
  for (const Piece& piece : pass.pieces) {
    for (const int32_t id : pass.segments[piece.segment].ids.subspan(piece.first, piece.count)) {
      ASSAY_CHECK(id >= 0 && static_cast<size_t>(id) < embedding.rows);
      kernels::WidenRow(embedding, static_cast<size_t>(id), out[row++]);
    }
  }
}

std::vector<WantedRow> WantedRows(const Pass& pass) {
  std::vector<WantedRow> out;
  for (size_t p = 0; p < pass.pieces.size(); ++p) {
    const Piece& piece = pass.pieces[p];
    const Segment& segment = pass.segments[piece.segment];
    for (size_t w = 0; w < segment.wanted.size(); ++w) {
      const size_t row = segment.wanted[w];
      if (row < piece.first || row >= piece.first + piece.count) continue;
      out.push_back({pass.first_row[p] + row - piece.first, segment.hidden[w]});
    }
  }
  return out;
}

}  // namespace assay::nn

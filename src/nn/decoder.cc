#include "nn/decoder.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace assay::nn {

std::vector<std::vector<Piece>> PlanPasses(std::span<const size_t> segment_rows,
                                           const ForwardOptions& options) {
  const size_t chunk = options.chunk == 0 ? std::numeric_limits<size_t>::max() : options.chunk;
  std::vector<size_t> done(segment_rows.size(), 0);
  std::vector<std::vector<Piece>> passes;
  for (;;) {
    std::vector<Piece> pass;
    size_t room = std::max<size_t>(1, options.max_rows);
    for (size_t s = 0; s < segment_rows.size() && room > 0; ++s) {
      const size_t count = std::min({segment_rows[s] - done[s], chunk, room});
      if (count == 0) continue;
      pass.push_back({s, done[s], count});
      done[s] += count;
      room -= count;
    }
    if (pass.empty()) return passes;
    passes.push_back(std::move(pass));
  }
}

void Decoder::Forward(Threads& threads, std::span<Segment> segments,
                      const ForwardOptions& options) const {
  std::vector<size_t> rows;
  for (const Segment& segment : segments) {
    ASSAY_CHECK(segment.hidden.rows() == segment.wanted.size());
    ASSAY_CHECK(segment.wanted.empty() || segment.hidden.cols() == hidden_size());
    ASSAY_CHECK(std::is_sorted(segment.wanted.begin(), segment.wanted.end()));
    ASSAY_CHECK(segment.wanted.empty() || segment.wanted.back() < segment.ids.size());
    rows.push_back(segment.ids.size());
  }
  for (const std::vector<Piece>& pass : PlanPasses(rows, options)) RunPass(threads, segments, pass);
}

}  // namespace assay::nn

// What every decoder offers: run new rows of several sequences, each continuing its State, in
// shared passes.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/threads.h"
#include "base/view.h"
#include "kernels/compute_form.h"
#include "kernels/weights.h"
#include "nn/state.h"

namespace assay::nn {

// A run of new rows that continues one State. Everything is borrowed for the length of the call.
struct Segment {
  State* state = nullptr;               // advanced by the call
  std::span<const int32_t> ids;         // token ids, each below the vocabulary size
  std::span<const size_t> wanted = {};  // which of these rows must come back, ascending
  View2<float> hidden = {};  // [wanted, hidden_size]: the wanted rows after the final norm
};

struct ForwardOptions {
  // Rows of one segment per pass: 0 = as many as fit. The seed records' static chunk widths.
  // Changes no bit of the result.
  size_t chunk = 0;
  // Rows of all segments together per pass: bounds the memory of a pass.
  size_t max_rows = 512;
};

// A piece of a segment that runs in one pass.
struct Piece {
  size_t segment = 0;
  size_t first = 0;  // row within the segment
  size_t count = 0;
};

class Decoder {
 public:
  virtual ~Decoder() = default;

  virtual size_t hidden_size() const = 0;
  virtual size_t vocabulary() const = 0;
  virtual StateShape state_shape() const = 0;
  // Every matrix that each row is multiplied by: all linear layers, not the embedding.
  virtual std::vector<kernels::WeightMatrix> linear_weights() const = 0;
  // How they are multiplied.
  virtual kernels::Compute compute() const = 0;
  // The kernels of its other operations, for reports.
  virtual std::vector<std::string_view> other_kernels() const = 0;

  // Runs all rows of all segments. A row's result depends on its own sequence only: alone,
  // together, chunked and forked runs give the same bits. No two segments may share a State.
  void Forward(Threads& threads, std::span<Segment> segments, const ForwardOptions& options) const;

 protected:
  // Runs one pass; `pieces` continue their segments in order.
  virtual void RunPass(Threads& threads, std::span<Segment> segments,
                       std::span<const Piece> pieces) const = 0;
};

// The passes of a call: each holds at most `chunk` rows of a segment (0 = no limit) and `max_rows`
// rows in all.
std::vector<std::vector<Piece>> PlanPasses(std::span<const size_t> segment_rows,
                                           const ForwardOptions& options);

}  // namespace assay::nn

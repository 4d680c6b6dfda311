#include "kernels/linear.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "base/check.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/linear.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/dot_tile-inl.h"
#include "kernels/math-inl.h"

// The rows of x are packed once a call: in tiles of a few rows, step by step as the inner loop
// reads them. Weights are read where they lie, in the checkpoint: nothing is copied or kept. A task
// computes some columns for all rows. It goes through the inputs in blocks: a tile's share of a
// block is about as large as the first-level cache, the weights of a block stay in the second.

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t kColsPerTask = 48;
constexpr size_t kMostInputsPerBlock = 2048;
// Rows that go through all weights before the next ones: as many as stay in the third-level cache,
// which every task reads them from. Few rows more than that would cost less than reading the
// weights again.
constexpr size_t kMostRowBytes = size_t{6} << 20;
constexpr size_t kFewestRows = 96;

size_t MostRows(size_t inputs) {
  return std::max(kFewestRows, kMostRowBytes / (inputs * sizeof(float)));
}

size_t RoundUp(size_t value, size_t unit) { return (value + unit - 1) / unit * unit; }

// The rows of x in tiles of up to kTileRows, of like heights. Tile t, of h rows, starts at
// first_row[t] * width and holds, step by step, the step of each of its rows: vector of even
// inputs, vector of odd ones.
class PackedRows {
 public:
  PackedRows() = default;
  PackedRows(Threads& threads, View2<const float> x)
      : inputs_(x.cols()), width_(RoundUp(x.cols(), StepInputs())) {
    const size_t tiles = (x.rows() + kTileRows - 1) / kTileRows;
    for (size_t t = 0; t <= tiles; ++t) first_row_.push_back(x.rows() * t / tiles);
    values_.reset(static_cast<float*>(
        ::operator new(x.rows() * width_ * sizeof(float), std::align_val_t{kAlign})));
    // Some 16 thousand values a task: less is not worth handing to another thread.
    const size_t per_task = std::max<size_t>(1, 16384 / (kTileRows * width_));
    threads.Run((tiles + per_task - 1) / per_task, [&](size_t task) {
      const size_t end = std::min(tiles, (task + 1) * per_task);
      for (size_t t = task * per_task; t < end; ++t) PackTile(x, t);
    });
  }

  size_t tiles() const { return first_row_.empty() ? 0 : first_row_.size() - 1; }
  size_t first_row(size_t tile) const { return first_row_[tile]; }
  size_t height(size_t tile) const { return first_row_[tile + 1] - first_row_[tile]; }
  // A tile's values from input k on, a multiple of a step.
  const float* At(size_t tile, size_t k) const {
    return values_.get() + first_row_[tile] * width_ + k * height(tile);
  }
  size_t inputs() const { return inputs_; }

 private:
  static constexpr size_t kAlign = 64;
  struct Free {
    void operator()(float* values) const { ::operator delete(values, std::align_val_t{kAlign}); }
  };

  void PackTile(View2<const float> x, size_t tile) const {
    const F32 d;
    const size_t lanes = hn::Lanes(d);
    float* out = values_.get() + first_row_[tile] * width_;
    for (size_t k = 0; k < width_; k += 2 * lanes) {
      for (size_t r = first_row_[tile]; r < first_row_[tile + 1]; ++r) {
        const float* at = x.row(r) + k;
        HWY_ALIGN float padded[2 * hn::MaxLanes(d)] = {};
        if (k + 2 * lanes > inputs_) {
          std::copy(at, x.row(r) + inputs_, padded);
          at = padded;
        }
        const auto first = hn::LoadU(d, at);
        const auto second = hn::LoadU(d, at + lanes);
        const Step step = SplitStep(first, second);
        hn::Store(step.even, d, out);
        hn::Store(step.odd, d, out + lanes);
        out += 2 * lanes;
      }
    }
  }

  size_t inputs_ = 0;
  size_t width_ = 0;  // inputs, filled up to whole steps
  std::vector<size_t> first_row_;
  std::unique_ptr<float[], Free> values_;
};

// Consecutive tiles of the packed rows.
struct TileRange {
  size_t first;
  size_t end;
};

// y[r, n] (+)= row r . weight row (first_col + n) over some inputs, for the rows of one tile: `x`
// stays in the first-level cache while the weights pass. The first tile of a task finds its
// weights in memory, and fetches those of the next strip while it multiplies.
template <WeightType kType>
void DotStrips(const float* x, const WeightMatrix& weight, size_t first_col, InputRange range,
               bool first_tile, View2<float> y) {
  const auto strip = [&]<size_t kCols>(size_t n) {
    const void* weights[kCols];
    for (size_t i = 0; i < kCols; ++i) weights[i] = weight.row(first_col + n + i);
    range.ahead = first_tile ? kCols * RowBytes(kType, weight.cols) : 0;
    DotTileOf<kType, kCols>(y.rows(), x, weights, range, y.Cols(n, kCols));
  };
  size_t n = 0;
  for (; n + kTileCols <= y.cols(); n += kTileCols) strip.template operator()<kTileCols>(n);
  switch (y.cols() - n) {
    case 1: return strip.template operator()<1>(n);
    case 2: return strip.template operator()<2>(n);
    case 3: return strip.template operator()<3>(n);
    default: return;
  }
}

// y[r, n] = row r . weight row (first_col + n).
template <WeightType kType>
void DotBlockOf(const PackedRows& x, const TileRange& tiles, const WeightMatrix& weight,
                size_t first_col, View2<float> y) {
  const size_t blocks = (x.inputs() + kMostInputsPerBlock - 1) / kMostInputsPerBlock;
  const size_t block = RoundUp((x.inputs() + blocks - 1) / blocks, StepInputs());
  for (size_t k = 0; k < x.inputs(); k += block) {
    const InputRange range{k, std::min(block, x.inputs() - k), k > 0, 0};
    for (size_t t = tiles.first; t < tiles.end; ++t) {
      const size_t row = x.first_row(t) - x.first_row(tiles.first);
      DotStrips<kType>(x.At(t, k), weight, first_col, range, t == tiles.first,
                       y.Rows(row, x.height(t)));
    }
  }
}

void DotBlock(const PackedRows& x, const TileRange& tiles, const WeightMatrix& weight,
              size_t first_col, View2<float> y) {
  switch (weight.type) {
    case WeightType::kF32: return DotBlockOf<WeightType::kF32>(x, tiles, weight, first_col, y);
    case WeightType::kBf16: return DotBlockOf<WeightType::kBf16>(x, tiles, weight, first_col, y);
    case WeightType::kF16: return DotBlockOf<WeightType::kF16>(x, tiles, weight, first_col, y);
    case WeightType::kInt8:
    case WeightType::kInt4: break;
  }
  ASSAY_CHECK(false && "no kernel for this weight type");
}

// Results of a task on their way to the output, [rows, kColsPerTask].
class Block {
 public:
  explicit Block(size_t rows) : values_(new float[rows * kColsPerTask]) {}
  View2<float> View(size_t rows, size_t cols) const {
    return {values_.get(), rows, cols, kColsPerTask};
  }

 private:
  std::unique_ptr<float[]> values_;
};

// What every task of a call shares.
struct Call {
  const PackedRows& x;
  std::span<const PackedRows> inners;  // of each part: rows times the adapter's a, or empty
  std::span<const LinearPart> parts;
  Epilogue epilogue;
};

// y = W x + bias + low rank, for some columns of the rows of `tiles`. `side` is working memory.
void ComputeBlock(const Call& call, const TileRange& tiles, size_t p, size_t first_col,
                  const Block& side, View2<float> y) {
  const LinearPart& part = call.parts[p];
  DotBlock(call.x, tiles, part.weight, first_col, y);
  if (!part.bias.empty()) {
    for (size_t r = 0; r < y.rows(); ++r) {
      for (size_t n = 0; n < y.cols(); ++n) y[r][n] += part.bias[first_col + n];
    }
  }
  if (part.low_rank) {
    const View2<float> product = side.View(y.rows(), y.cols());
    DotBlock(call.inners[p], tiles, part.low_rank->b, first_col, product);
    for (size_t r = 0; r < y.rows(); ++r) {
      for (size_t n = 0; n < y.cols(); ++n) y[r][n] += part.low_rank->scale * product[r][n];
    }
  }
}

void AddBlock(View2<const float> y, View2<float> out) {
  for (size_t r = 0; r < y.rows(); ++r) {
    const float* from = y.row(r);
    float* to = out.row(r);
    for (size_t n = 0; n < y.cols(); ++n) to[n] += from[n];
  }
}

void StoreBlock(View2<const float> y, View2<float> out) {
  for (size_t r = 0; r < y.rows(); ++r) std::copy(y[r].begin(), y[r].end(), out[r].begin());
}

// out = silu(gate) * up, in whole vectors over the blocks' own padding; `gate` is overwritten.
void SiluProductBlock(View2<float> gate, View2<const float> up, View2<float> out) {
  const F32 d;
  for (size_t r = 0; r < gate.rows(); ++r) {
    for (size_t n = 0; n < gate.cols(); n += hn::Lanes(d)) {
      float* at = gate.row(r) + n;
      hn::StoreU(hn::Mul(Silu(d, hn::LoadU(d, at)), hn::LoadU(d, up.row(r) + n)), d, at);
    }
  }
  StoreBlock(gate, out);
}

struct Task {
  size_t part;
  size_t first_col;
  TileRange tiles;
};

void RunTask(const Call& call, const Task& task) {
  const LinearPart& part = call.parts[task.part];
  const size_t cols = std::min(kColsPerTask, part.weight.rows - task.first_col);
  const size_t row = call.x.first_row(task.tiles.first);
  const size_t rows = call.x.first_row(task.tiles.end) - row;
  const bool silu = call.epilogue == Epilogue::kSiluProduct;
  const bool low_rank = part.low_rank || (silu && call.parts[1].low_rank);
  const Block first(rows);
  const Block second(silu ? rows : 0);
  const Block side(low_rank ? rows : 0);
  const View2<float> y = first.View(rows, cols);
  ComputeBlock(call, task.tiles, task.part, task.first_col, side, y);
  const View2<float> out = part.out.Rows(row, rows).Cols(task.first_col, cols);
  if (silu) {
    const View2<float> up = second.View(rows, cols);
    ComputeBlock(call, task.tiles, 1, task.first_col, side, up);
    SiluProductBlock(y, up, out);
  } else if (call.epilogue == Epilogue::kAdd) {
    AddBlock(y, out);
  } else {
    StoreBlock(y, out);
  }
}

void RunTasks(Threads& threads, const Call& call) {
  std::vector<Task> tasks;
  const size_t written = call.epilogue == Epilogue::kSiluProduct ? 1 : call.parts.size();
  const size_t round = std::max<size_t>(1, MostRows(call.x.inputs()) / kTileRows);
  for (size_t t = 0; t < call.x.tiles(); t += round) {
    const TileRange tiles{t, std::min(call.x.tiles(), t + round)};
    for (size_t p = 0; p < written; ++p) {
      for (size_t n = 0; n < call.parts[p].weight.rows; n += kColsPerTask) {
        tasks.push_back({p, n, tiles});
      }
    }
  }
  threads.Run(tasks.size(), [&](size_t t) { RunTask(call, tasks[t]); });
}

void RunLinear(Threads& threads, View2<const float> x, std::span<const LinearPart> parts,
               Epilogue epilogue) {
  const PackedRows packed(threads, x);
  // The inner products a x of the adapters, one small matrix a part.
  std::vector<PackedRows> inners(parts.size());
  for (size_t p = 0; p < parts.size(); ++p) {
    if (!parts[p].low_rank) continue;
    const WeightMatrix& a = parts[p].low_rank->a;
    std::vector<float> storage(x.rows() * a.rows);
    const LinearPart inner{a, View2<float>(storage.data(), x.rows(), a.rows)};
    RunTasks(threads, {packed, {}, std::span(&inner, 1), Epilogue::kStore});
    inners[p] = PackedRows(threads, inner.out);
  }
  RunTasks(threads, {packed, inners, parts, epilogue});
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(RunLinear);

namespace {

void CheckShapes(View2<const float> x, std::span<const LinearPart> parts, Epilogue epilogue) {
  for (const LinearPart& part : parts) {
    const bool writes = epilogue != Epilogue::kSiluProduct || &part == &parts[0];
    ASSAY_CHECK(part.weight.cols == x.cols());
    ASSAY_CHECK(!writes || (part.out.rows() == x.rows() && part.out.cols() == part.weight.rows));
    ASSAY_CHECK(part.bias.empty() || part.bias.size() == part.weight.rows);
    if (part.low_rank) {
      ASSAY_CHECK(part.low_rank->a.cols == x.cols() && part.low_rank->b.rows == part.weight.rows);
      ASSAY_CHECK(part.low_rank->a.rows == part.low_rank->b.cols);
    }
  }
  if (epilogue == Epilogue::kSiluProduct) {
    ASSAY_CHECK(parts.size() == 2 && parts[0].weight.rows == parts[1].weight.rows);
  }
}

}  // namespace

void Linear(Threads& threads, View2<const float> x, std::span<const LinearPart> parts,
            Epilogue epilogue) {
  CheckShapes(x, parts, epilogue);
  if (x.rows() == 0) return;
  HWY_DYNAMIC_DISPATCH(RunLinear)(threads, x, parts, epilogue);
}

}  // namespace assay::kernels
#endif  // HWY_ONCE

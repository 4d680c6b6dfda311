// Rows of the linear layer's input as the fp32 inner loop reads them, and the loops around it.
// Compiled once per CPU level: no include guard in the usual sense.
#if defined(ASSAY_KERNELS_F32_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_KERNELS_F32_ROWS_INL_H_
#undef ASSAY_KERNELS_F32_ROWS_INL_H_
#else
#define ASSAY_KERNELS_F32_ROWS_INL_H_
#endif

#include <algorithm>
#include <vector>

#include "base/aligned.h"
#include "base/check.h"
#include "base/threads.h"
#include "hwy/highway.h"
#include "kernels/dot_tile-inl.h"

// Weights are read where they lie, in the checkpoint: nothing is copied or kept. The inputs are
// gone through in blocks: a tile's share of a block is about as large as the first-level cache, the
// weights of a block stay in the second.

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t kMostInputsPerBlock = 2048;

HWY_INLINE size_t RoundUp(size_t value, size_t unit) { return (value + unit - 1) / unit * unit; }

// The rows of x in tiles of up to kTileRows, of like heights. Tile t, of h rows, starts at
// first_row[t] * width and holds, step by step, the step of each of its rows: vector of even
// inputs, vector of odd ones.
class F32Rows {
 public:
  F32Rows() = default;
  F32Rows(Threads& threads, View2<const float> x)
      : inputs_(x.cols()),
        width_(RoundUp(x.cols(), StepInputs())),
        values_(AlignedArray<float>(x.rows() * width_)) {
    const size_t tiles = (x.rows() + kTileRows - 1) / kTileRows;
    for (size_t t = 0; t <= tiles; ++t) first_row_.push_back(x.rows() * t / tiles);
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
  Aligned<float> values_;
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

template <WeightType kType>
void DotRowsOf(const F32Rows& x, const WeightMatrix& weight, size_t first_col, View2<float> y) {
  const size_t blocks = (x.inputs() + kMostInputsPerBlock - 1) / kMostInputsPerBlock;
  const size_t block = RoundUp((x.inputs() + blocks - 1) / blocks, StepInputs());
  for (size_t k = 0; k < x.inputs(); k += block) {
    const InputRange range{k, std::min(block, x.inputs() - k), k > 0, 0};
    for (size_t t = 0; t < x.tiles(); ++t) {
      DotStrips<kType>(x.At(t, k), weight, first_col, range, t == 0,
                       y.Rows(x.first_row(t), x.height(t)));
    }
  }
}

// y[r, n] = row r . weight row (first_col + n).
HWY_INLINE void DotRows(const F32Rows& x, const WeightMatrix& weight, size_t first_col,
                        View2<float> y) {
  switch (weight.type) {
    case WeightType::kF32: return DotRowsOf<WeightType::kF32>(x, weight, first_col, y);
    case WeightType::kBf16: return DotRowsOf<WeightType::kBf16>(x, weight, first_col, y);
    case WeightType::kF16: return DotRowsOf<WeightType::kF16>(x, weight, first_col, y);
    case WeightType::kInt8:
    case WeightType::kInt4: break;
  }
  ASSAY_CHECK(false && "no kernel for this weight type");
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard

// Rows of the linear layer's input as bf16 terms, in the order that a bf16 unit reads them, and the
// loops around the unit.
// Compiled once per CPU level: no include guard in the usual sense.
#if defined(ASSAY_KERNELS_BF16_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_KERNELS_BF16_ROWS_INL_H_
#undef ASSAY_KERNELS_BF16_ROWS_INL_H_
#else
#define ASSAY_KERNELS_BF16_ROWS_INL_H_
#endif

#include <algorithm>
#include <cstring>

#include "base/aligned.h"
#include "base/threads.h"
#include "base/view.h"
#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "kernels/bf16_unit.h"
#include "kernels/weights.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Steps of one block: few enough that two strips of weights stay in the first-level cache and all
// tiles of x in the second, and a multiple of the unit's own chunk.
constexpr size_t kStepsPerBlock = kBf16Chunk;
// With so few tiles a strip of weights is wanted once, and is read from memory along its rows.
constexpr size_t kFewTiles = 2;
constexpr size_t kStepsInPlace = 64;
// Bytes along a row that are fetched before they are wanted.
constexpr size_t kAhead = 512;
constexpr size_t kStripStepBytes = kBf16Strip * kBf16Step * sizeof(uint16_t);

// The nearest bf16 value, ties to even, as the upper half of fp32; not-a-number stays one.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V NearestBf16(D d, V x) {
  const hn::RebindToUnsigned<D> du;
  const auto bits = hn::BitCast(du, x);
  const auto upper = hn::Set(du, 0xFFFF0000u);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1u));
  const auto nearest = hn::And(hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7FFFu))), upper);
  const auto quiet = hn::And(hn::Or(bits, hn::Set(du, 0x00400000u)), upper);
  return hn::IfThenElse(hn::IsNaN(x), hn::BitCast(d, quiet), hn::BitCast(d, nearest));
}

// x = terms[0] + terms[1] + ..., each the nearest bf16 value to what the earlier ones left. After
// an infinity or not-a-number nothing is left.
HWY_INLINE void SplitIntoTerms(const float* x, size_t terms, size_t count, float* out) {
  const hn::ScalableTag<float> d;
  for (size_t k = 0; k < count; k += hn::Lanes(d)) {
    auto rest = hn::Load(d, x + k);
    for (size_t t = 0; t < terms; ++t) {
      const auto term = NearestBf16(d, rest);
      hn::Store(term, d, out + t * count + k);
      const auto left = hn::Sub(rest, term);
      rest = hn::IfThenElse(hn::IsFinite(term), left, hn::Zero(d));
    }
  }
}

// Rows in tiles of kBf16Tile, the last filled up with rows of zeros, as are the inputs up to whole
// steps. A tile holds all its steps, a step its terms, a term pairs of neighbouring inputs, a pair
// one 32-bit value for each row.
class Bf16Rows {
 public:
  Bf16Rows() = default;
  Bf16Rows(Threads& threads, View2<const float> x, size_t terms)
      : rows_(x.rows()),
        inputs_(x.cols()),
        steps_((x.cols() + kBf16Step - 1) / kBf16Step),
        terms_(terms),
        values_(AlignedArray<uint16_t>(tiles() * TileValues())) {
    const size_t per_tile = (steps_ + kStepsInPlace - 1) / kStepsInPlace;
    threads.Run(tiles() * per_tile, [&](size_t task) {
      const size_t first = task % per_tile * kStepsInPlace;
      for (size_t s = first; s < std::min(steps_, first + kStepsInPlace); ++s) {
        PackStep(x, task / per_tile, s);
      }
    });
  }

  size_t rows() const { return rows_; }
  size_t inputs() const { return inputs_; }
  size_t tiles() const { return (rows_ + kBf16Tile - 1) / kBf16Tile; }
  size_t steps() const { return steps_; }
  size_t terms() const { return terms_; }
  const uint16_t* At(size_t tile, size_t step) const {
    return values_.get() + tile * TileValues() + step * terms_ * kBf16StepValues;
  }

 private:
  size_t TileValues() const { return steps_ * terms_ * kBf16StepValues; }

  void PackStep(View2<const float> x, size_t tile, size_t step) const {
    HWY_ALIGN float padded[kBf16Step];
    HWY_ALIGN float split[3 * kBf16Step];
    const size_t first = step * kBf16Step;
    const size_t count = std::min(kBf16Step, inputs_ - first);
    uint16_t* out = values_.get() + tile * TileValues() + step * terms_ * kBf16StepValues;
    const size_t rows = std::min(kBf16Tile, rows_ - tile * kBf16Tile);
    if (rows < kBf16Tile) std::memset(out, 0, terms_ * kBf16StepValues * sizeof(uint16_t));
    for (size_t r = 0; r < rows; ++r) {
      std::fill(padded + count, padded + kBf16Step, 0.0f);
      std::copy_n(x.row(tile * kBf16Tile + r) + first, count, padded);
      SplitIntoTerms(padded, terms_, kBf16Step, split);
      for (size_t t = 0; t < terms_; ++t) {
        PutPairs(split + t * kBf16Step, r, out + t * kBf16StepValues);
      }
    }
  }

  // A row's pairs of one term into their places.
  static void PutPairs(const float* values, size_t row, uint16_t* out) {
    for (size_t pair = 0; pair < kBf16Step / 2; ++pair) {
      uint32_t first;
      uint32_t second;
      std::memcpy(&first, values + 2 * pair, sizeof first);
      std::memcpy(&second, values + 2 * pair + 1, sizeof second);
      const uint32_t both = (first >> 16) | second;
      std::memcpy(out + 2 * (pair * kBf16Tile + row), &both, sizeof both);
    }
  }

  size_t rows_ = 0;
  size_t inputs_ = 0;
  size_t steps_ = 0;
  size_t terms_ = 1;
  Aligned<uint16_t> values_;
};

// Some weight rows, from `first` on, of which `count` exist; up to two strips.
struct StripRows {
  size_t first;
  size_t count;
};

// Two strips' weights of some steps, copied step by step and filled up with zeros. Lines of the
// following steps are fetched meanwhile: they will be copied next.
HWY_INLINE void CopyStrips(const WeightMatrix& weight, const StripRows& rows, size_t first_step,
                           size_t steps, char* out) {
  const size_t strip_bytes = steps * kStripStepBytes;
  const size_t strips = (rows.count + kBf16Strip - 1) / kBf16Strip;
  constexpr size_t kStepBytes = kBf16Step * sizeof(uint16_t);
  const size_t from = first_step * kStepBytes;
  const size_t bytes = std::min(steps * kStepBytes, weight.cols * sizeof(uint16_t) - from);
  const bool whole = rows.count == strips * kBf16Strip && bytes == steps * kStepBytes;
  if (!whole) std::memset(out, 0, strips * strip_bytes);
  for (size_t m = 0; m < rows.count; ++m) {
    const char* at = static_cast<const char*>(weight.row(rows.first + m)) + from;
    char* to = out + m / kBf16Strip * strip_bytes + m % kBf16Strip * kStepBytes;
    for (size_t b = 0; b < bytes; b += kStepBytes) {
      hwy::Prefetch(at + b + steps * kStepBytes);
      std::memcpy(to + b / kStepBytes * kStripStepBytes, at + b, std::min(kStepBytes, bytes - b));
    }
  }
}

// y[r, n] = sums of weight row n and row r, out of the unit's order. `sums` is [strips, tiles] of
// the unit's blocks.
HWY_INLINE void StoreSums(const float* sums, size_t tiles, View2<float> y) {
  for (size_t r = 0; r < y.rows(); ++r) {
    const float* row = sums + r / kBf16Tile * kBf16Sums + r % kBf16Tile;
    float* out = y.row(r);
    for (size_t n = 0; n < y.cols(); ++n) {
      out[n] = row[n / kBf16Strip * tiles * kBf16Sums + n % kBf16Strip * kBf16Tile];
    }
  }
}

// y[r, n] = row r . weight row (first_col + n), for bf16 weights.
class Bf16Dot {
 public:
  Bf16Dot(const Bf16Unit& unit, const Bf16Rows& x, const WeightMatrix& weight)
      : unit_(unit), x_(x), weight_(weight) {}

  void Run(size_t first_col, View2<float> y) const {
    const size_t strips = (y.cols() + kBf16Strip - 1) / kBf16Strip;
    const Aligned<float> sums = AlignedArray<float>(strips * x_.tiles() * kBf16Sums);
    const size_t block = x_.tiles() <= kFewTiles ? kStepsInPlace : kStepsPerBlock;
    const Aligned<char> copy = AlignedArray<char>(2 * block * kStripStepBytes);
    unit_.begin();
    for (size_t s = 0; s < x_.steps(); s += block) {
      const size_t steps = std::min(block, x_.steps() - s);
      for (size_t strip = 0; strip < strips; strip += 2) {
        const StripRows rows{first_col + strip * kBf16Strip,
                             std::min(2 * kBf16Strip, y.cols() - strip * kBf16Strip)};
        Bf16Block work = Weights(rows, s, steps, copy.get());
        RunTiles(work, s, sums.get() + strip * x_.tiles() * kBf16Sums);
      }
    }
    unit_.end();
    StoreSums(sums.get(), x_.tiles(), y);
  }

 private:
  // The weights of a block: where they lie, or a copy when tiles will want them again and when
  // they must be filled up.
  Bf16Block Weights(const StripRows& rows, size_t first_step, size_t steps, char* copy) const {
    Bf16Block block;
    block.steps = steps;
    block.terms = x_.terms();
    block.add = first_step > 0;
    block.strips = (rows.count + kBf16Strip - 1) / kBf16Strip;
    const bool whole =
        rows.count % kBf16Strip == 0 && (first_step + steps) * kBf16Step <= x_.inputs();
    if (whole && x_.tiles() <= kFewTiles) {
      block.row_bytes = RowBytes(WeightType::kBf16, weight_.cols);
      block.step_bytes = kBf16Step * sizeof(uint16_t);
      block.ahead = kAhead;
      for (size_t i = 0; i < block.strips; ++i) {
        block.weights[i] = static_cast<const char*>(weight_.row(rows.first + i * kBf16Strip)) +
                           first_step * block.step_bytes;
      }
      return block;
    }
    CopyStrips(weight_, rows, first_step, steps, copy);
    block.row_bytes = kBf16Step * sizeof(uint16_t);
    block.step_bytes = kStripStepBytes;
    for (size_t i = 0; i < block.strips; ++i) block.weights[i] = copy + i * steps * kStripStepBytes;
    return block;
  }

  // All tiles of x, two at a time. `sums` is [strips, tiles] from the block's first strip on.
  void RunTiles(Bf16Block block, size_t first_step, float* sums) const {
    for (size_t tile = 0; tile < x_.tiles(); tile += 2) {
      block.tiles = std::min<size_t>(2, x_.tiles() - tile);
      for (size_t j = 0; j < block.tiles; ++j) {
        block.x[j] = x_.At(tile + j, first_step);
        for (size_t i = 0; i < block.strips; ++i) {
          block.sums[i][j] = sums + (i * x_.tiles() + tile + j) * kBf16Sums;
        }
      }
      unit_.multiply(block);
    }
  }

  const Bf16Unit& unit_;
  const Bf16Rows& x_;
  const WeightMatrix& weight_;
};

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard

// The inner loop of the linear layer: a few packed rows times a few weight rows, in registers.
// Compiled once per CPU level: no include guard in the usual sense.
#if defined(ASSAY_KERNELS_DOT_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_KERNELS_DOT_TILE_INL_H_
#undef ASSAY_KERNELS_DOT_TILE_INL_H_
#else
#define ASSAY_KERNELS_DOT_TILE_INL_H_
#endif

#include <algorithm>
#include <cstring>

#include "base/view.h"
#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "kernels/weights.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::ScalableTag<float>;
using Vec = hn::Vec<F32>;

// Accumulators in registers: rows of x times rows of weights. More would spill, fewer would wait
// for each other or load more than they multiply.
constexpr size_t kTileRows = HWY_TARGET <= HWY_AVX3 ? 6 : 3;
constexpr size_t kTileCols = HWY_TARGET <= HWY_AVX3 ? 4 : 3;

// Inputs are worked on in steps of two vectors: those at even places, then those at odd ones. Two
// neighbouring bf16 weights are one 32-bit lane, so widening a step takes a shift and a mask. The
// rows of x are stored in that order (PackRows), at the end filled up with zeros.
HWY_INLINE size_t StepInputs() { return 2 * hn::Lanes(F32()); }

enum class Half { kEven, kOdd };

struct Step {
  Vec even;
  Vec odd;
};

#if HWY_TARGET == HWY_SCALAR
// One lane: a step is two inputs.
HWY_INLINE Step SplitStep(Vec first, Vec second) { return {first, second}; }

HWY_INLINE Vec WidenBf16(const void* row, size_t k, Half half) {
  const F32 d;
  uint16_t bits;
  std::memcpy(&bits, static_cast<const char*>(row) + 2 * (k + (half == Half::kOdd)), sizeof bits);
  return hn::BitCast(d, hn::Set(hn::Rebind<uint32_t, F32>(), uint32_t{bits} << 16));
}

HWY_INLINE void StoreSumsOfFour(const Vec* v, float* out) {
  for (size_t i = 0; i < 4; ++i) out[i] = hn::GetLane(v[i]);
}
#else
// Two vectors of neighbouring values, sorted into even and odd places.
HWY_INLINE Step SplitStep(Vec first, Vec second) {
  const F32 d;
  return {hn::ConcatEven(d, second, first), hn::ConcatOdd(d, second, first)};
}

HWY_INLINE Vec WidenBf16(const void* row, size_t k, Half half) {
  const F32 d;
  const hn::Rebind<uint32_t, F32> d32;
  const hn::Repartition<uint8_t, F32> d8;
  // Read as bytes: a row may start at any address.
  const auto* at = static_cast<const uint8_t*>(row) + 2 * k;
  const auto pairs = hn::BitCast(d32, hn::LoadU(d8, at));
  if (half == Half::kEven) return hn::BitCast(d, hn::ShiftLeft<16>(pairs));
  return hn::BitCast(d, hn::And(pairs, hn::Set(d32, 0xFFFF0000u)));
}

// The sum of all groups of four lanes.
template <class D>
HWY_INLINE hn::Vec<hn::Full128<float> > SumOfBlocks(D d, hn::Vec<D> v) {
  if constexpr (hn::MaxLanes(d) == 4) {
    return v;
  } else {
    const hn::Half<D> half;
    return SumOfBlocks(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}

// out[i] = the sum over the lanes of v[i], for four vectors: in the same order for each.
HWY_INLINE void StoreSumsOfFour(const Vec* v, float* out) {
  const F32 d;
  const hn::Repartition<uint64_t, F32> d64;
  const auto ab = hn::Add(hn::InterleaveLower(d, v[0], v[1]), hn::InterleaveUpper(d, v[0], v[1]));
  const auto ce = hn::Add(hn::InterleaveLower(d, v[2], v[3]), hn::InterleaveUpper(d, v[2], v[3]));
  const auto ab64 = hn::BitCast(d64, ab);
  const auto ce64 = hn::BitCast(d64, ce);
  const auto lower = hn::BitCast(d, hn::InterleaveLower(d64, ab64, ce64));
  const auto upper = hn::BitCast(d, hn::InterleaveUpper(d64, ab64, ce64));
  hn::StoreU(SumOfBlocks(d, hn::Add(lower, upper)), hn::Full128<float>(), out);
}
#endif

// One half of a step of weights from `row` + k, widened exactly.
template <WeightType kType, Half kHalf>
HWY_INLINE Vec LoadHalf(const void* row, size_t k) {
  const F32 d;
  const size_t lanes = hn::Lanes(d);
  if constexpr (kType == WeightType::kBf16) {
    return WidenBf16(row, k, kHalf);
  } else {
    Step step;
    if constexpr (kType == WeightType::kF32) {
      const auto* at = static_cast<const float*>(row) + k;
      step = SplitStep(hn::LoadU(d, at), hn::LoadU(d, at + lanes));
    } else {
      static_assert(kType == WeightType::kF16);
      const hn::Rebind<hwy::float16_t, F32> d16;
      const auto* at = static_cast<const hwy::float16_t*>(row) + k;
      step = SplitStep(hn::PromoteTo(d, hn::LoadU(d16, at)),
                       hn::PromoteTo(d, hn::LoadU(d16, at + lanes)));
    }
    return kHalf == Half::kEven ? step.even : step.odd;
  }
}

// sums[r, n] += one half of a step of row r, at x + 2 r Lanes, times that of weights n.
template <WeightType kType, Half kHalf, size_t kRows, size_t kCols>
HWY_INLINE void MultiplyHalf(const float* x, const void* const* weights, size_t k, Vec* sums) {
  const F32 d;
  Vec w[kCols];
  for (size_t n = 0; n < kCols; ++n) w[n] = LoadHalf<kType, kHalf>(weights[n], k);
  for (size_t r = 0; r < kRows; ++r) {
    const auto values = hn::Load(d, x + r * StepInputs());
    for (size_t n = 0; n < kCols; ++n) {
      sums[r * kCols + n] = hn::MulAdd(values, w[n], sums[r * kCols + n]);
    }
  }
}

template <WeightType kType, size_t kRows, size_t kCols>
HWY_INLINE void MultiplyStep(const float* x, const void* const* weights, size_t k, Vec* sums) {
  const size_t lanes = hn::Lanes(F32());
  MultiplyHalf<kType, Half::kEven, kRows, kCols>(x, weights, k, sums);
  MultiplyHalf<kType, Half::kOdd, kRows, kCols>(x + lanes, weights, k, sums);
}

// The same for the last, incomplete step of a row, filled up with zeros: never reads past the row.
template <WeightType kType, size_t kRows, size_t kCols>
HWY_NOINLINE void MultiplyLastStep(const float* x, const void* const* weights, size_t k,
                                   size_t count, Vec* sums) {
  constexpr size_t kBytes = RowBytes(kType, 1);
  alignas(64) char padded[kCols][2 * HWY_MAX_BYTES] = {};
  const void* rows[kCols];
  for (size_t n = 0; n < kCols; ++n) {
    std::memcpy(padded[n], static_cast<const char*>(weights[n]) + k * kBytes, count * kBytes);
    rows[n] = padded[n];
  }
  MultiplyStep<kType, kRows, kCols>(x, rows, 0, sums);
}

// The inputs that a tile covers, and how.
struct InputRange {
  size_t first = 0;
  size_t count = 0;
  bool add = false;  // to what is there: earlier inputs
  // Bytes from a weight to the one that will be wanted next, to be fetched meanwhile; 0 when it is
  // near already.
  size_t ahead = 0;
};

// y[r, n] (+)= packed row r . weight row n, for kRows x kCols of them. `x` is a tile of PackedRows
// from the first input on. Lane l of an accumulator sums the inputs 2l, 2l + 1, 2l + 2 Lanes, ...
// in order, then the lanes are added in a fixed tree: a sum has the same bits in every tile shape.
template <WeightType kType, size_t kRows, size_t kCols>
HWY_INLINE void DotTile(const float* x, const void* const* weights, const InputRange& range,
                        View2<float> y) {
  const F32 d;
  const size_t step = StepInputs();
  Vec sums[(kRows * kCols + 3) / 4 * 4];
  for (Vec& sum : sums) sum = hn::Zero(d);
  size_t k = 0;
  for (; k + step <= range.count; k += step) {
    const size_t at = RowBytes(kType, range.first + k) + range.ahead;
    for (size_t n = 0; n < kCols; ++n) {
      hwy::Prefetch(static_cast<const char*>(weights[n]) + at);
    }
    MultiplyStep<kType, kRows, kCols>(x + k * kRows, weights, range.first + k, sums);
  }
  if (k < range.count) {
    MultiplyLastStep<kType, kRows, kCols>(x + k * kRows, weights, range.first + k, range.count - k,
                                          sums);
  }
  HWY_ALIGN float flat[(kRows * kCols + 3) / 4 * 4];
  for (size_t i = 0; i < kRows * kCols; i += 4) StoreSumsOfFour(sums + i, flat + i);
  for (size_t r = 0; r < kRows; ++r) {
    float* out = y.row(r);
    for (size_t n = 0; n < kCols; ++n) {
      out[n] = range.add ? out[n] + flat[r * kCols + n] : flat[r * kCols + n];
    }
  }
}

// A tile of `rows` rows, at most kTileRows; see DotTile.
template <WeightType kType, size_t kCols, size_t kRows = kTileRows>
HWY_INLINE void DotTileOf(size_t rows, const float* x, const void* const* weights,
                          const InputRange& range, View2<float> y) {
  if constexpr (kRows > 1) {
    if (rows < kRows) return DotTileOf<kType, kCols, kRows - 1>(rows, x, weights, range, y);
  }
  DotTile<kType, kRows, kCols>(x, weights, range, y);
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard

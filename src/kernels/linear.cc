#include "kernels/linear.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/check.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/linear.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::ScalableTag<float>;

// A task computes a block of outputs for a block of rows. Rows: their inputs should stay in the
// second-level cache while the weights of the task stream past. Columns: enough work to be worth
// claiming.
constexpr size_t kRowsPerBlock = 64;
constexpr size_t kColsPerBlock = 32;

// Accumulators in registers: x rows times weight rows. More would spill, fewer would wait for
// memory.
constexpr size_t kTileRows = HWY_TARGET <= HWY_AVX3 ? 6 : 4;
constexpr size_t kTileCols = HWY_TARGET <= HWY_AVX3 ? 4 : 2;

// Loads Lanes weights and widens them exactly.
template <WeightType kType>
HWY_INLINE hn::Vec<F32> LoadWeights(const void* row, size_t k) {
  const F32 d;
  if constexpr (kType == WeightType::kF32) {
    return hn::LoadU(d, static_cast<const float*>(row) + k);
  } else if constexpr (kType == WeightType::kBf16) {
    const hn::Rebind<uint16_t, F32> d16;
    const hn::Rebind<uint32_t, F32> d32;
    const auto bits = hn::LoadU(d16, static_cast<const uint16_t*>(row) + k);
    return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(d32, bits)));
  } else {
    static_assert(kType == WeightType::kF16);
    const hn::Rebind<hwy::float16_t, F32> d16;
    return hn::PromoteTo(d, hn::LoadU(d16, static_cast<const hwy::float16_t*>(row) + k));
  }
}

// The last, incomplete step of a row, padded with zeros: never reads past the row.
template <WeightType kType>
HWY_INLINE hn::Vec<F32> LoadWeightsTail(const void* row, size_t k, size_t count) {
  constexpr size_t kBytes = RowBytes(kType, 1);
  alignas(64) char padded[HWY_MAX_BYTES] = {};
  std::memcpy(padded, static_cast<const char*>(row) + k * kBytes, count * kBytes);
  return LoadWeights<kType>(padded, 0);
}

HWY_INLINE hn::Vec<F32> LoadTail(const float* row, size_t k, size_t count) {
  const F32 d;
  HWY_ALIGN float padded[hn::MaxLanes(d)] = {};
  std::memcpy(padded, row + k, count * sizeof(float));
  return hn::Load(d, padded);
}

// out[r, n] = x row r . weight row n, for kRows x kCols of them. Vectors run along the inputs: lane
// l sums the inputs l, l + Lanes, ... in order, and the lanes are added in a fixed tree. So a sum
// has the same bits in every tile shape.
template <WeightType kType, size_t kRows, size_t kCols>
HWY_INLINE void DotTile(View2<const float> x, const WeightMatrix& weight, size_t first_col,
                        View2<float> out) {
  const F32 d;
  const size_t lanes = hn::Lanes(d);
  const size_t inputs = weight.cols;
  const float* rows[kRows];
  const void* cols[kCols];
  hn::Vec<F32> sums[kRows][kCols];
  for (size_t r = 0; r < kRows; ++r) rows[r] = x.row(r);
  for (size_t n = 0; n < kCols; ++n) cols[n] = weight.row(first_col + n);
  for (size_t r = 0; r < kRows; ++r) {
    for (size_t n = 0; n < kCols; ++n) sums[r][n] = hn::Zero(d);
  }
  size_t k = 0;
  for (; k + lanes <= inputs; k += lanes) {
    hn::Vec<F32> w[kCols];
    for (size_t n = 0; n < kCols; ++n) w[n] = LoadWeights<kType>(cols[n], k);
    for (size_t r = 0; r < kRows; ++r) {
      const auto v = hn::LoadU(d, rows[r] + k);
      for (size_t n = 0; n < kCols; ++n) sums[r][n] = hn::MulAdd(v, w[n], sums[r][n]);
    }
  }
  if (k < inputs) {
    hn::Vec<F32> w[kCols];
    for (size_t n = 0; n < kCols; ++n) w[n] = LoadWeightsTail<kType>(cols[n], k, inputs - k);
    for (size_t r = 0; r < kRows; ++r) {
      const auto v = LoadTail(rows[r], k, inputs - k);
      for (size_t n = 0; n < kCols; ++n) sums[r][n] = hn::MulAdd(v, w[n], sums[r][n]);
    }
  }
  for (size_t r = 0; r < kRows; ++r) {
    for (size_t n = 0; n < kCols; ++n) out[r][n] = hn::GetLane(hn::SumOfLanes(d, sums[r][n]));
  }
}

// The rows and columns that do not fill a tile, one at a time.
template <WeightType kType>
void DotBlockOf(View2<const float> x, const WeightMatrix& weight, size_t first_col,
                View2<float> out) {
  const size_t rows = x.rows();
  const size_t cols = out.cols();
  size_t n = 0;
  for (; n + kTileCols <= cols; n += kTileCols) {
    const View2<float> strip = out.Cols(n, kTileCols);
    size_t r = 0;
    for (; r + kTileRows <= rows; r += kTileRows) {
      DotTile<kType, kTileRows, kTileCols>(x.Rows(r, kTileRows), weight, first_col + n,
                                           strip.Rows(r, kTileRows));
    }
    for (; r + 2 <= rows; r += 2) {
      DotTile<kType, 2, kTileCols>(x.Rows(r, 2), weight, first_col + n, strip.Rows(r, 2));
    }
    if (r < rows)
      DotTile<kType, 1, kTileCols>(x.Rows(r, 1), weight, first_col + n, strip.Rows(r, 1));
  }
  for (; n < cols; ++n) {
    for (size_t r = 0; r < rows; ++r) {
      DotTile<kType, 1, 1>(x.Rows(r, 1), weight, first_col + n, out.Cols(n, 1).Rows(r, 1));
    }
  }
}

// out[r, n] = x row r . weight row (first_col + n).
void DotBlock(View2<const float> x, const WeightMatrix& weight, size_t first_col,
              View2<float> out) {
  switch (weight.type) {
    case WeightType::kF32: return DotBlockOf<WeightType::kF32>(x, weight, first_col, out);
    case WeightType::kBf16: return DotBlockOf<WeightType::kBf16>(x, weight, first_col, out);
    case WeightType::kF16: return DotBlockOf<WeightType::kF16>(x, weight, first_col, out);
    case WeightType::kInt8:
    case WeightType::kInt4: break;
  }
  ASSAY_CHECK(false && "no kernel for this weight type");
}

struct Block {
  float values[kRowsPerBlock * kColsPerBlock];
};

// y = W x + bias + low rank, for one block of rows and columns.
void ComputeBlock(View2<const float> x, View2<const float> inner, const LinearPart& part,
                  size_t first_col, View2<float> y) {
  DotBlock(x, part.weight, first_col, y);
  if (!part.bias.empty()) {
    for (size_t r = 0; r < y.rows(); ++r) {
      for (size_t n = 0; n < y.cols(); ++n) y[r][n] += part.bias[first_col + n];
    }
  }
  if (part.low_rank) {
    Block side;
    const View2<float> product(side.values, y.rows(), y.cols());
    DotBlock(inner, part.low_rank->b, first_col, product);
    for (size_t r = 0; r < y.rows(); ++r) {
      for (size_t n = 0; n < y.cols(); ++n) y[r][n] += part.low_rank->scale * product[r][n];
    }
  }
}

void AddBlock(View2<const float> y, View2<float> out) {
  for (size_t r = 0; r < y.rows(); ++r) {
    for (size_t n = 0; n < y.cols(); ++n) out[r][n] += y[r][n];
  }
}

void StoreBlock(View2<const float> y, View2<float> out) {
  for (size_t r = 0; r < y.rows(); ++r) std::copy(y[r].begin(), y[r].end(), out[r].begin());
}

// out = silu(gate) * up, whole vectors over the block's own padding.
void SiluProductBlock(const Block& gate, const Block& up, size_t cols, View2<float> out) {
  const F32 d;
  Block product;
  for (size_t i = 0; i < out.rows() * cols; i += hn::Lanes(d)) {
    const auto g = hn::LoadU(d, gate.values + i);
    const auto y = hn::Mul(Silu(d, g), hn::LoadU(d, up.values + i));
    hn::StoreU(y, d, product.values + i);
  }
  StoreBlock(View2<const float>(product.values, out.rows(), cols), out);
}

struct Task {
  size_t part;
  size_t first_col;
};

void RunTask(View2<const float> x, std::span<const View2<const float>> inners,
             std::span<const LinearPart> parts, Epilogue epilogue, const Task& task) {
  const LinearPart& part = parts[task.part];
  const size_t cols = std::min(kColsPerBlock, part.weight.rows - task.first_col);
  for (size_t r = 0; r < x.rows(); r += kRowsPerBlock) {
    const size_t rows = std::min(kRowsPerBlock, x.rows() - r);
    const auto block_of = [&](size_t p, Block& block) {
      const View2<const float> inner =
          inners[p].empty() ? View2<const float>() : inners[p].Rows(r, rows);
      ComputeBlock(x.Rows(r, rows), inner, parts[p], task.first_col,
                   View2<float>(block.values, rows, cols));
    };
    Block first;
    block_of(task.part, first);
    const View2<float> out = part.out.Rows(r, rows).Cols(task.first_col, cols);
    if (epilogue == Epilogue::kSiluProduct) {
      Block second;
      block_of(1, second);
      SiluProductBlock(first, second, cols, out);
    } else if (epilogue == Epilogue::kAdd) {
      AddBlock(View2<const float>(first.values, rows, cols), out);
    } else {
      StoreBlock(View2<const float>(first.values, rows, cols), out);
    }
  }
}

void RunTasks(Threads& threads, View2<const float> x, std::span<const View2<const float>> inners,
              std::span<const LinearPart> parts, Epilogue epilogue) {
  std::vector<Task> tasks;
  const size_t written = epilogue == Epilogue::kSiluProduct ? 1 : parts.size();
  for (size_t p = 0; p < written; ++p) {
    for (size_t n = 0; n < parts[p].weight.rows; n += kColsPerBlock) tasks.push_back({p, n});
  }
  threads.Run(tasks.size(), [&](size_t t) { RunTask(x, inners, parts, epilogue, tasks[t]); });
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(RunTasks);

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
  // The inner products a x of the adapters, one small matrix a part.
  std::vector<std::vector<float>> storage(parts.size());
  std::vector<View2<const float>> inners(parts.size());
  for (size_t p = 0; p < parts.size(); ++p) {
    if (!parts[p].low_rank) continue;
    const WeightMatrix& a = parts[p].low_rank->a;
    storage[p].resize(x.rows() * a.rows);
    const LinearPart inner{a, View2<float>(storage[p].data(), x.rows(), a.rows)};
    const View2<const float> none;
    HWY_DYNAMIC_DISPATCH(RunTasks)
    (threads, x, std::span(&none, 1), std::span(&inner, 1), Epilogue::kStore);
    inners[p] = inner.out;
  }
  HWY_DYNAMIC_DISPATCH(RunTasks)(threads, x, inners, parts, epilogue);
}

}  // namespace assay::kernels
#endif  // HWY_ONCE

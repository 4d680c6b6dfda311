#include "kernels/linear.h"

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "base/sizes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/linear.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/bf16_rows-inl.h"
#include "kernels/f32_rows-inl.h"
#include "kernels/math-inl.h"

// The rows of x are packed once a round. A task computes some columns for all rows of the round.

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t kF32ColsPerTask = 48;
// A bf16 unit's task reads all rows' terms once: the more columns the better, up to what its sums
// leave of the second-level cache.
constexpr size_t kMostBf16ColsPerTask = 256;
constexpr size_t kTasksPerThread = 4;
// Rows that go through all weights before the next ones: as many as stay in the third-level cache,
// which every task reads them from. Few rows more than that would cost less than reading the
// weights again.
constexpr size_t kMostRowBytes = size_t{6} << 20;
constexpr size_t kFewestRows = 96;
constexpr size_t kMostBf16Rows = 512;

bool OnUnit(const Compute& compute, const WeightMatrix& weight) {
  return compute.form != ComputeForm::kF32 && weight.type == WeightType::kBf16;
}

size_t MostRows(size_t inputs, bool bf16) {
  if (bf16) return kMostBf16Rows;
  return std::max(kFewestRows, kMostRowBytes / (inputs * sizeof(float)));
}

size_t ColsPerTask(const Compute& compute, const WeightMatrix& weight, size_t threads) {
  if (!OnUnit(compute, weight)) return kF32ColsPerTask;
  const size_t share = RoundUp(weight.rows / (kTasksPerThread * threads), 2 * kBf16Strip);
  return std::clamp(share, 2 * kBf16Strip, kMostBf16ColsPerTask);
}

// The rows of a round, in the orders that its parts read them.
struct PackedRows {
  F32Rows f32;
  Bf16Rows bf16;
};

// y[r, n] = row r . weight row (first_col + n).
void DotBlock(const Compute& compute, const PackedRows& x, const WeightMatrix& weight,
              size_t first_col, View2<float> y) {
  if (OnUnit(compute, weight)) {
    Bf16Dot(*compute.unit, x.bf16, weight).Run(first_col, y);
  } else {
    DotRows(x.f32, weight, first_col, y);
  }
}

// Results of a task on their way to the output, [rows, cols], rows filled up to whole vectors.
class Block {
 public:
  Block(size_t rows, size_t cols)
      : stride_(RoundUp(cols, hn::MaxLanes(F32()))), values_(AlignedArray<float>(rows * stride_)) {}
  View2<float> View(size_t rows, size_t cols) const { return {values_.get(), rows, cols, stride_}; }

 private:
  size_t stride_;
  Aligned<float> values_;
};

// What every task of a round shares.
struct Round {
  const Compute& compute;
  const PackedRows& x;
  std::span<const F32Rows> inners;  // of each part: rows times the adapter's a, or empty
  std::span<const LinearPart> parts;
  Epilogue epilogue;
  size_t first_row;
  size_t rows;
};

// y = W x + bias + low rank, for some columns. `side` is working memory.
void ComputeBlock(const Round& round, size_t p, size_t first_col, const Block& side,
                  View2<float> y) {
  const LinearPart& part = round.parts[p];
  DotBlock(round.compute, round.x, part.weight, first_col, y);
  if (!part.bias.empty()) {
    for (size_t r = 0; r < y.rows(); ++r) {
      for (size_t n = 0; n < y.cols(); ++n) y[r][n] += part.bias[first_col + n];
    }
  }
  if (part.low_rank) {
    const View2<float> product = side.View(y.rows(), y.cols());
    DotRows(round.inners[p], part.low_rank->b, first_col, product);
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
  size_t cols;
};

void RunTask(const Round& round, const Task& task) {
  const LinearPart& part = round.parts[task.part];
  const bool silu = round.epilogue == Epilogue::kSiluProduct;
  const bool low_rank = part.low_rank || (silu && round.parts[1].low_rank);
  const Block first(round.rows, task.cols);
  const Block second(silu ? round.rows : 0, task.cols);
  const Block side(low_rank ? round.rows : 0, task.cols);
  const View2<float> y = first.View(round.rows, task.cols);
  ComputeBlock(round, task.part, task.first_col, side, y);
  const View2<float> out =
      part.out.Rows(round.first_row, round.rows).Cols(task.first_col, task.cols);
  if (silu) {
    const View2<float> up = second.View(round.rows, task.cols);
    ComputeBlock(round, 1, task.first_col, side, up);
    SiluProductBlock(y, up, out);
  } else if (round.epilogue == Epilogue::kAdd) {
    AddBlock(y, out);
  } else {
    StoreBlock(y, out);
  }
}

void RunTasks(Threads& threads, const Round& round) {
  std::vector<Task> tasks;
  const size_t written = round.epilogue == Epilogue::kSiluProduct ? 1 : round.parts.size();
  for (size_t p = 0; p < written; ++p) {
    const WeightMatrix& weight = round.parts[p].weight;
    const size_t cols = ColsPerTask(round.compute, weight, threads.count());
    for (size_t n = 0; n < weight.rows; n += cols) {
      tasks.push_back({p, n, std::min(cols, weight.rows - n)});
    }
  }
  threads.Run(tasks.size(), [&](size_t t) { RunTask(round, tasks[t]); });
}

void RunRound(Threads& threads, View2<const float> x, size_t first_row,
              std::span<const LinearPart> parts, Epilogue epilogue, const Compute& compute) {
  const auto on_unit = [&](const LinearPart& part) { return OnUnit(compute, part.weight); };
  const auto in_f32 = [&](const LinearPart& part) { return !on_unit(part) || part.low_rank; };
  PackedRows packed;
  if (std::ranges::any_of(parts, on_unit)) {
    packed.bf16 = Bf16Rows(threads, x, TermsOf(compute.form));
  }
  if (std::ranges::any_of(parts, in_f32)) packed.f32 = F32Rows(threads, x);
  // The inner products a x of the adapters, one small matrix a part.
  constexpr Compute kPlain;
  std::vector<F32Rows> inners(parts.size());
  for (size_t p = 0; p < parts.size(); ++p) {
    if (!parts[p].low_rank) continue;
    const WeightMatrix& a = parts[p].low_rank->a;
    std::vector<float> storage(x.rows() * a.rows);
    const LinearPart inner{a, View2<float>(storage.data(), x.rows(), a.rows)};
    RunTasks(threads, {kPlain, packed, {}, std::span(&inner, 1), Epilogue::kStore, 0, x.rows()});
    inners[p] = F32Rows(threads, inner.out);
  }
  RunTasks(threads, {compute, packed, inners, parts, epilogue, first_row, x.rows()});
}

void RunLinear(Threads& threads, View2<const float> x, std::span<const LinearPart> parts,
               Epilogue epilogue, const Compute& compute) {
  const bool bf16 = std::ranges::all_of(
      parts, [&](const LinearPart& part) { return OnUnit(compute, part.weight); });
  const size_t most = MostRows(x.cols(), bf16);
  const size_t rounds = (x.rows() + most - 1) / most;
  for (size_t i = 0; i < rounds; ++i) {
    const size_t first = x.rows() * i / rounds;
    const size_t end = x.rows() * (i + 1) / rounds;
    RunRound(threads, x.Rows(first, end - first), first, parts, epilogue, compute);
  }
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(RunLinear);

namespace {

// Rows are filled up with less than this many values.
constexpr size_t kMostPadding = 32;

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

size_t LinearRowBytes(size_t inputs, const Compute& compute) {
  const size_t most = std::max(sizeof(float), TermsOf(compute.form) * sizeof(uint16_t));
  return SaturatingProduct(SaturatingSum(inputs, kMostPadding), most);
}

void Linear(Threads& threads, View2<const float> x, std::span<const LinearPart> parts,
            Epilogue epilogue, const Compute& compute) {
  CheckShapes(x, parts, epilogue);
  if (x.rows() == 0) return;
  HWY_DYNAMIC_DISPATCH(RunLinear)(threads, x, parts, epilogue, compute);
}

}  // namespace assay::kernels
#endif  // HWY_ONCE

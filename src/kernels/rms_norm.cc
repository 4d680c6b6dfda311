#include "kernels/rms_norm.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rms_norm.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::ScalableTag<float>;

// Lane l adds the squares l, l + Lanes, ...; the last, incomplete step is added one by one.
float SumOfSquares(View1<const float> x) {
  const F32 d;
  const size_t lanes = hn::Lanes(d);
  auto sums = hn::Zero(d);
  size_t c = 0;
  for (; c + lanes <= x.size(); c += lanes) {
    const auto v = hn::LoadU(d, x.data() + c);
    sums = hn::MulAdd(v, v, sums);
  }
  float sum = hn::GetLane(hn::SumOfLanes(d, sums));
  for (; c < x.size(); ++c) sum += x[c] * x[c];
  return sum;
}

void NormRow(View1<const float> x, View1<const float> gain, float eps, float gain_offset,
             View1<float> out) {
  const F32 d;
  const size_t lanes = hn::Lanes(d);
  const float mean = SumOfSquares(x) / static_cast<float>(x.size());
  const float scale = 1.0f / std::sqrt(mean + eps);
  const auto scales = hn::Set(d, scale);
  const auto offsets = hn::Set(d, gain_offset);
  size_t c = 0;
  for (; c + lanes <= x.size(); c += lanes) {
    const auto normed = hn::Mul(hn::LoadU(d, x.data() + c), scales);
    const auto factor = hn::Add(hn::LoadU(d, gain.data() + c), offsets);
    hn::StoreU(hn::Mul(normed, factor), d, out.data() + c);
  }
  for (; c < x.size(); ++c) out[c] = x[c] * scale * (gain[c] + gain_offset);
}

void NormRows(View2<const float> x, View1<const float> gain, float eps, float gain_offset,
              View2<float> out) {
  for (size_t r = 0; r < x.rows(); ++r) NormRow(x[r], gain, eps, gain_offset, out[r]);
}

void GatedNormRows(View2<float> x, View1<const float> gain, float eps, View2<const float> gate) {
  const F32 d;
  const size_t lanes = hn::Lanes(d);
  for (size_t r = 0; r < x.rows(); ++r) {
    NormRow(x[r], gain, eps, 0, x[r]);
    for (size_t c = 0; c < x.cols(); c += lanes) {
      const size_t count = std::min(lanes, x.cols() - c);
      const auto factor = Silu(d, LoadFirst(d, gate.row(r) + c, count));
      StoreFirst(hn::Mul(LoadFirst(d, x.row(r) + c, count), factor), d, x.row(r) + c, count);
    }
  }
}

void L2NormHeads(size_t head_dim, float eps, float scale, View2<float> x) {
  const F32 d;
  const size_t lanes = hn::Lanes(d);
  for (size_t r = 0; r < x.rows(); ++r) {
    for (size_t head = 0; head < x.cols(); head += head_dim) {
      float* values = x.row(r) + head;
      const float factor = scale / std::sqrt(SumOfSquares({values, head_dim}) + eps);
      for (size_t c = 0; c < head_dim; c += lanes) {
        const size_t count = std::min(lanes, head_dim - c);
        const auto v = LoadFirst(d, values + c, count);
        StoreFirst(hn::Mul(v, hn::Set(d, factor)), d, values + c, count);
      }
    }
  }
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(NormRows);
HWY_EXPORT(GatedNormRows);
HWY_EXPORT(L2NormHeads);

namespace {

// run(first, count) for all rows, in tasks of some 16 thousand values: less is not worth handing to
// another thread.
template <typename Run>
void InBlocks(Threads& threads, size_t rows, size_t cols, const Run& run) {
  const size_t rows_per_task = std::max<size_t>(1, 16384 / cols);
  threads.Run((rows + rows_per_task - 1) / rows_per_task, [&](size_t task) {
    const size_t first = task * rows_per_task;
    run(first, std::min(rows_per_task, rows - first));
  });
}

}  // namespace

void RmsNorm(Threads& threads, View2<const float> x, View1<const float> gain, float eps,
             float gain_offset, View2<float> out) {
  ASSAY_CHECK(gain.size() == x.cols() && out.rows() == x.rows() && out.cols() == x.cols());
  if (x.empty()) return;
  InBlocks(threads, x.rows(), x.cols(), [&](size_t first, size_t count) {
    HWY_DYNAMIC_DISPATCH(NormRows)
    (x.Rows(first, count), gain, eps, gain_offset, out.Rows(first, count));
  });
}

void GatedNorm(Threads& threads, View2<float> x, View1<const float> gain, float eps,
               View2<const float> gate) {
  ASSAY_CHECK(gain.size() == x.cols() && gate.rows() == x.rows() && gate.cols() == x.cols());
  if (x.empty()) return;
  InBlocks(threads, x.rows(), x.cols(), [&](size_t first, size_t count) {
    HWY_DYNAMIC_DISPATCH(GatedNormRows)
    (x.Rows(first, count), gain, eps, gate.Rows(first, count));
  });
}

void L2Norm(Threads& threads, size_t head_dim, float eps, float scale, View2<float> x) {
  ASSAY_CHECK(head_dim > 0 && x.cols() % head_dim == 0);
  if (x.empty()) return;
  InBlocks(threads, x.rows(), x.cols(), [&](size_t first, size_t count) {
    HWY_DYNAMIC_DISPATCH(L2NormHeads)(head_dim, eps, scale, x.Rows(first, count));
  });
}

}  // namespace assay::kernels
#endif  // HWY_ONCE

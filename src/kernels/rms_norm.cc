#include "kernels/rms_norm.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rms_norm.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

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

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(NormRows);

void RmsNorm(Threads& threads, View2<const float> x, View1<const float> gain, float eps,
             float gain_offset, View2<float> out) {
  ASSAY_CHECK(gain.size() == x.cols() && out.rows() == x.rows() && out.cols() == x.cols());
  if (x.empty()) return;
  // Some 16 thousand values a task: less is not worth handing to another thread.
  const size_t rows_per_task = std::max<size_t>(1, 16384 / x.cols());
  threads.Run((x.rows() + rows_per_task - 1) / rows_per_task, [&](size_t task) {
    const size_t first = task * rows_per_task;
    const size_t count = std::min(rows_per_task, x.rows() - first);
    HWY_DYNAMIC_DISPATCH(NormRows)
    (x.Rows(first, count), gain, eps, gain_offset, out.Rows(first, count));
  });
}

}  // namespace assay::kernels
#endif  // HWY_ONCE

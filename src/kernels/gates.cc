#include "kernels/gates.h"

#include <algorithm>

#include "base/check.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gates.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::ScalableTag<float>;

void SigmoidRows(View2<const float> gate, View2<float> x) {
  const F32 d;
  const size_t lanes = hn::Lanes(d);
  for (size_t r = 0; r < x.rows(); ++r) {
    for (size_t c = 0; c < x.cols(); c += lanes) {
      const size_t count = std::min(lanes, x.cols() - c);
      const auto factor = Sigmoid(d, LoadFirst(d, gate.row(r) + c, count));
      StoreFirst(hn::Mul(LoadFirst(d, x.row(r) + c, count), factor), d, x.row(r) + c, count);
    }
  }
}

void GateRows(View1<const float> rates, View1<const float> offsets, View2<float> b,
              View2<float> a) {
  const F32 d;
  const size_t lanes = hn::Lanes(d);
  for (size_t r = 0; r < a.rows(); ++r) {
    for (size_t c = 0; c < a.cols(); c += lanes) {
      const size_t count = std::min(lanes, a.cols() - c);
      StoreFirst(Sigmoid(d, LoadFirst(d, b.row(r) + c, count)), d, b.row(r) + c, count);
      const auto sum =
          hn::Add(LoadFirst(d, a.row(r) + c, count), LoadFirst(d, offsets.data() + c, count));
      const auto g = hn::Mul(LoadFirst(d, rates.data() + c, count), Softplus(d, sum));
      StoreFirst(g, d, a.row(r) + c, count);
    }
  }
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(SigmoidRows);
HWY_EXPORT(GateRows);

namespace {

// Exponentials a task; less is not worth handing to another thread.
constexpr size_t kValuesPerTask = 8192;

}  // namespace

void SigmoidProduct(Threads& threads, View2<const float> gate, View2<float> x) {
  ASSAY_CHECK(gate.rows() == x.rows() && gate.cols() == x.cols());
  if (x.empty()) return;
  const size_t per_task = std::max<size_t>(1, kValuesPerTask / x.cols());
  threads.Run((x.rows() + per_task - 1) / per_task, [&](size_t task) {
    const size_t first = task * per_task;
    const size_t count = std::min(per_task, x.rows() - first);
    HWY_DYNAMIC_DISPATCH(SigmoidRows)(gate.Rows(first, count), x.Rows(first, count));
  });
}

void DeltaGates(Threads& threads, View1<const float> rates, View1<const float> offsets,
                View2<float> b, View2<float> a) {
  ASSAY_CHECK(rates.size() == a.cols() && offsets.size() == a.cols());
  ASSAY_CHECK(b.rows() == a.rows() && b.cols() == a.cols());
  if (a.empty()) return;
  const size_t per_task = std::max<size_t>(1, kValuesPerTask / (2 * a.cols()));
  threads.Run((a.rows() + per_task - 1) / per_task, [&](size_t task) {
    const size_t first = task * per_task;
    const size_t count = std::min(per_task, a.rows() - first);
    HWY_DYNAMIC_DISPATCH(GateRows)(rates, offsets, b.Rows(first, count), a.Rows(first, count));
  });
}

}  // namespace assay::kernels
#endif  // HWY_ONCE

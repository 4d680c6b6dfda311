// Elementwise functions for the vector code. A value's result does not depend on its lane.
// Compiled once per CPU level: no include guard in the usual sense.
#if defined(ASSAY_KERNELS_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_KERNELS_MATH_INL_H_
#undef ASSAY_KERNELS_MATH_INL_H_
#else
#define ASSAY_KERNELS_MATH_INL_H_
#endif

#include <algorithm>

#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {

// e^x for x up to 104, past which fp32 has infinity anyway. Not-a-number stays one: Highway's Exp
// would give zero, and would first turn it into an integer, which has no value for it.
template <class D, class V>
HWY_INLINE V Exponential(D d, V x) {
  namespace hn = hwy::HWY_NAMESPACE;
  // Everything below -104 is zero. Max takes its second operand where the first is not-a-number.
  const V e = hn::Exp(d, hn::Max(x, hn::Set(d, -105.0f)));
  return hn::IfThenElse(hn::IsNaN(x), x, e);
}

// a / (1 + exp(-a)), as torch computes silu in fp32. Not-a-number stays one through the numerator.
template <class D, class V>
HWY_INLINE V Silu(D d, V a) {
  namespace hn = hwy::HWY_NAMESPACE;
  const V one = hn::Set(d, 1.0f);
  const V exponent = hn::Min(hn::Neg(a), hn::Set(d, 104.0f));
  return hn::Div(a, hn::Add(one, Exponential(d, exponent)));
}

// 1 / (1 + exp(-a)). Not-a-number stays one.
template <class D, class V>
HWY_INLINE V Sigmoid(D d, V a) {
  namespace hn = hwy::HWY_NAMESPACE;
  const V one = hn::Set(d, 1.0f);
  const V exponent = hn::Min(hn::Neg(a), hn::Set(d, 104.0f));
  const V y = hn::Div(one, hn::Add(one, Exponential(d, exponent)));
  return hn::IfThenElse(hn::IsNaN(a), a, y);
}

// log(1 + exp(a)), and a itself above 20, as torch has it. Not-a-number stays one.
template <class D, class V>
HWY_INLINE V Softplus(D d, V a) {
  namespace hn = hwy::HWY_NAMESPACE;
  const V limit = hn::Set(d, 20.0f);
  const V y = hn::Log1p(d, Exponential(d, hn::Min(a, limit)));
  // The comparison is false for what is not a number.
  return hn::IfThenElse(hn::Le(a, limit), y, a);
}

// The first `count` lanes from memory, zeros behind them; never reads further.
template <class D>
HWY_INLINE hwy::HWY_NAMESPACE::Vec<D> LoadFirst(D d, const float* from, size_t count) {
  namespace hn = hwy::HWY_NAMESPACE;
  if (count >= hn::Lanes(d)) return hn::LoadU(d, from);
  HWY_ALIGN float padded[hn::MaxLanes(d)] = {};
  std::copy_n(from, count, padded);
  return hn::Load(d, padded);
}

// Writes the first `count` lanes.
template <class D, class V>
HWY_INLINE void StoreFirst(V v, D d, float* to, size_t count) {
  namespace hn = hwy::HWY_NAMESPACE;
  if (count >= hn::Lanes(d)) return hn::StoreU(v, d, to);
  HWY_ALIGN float padded[hn::MaxLanes(d)];
  hn::Store(v, d, padded);
  std::copy_n(padded, count, to);
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard

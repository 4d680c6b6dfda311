// Elementwise functions for the vector code. A value's result does not depend on its lane.
// Compiled once per CPU level: no include guard in the usual sense.
#if defined(ASSAY_KERNELS_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_KERNELS_MATH_INL_H_
#undef ASSAY_KERNELS_MATH_INL_H_
#else
#define ASSAY_KERNELS_MATH_INL_H_
#endif

#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {

// a / (1 + exp(-a)), as torch computes silu in fp32. Highway's Exp is good up to 104, past which
// fp32 has infinity anyway; the operand order of Min keeps not-a-number.
template <class D, class V>
HWY_INLINE V Silu(D d, V a) {
  namespace hn = hwy::HWY_NAMESPACE;
  const V one = hn::Set(d, 1.0f);
  const V exponent = hn::Min(hn::Set(d, 104.0f), hn::Neg(a));
  return hn::Div(a, hn::Add(one, hn::Exp(d, exponent)));
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard

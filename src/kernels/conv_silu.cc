#include "kernels/conv_silu.h"

#include <algorithm>
#include <vector>

#include "base/check.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/conv_silu.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::ScalableTag<float>;

// One row: inputs[i] is the row that tap i reads.
void FilterRow(View2<const float> taps, const float* const* inputs, float* out) {
  const F32 d;
  const size_t lanes = hn::Lanes(d);
  for (size_t c = 0; c < taps.cols(); c += lanes) {
    const size_t count = std::min(lanes, taps.cols() - c);
    auto sum = hn::Zero(d);
    for (size_t i = 0; i < taps.rows(); ++i) {
      sum =
          hn::MulAdd(LoadFirst(d, taps.row(i) + c, count), LoadFirst(d, inputs[i] + c, count), sum);
    }
    StoreFirst(Silu(d, sum), d, out + c, count);
  }
}

// Some channels of one part.
void FilterPart(View2<const float> taps, const ConvSiluPart& part) {
  const View2<float> columns = part.columns;
  // Row t counted from the oldest carried column.
  const auto row = [&](size_t t) -> const float* {
    return t < columns.rows() ? columns.row(t) : part.x.row(t - columns.rows());
  };
  std::vector<const float*> inputs(taps.rows());
  for (size_t t = 0; t < part.out.rows(); ++t) {
    for (size_t i = 0; i < inputs.size(); ++i) inputs[i] = row(t + i);
    FilterRow(taps, inputs.data(), part.out.row(t));
  }
  // Oldest first, so a column is read before it is overwritten.
  for (size_t i = 0; i < columns.rows(); ++i)
    std::copy_n(row(part.out.rows() + i), columns.cols(), columns.row(i));
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(FilterPart);

namespace {

constexpr size_t kChannelsPerTask = 256;

}  // namespace

void ConvSilu(Threads& threads, View2<const float> taps, std::span<const ConvSiluPart> parts) {
  const size_t channels = taps.cols();
  for (const ConvSiluPart& part : parts) {
    ASSAY_CHECK(part.x.cols() == channels && part.out.cols() == channels);
    ASSAY_CHECK(part.out.rows() == part.x.rows());
    ASSAY_CHECK(part.columns.cols() == channels && part.columns.rows() + 1 == taps.rows());
  }
  const size_t blocks = (channels + kChannelsPerTask - 1) / kChannelsPerTask;
  threads.Run(parts.size() * blocks, [&](size_t task) {
    const ConvSiluPart& part = parts[task / blocks];
    if (part.x.rows() == 0) return;  // there may be no memory behind the views
    const size_t first = task % blocks * kChannelsPerTask;
    const size_t count = std::min(kChannelsPerTask, channels - first);
    HWY_DYNAMIC_DISPATCH(FilterPart)
    (taps.Cols(first, count),
     {part.x.Cols(first, count), part.columns.Cols(first, count), part.out.Cols(first, count)});
  });
}

}  // namespace assay::kernels
#endif  // HWY_ONCE

// The causal depthwise convolution of a delta-rule layer, with silu behind it (spec kev 2.5).
#pragma once

#include <span>

#include "base/threads.h"
#include "base/view.h"

namespace assay::kernels {

// One sequence's part of a pass. `x` and `out` are [rows, channels] and do not overlap. `columns`
// is [taps - 1, channels], oldest first: the last inputs before the first row, zero at a row's
// start; on return, the last ones of these rows.
struct ConvSiluPart {
  View2<const float> x;
  View2<float> columns;
  View2<float> out;
};

// out[t] = silu(w[0] x[t - taps + 1] + ... + w[taps - 1] x[t]), products added in that order.
// `taps` is [taps, channels]. A value depends on its own channel and sequence only, and splitting a
// sequence changes no bit.
void ConvSilu(Threads& threads, View2<const float> taps, std::span<const ConvSiluPart> parts);

// The same from the definition, for tests.
void ConvSiluRef(View2<const float> taps, const ConvSiluPart& part);

}  // namespace assay::kernels

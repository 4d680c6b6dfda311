// The gated short convolution between the two projections of an LFM2 conv layer (spec d1 2.2).
#pragma once

#include "base/threads.h"
#include "base/view.h"

namespace assay::kernels {

// One sequence's part of a pass. `bcx` is [rows, 3 * channels]: B, C, X side by side, as in_proj
// gives them. `columns` is [taps - 1, channels], oldest first: the last columns of B * X before the
// first row, zero at a row's start; on return, the last ones of these rows. `out` is [rows,
// channels].
struct ShortConvPart {
  View2<const float> bcx;
  View2<float> columns;
  View2<float> out;
};

// u = B * X; out[t] = C[t] * (w[0] u[t - taps + 1] + ... + w[taps - 1] u[t]), products added in
// that order. `taps` is [taps, channels]. A value depends on its own channel and sequence only, and
// splitting a sequence changes no bit.
void ShortConv(Threads& threads, View2<const float> taps, std::span<const ShortConvPart> parts);

// The same from the definition, for tests: `u` over the whole sequence, columns in front.
void ShortConvRef(View2<const float> taps, const ShortConvPart& part);

}  // namespace assay::kernels

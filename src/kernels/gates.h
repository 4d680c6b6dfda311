// The gates of a Qwen3.5 layer: elementwise, fp32 (spec kev 2.3, 2.5).
#pragma once

#include "base/threads.h"
#include "base/view.h"

namespace assay::kernels {

// x[r, c] *= sigmoid(gate[r, c]). Both are [rows, cols].
void SigmoidProduct(Threads& threads, View2<const float> gate, View2<float> x);
void SigmoidProductRef(View2<const float> gate, View2<float> x);

// Of each row and value head: b becomes beta = sigmoid(b), a becomes g = rates * softplus(a +
// offsets), the logarithm of what the state keeps. `b` and `a` are [rows, heads]; `rates` is
// -exp(A_log), `offsets` dt_bias, [heads]. softplus(x) = x for x > 20.
void DeltaGates(Threads& threads, View1<const float> rates, View1<const float> offsets,
                View2<float> b, View2<float> a);
void DeltaGatesRef(View1<const float> rates, View1<const float> offsets, View2<float> b,
                   View2<float> a);

}  // namespace assay::kernels

// Norms of rows and of heads within rows (spec d1 2.1, kev 2.2, 2.5).
#pragma once

#include "base/threads.h"
#include "base/view.h"

namespace assay::kernels {

// out[r, c] = x[r, c] * (mean_c(x[r, c]^2) + eps)^(-1/2) * (gain[c] + gain_offset), statistics in
// fp32. `x` and `out` are [rows, cols] and may be the same memory. `gain` has cols entries. A row's
// result depends on that row only: not on `rows`, not on the thread count. `gain_offset` is 1 for
// families that store the gain minus one (Qwen3.5) and 0 otherwise.
void RmsNorm(Threads& threads, View2<const float> x, View1<const float> gain, float eps,
             float gain_offset, View2<float> out);

// The same in float64, for tests.
void RmsNormRef(View2<const float> x, View1<const float> gain, float eps, float gain_offset,
                View2<float> out);

// x[r, c] *= (mean_c(x[r, c]^2) + eps)^(-1/2) * gain[c] * silu(gate[r, c]): what a delta-rule layer
// does to its output. `x` and `gate` are [rows, cols], a head a row.
void GatedNorm(Threads& threads, View2<float> x, View1<const float> gain, float eps,
               View2<const float> gate);
void GatedNormRef(View2<float> x, View1<const float> gain, float eps, View2<const float> gate);

// Every head of every row becomes x * (sum(x^2) + eps)^(-1/2) * scale. `x` is [rows, heads *
// head_dim].
void L2Norm(Threads& threads, size_t head_dim, float eps, float scale, View2<float> x);
void L2NormRef(size_t head_dim, float eps, float scale, View2<float> x);

}  // namespace assay::kernels

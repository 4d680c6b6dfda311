// The linear layer: y = W x (+ bias) (+ low-rank side product), for several weight matrices over
// the same rows.
#pragma once

#include <optional>
#include <span>

#include "base/threads.h"
#include "base/view.h"
#include "kernels/compute_form.h"
#include "kernels/weights.h"

namespace assay::kernels {

// An adapter kept beside its base: y += scale * (b (a x)). a is [rank, inputs], b is [outputs,
// rank].
struct LowRank {
  WeightMatrix a;
  WeightMatrix b;
  float scale = 1;
};

// One output of the layer: columns of `out` are the rows of `weight`.
struct LinearPart {
  WeightMatrix weight;
  View2<float> out;                  // [rows of x, weight.rows]
  std::span<const float> bias = {};  // empty or weight.rows
  std::optional<LowRank> low_rank = {};
};

enum class Epilogue {
  kStore,        // out = y
  kAdd,          // out = out + y: the residual stream
  kSiluProduct,  // two parts, gate and up, of one shape: the first part's out = silu(gate) * up;
                 // the second's is not written
};

// Bytes of working memory that Linear takes for each row of x.
size_t LinearRowBytes(size_t inputs, const Compute& compute);

// x is [rows, inputs]. `out` may not overlap x. Each output value is one fp32 sum over the inputs
// in an order that depends on the number of inputs, the CPU level and the compute form only: not on
// the number of rows, the other rows, threads or memory alignment. Weights are read in place, once
// for some hundred rows.
void Linear(Threads& threads, View2<const float> x, std::span<const LinearPart> parts,
            Epilogue epilogue, const Compute& compute = {});

// The same as a plain loop with float64 sums, for tests.
void LinearRef(View2<const float> x, std::span<const LinearPart> parts, Epilogue epilogue);

}  // namespace assay::kernels

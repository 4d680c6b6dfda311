// The pointer head: every option's hidden row is a key, the deciding row is the query (spec kev 5).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/view.h"
#include "families/family.h"

namespace assay::families::kev {

// The head's weights, borrowed, fp32 as published: matrices [head_dim, hidden], biases [head_dim].
struct PointerHead {
  View2<const float> query_weight, key_weight;
  std::span<const float> query_bias, key_bias;
};

// z_j = (Wk h_j + bk) . (Wq h_decide + bq) / sqrt(head_dim), in float64. `hidden` is [options + 1,
// hidden]: the rows of the option marks in order, then the deciding row.
std::vector<double> PointerScores(const PointerHead& head, View2<const float> hidden);

// `scores` are z; the probabilities are the softmax of z / temperature. Temperature is finite and
// not 0.
Reading ReadPointer(const PointerHead& head, View2<const float> hidden, double temperature);

}  // namespace assay::families::kev

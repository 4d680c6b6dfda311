// From option scores to probabilities, in float64, as the makers' host code computes them (spec
// d1 5.1).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kernels/weights.h"

namespace assay::families {

// Left to right with Neumaier's correction: what Python's sum does from 3.12 on.
double CompensatedSum(std::span<const double> values);

// exp(s - largest) / CompensatedSum(...). A score that is not finite gives probabilities that are
// not.
std::vector<double> Softmax(std::span<const double> scores);

// hidden . row of the embedding, products and sum in float64.
double Logit(std::span<const float> hidden, const kernels::WeightMatrix& embedding, size_t row);

// The first index of the largest value.
size_t Argmax(std::span<const double> values);

}  // namespace assay::families

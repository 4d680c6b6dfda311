// Rotary position embedding, rotate-half pairing (spec d1 2.3).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/view.h"

namespace assay::kernels {

// theta^(-2i/dims) for i < dims/2, rounded to fp32 as the makers' table is.
std::vector<float> RotaryFrequencies(double theta, size_t dims);

// Angles = position * frequency in fp32; their cosines and sines, [positions, dims/2] each.
struct RotaryTable {
  std::vector<float> cosines;
  std::vector<float> sines;
  size_t half = 0;
};
RotaryTable RotaryAt(std::span<const size_t> positions, std::span<const float> frequencies);

// Turns the first 2 * table.half values of every head of every row: value i pairs with value i +
// half. x is [positions, heads * head_dim]. In place.
void Rotate(const RotaryTable& table, size_t head_dim, View2<float> x);

}  // namespace assay::kernels

// What the tile unit computes, written down from its published definition (Intel's instruction set
// reference, TDPBF16PS): per step, even and odd inputs are summed apart by fused multiply-adds from
// zero, the two sums are added, and that is added to the sum so far. Subnormals count as zero on
// the way in and out.
#include <cfloat>
#include <cmath>
#include <cstring>

#include "kernels/bf16_unit.h"

namespace assay::kernels {
namespace {

float Flushed(float value) {
  return std::fabs(value) < FLT_MIN ? std::copysign(0.0f, value) : value;
}

float Widened(uint16_t bits) {
  const uint32_t wide = uint32_t{bits} << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return Flushed(value);
}

uint16_t WeightAt(const char* row, size_t k) {
  uint16_t bits;
  std::memcpy(&bits, row + 2 * k, sizeof bits);
  return bits;
}

// sums[n] += weight row . row n of the tile, over one step of one term.
void MultiplyStep(const char* weights, const uint16_t* x, float* sums) {
  float even[kBf16Tile] = {};
  float odd[kBf16Tile] = {};
  for (size_t k = 0; k < kBf16Step; k += 2) {
    const float first = Widened(WeightAt(weights, k));
    const float second = Widened(WeightAt(weights, k + 1));
    for (size_t n = 0; n < kBf16Tile; ++n) {
      const uint16_t* pair = x + k * kBf16Tile + 2 * n;
      // The product of two bf16 values is exact in fp32, so this rounds once as a fused one does.
      even[n] = Flushed(first * Widened(pair[0]) + even[n]);
      odd[n] = Flushed(second * Widened(pair[1]) + odd[n]);
    }
  }
  for (size_t n = 0; n < kBf16Tile; ++n) {
    sums[n] = Flushed(Flushed(sums[n]) + Flushed(even[n] + odd[n]));
  }
}

void MultiplyBlock(const Bf16Block& block) {
  for (size_t i = 0; i < block.strips; ++i) {
    for (size_t j = 0; j < block.tiles; ++j) {
      if (!block.add) std::memset(block.sums[i][j], 0, kBf16Sums * sizeof(float));
      for (size_t s = 0; s < block.steps; ++s) {
        for (size_t t = 0; t < block.terms; ++t) {
          const uint16_t* x = block.x[j] + (s * block.terms + t) * kBf16StepValues;
          for (size_t m = 0; m < kBf16Strip; ++m) {
            MultiplyStep(block.weights[i] + m * block.row_bytes + s * block.step_bytes, x,
                         block.sums[i][j] + m * kBf16Tile);
          }
        }
      }
    }
  }
}

void Nothing() {}

constexpr Bf16Unit kTileUnitRef{"tile reference", Nothing, Nothing, MultiplyBlock};

}  // namespace

const Bf16Unit& TileUnitRef() { return kTileUnitRef; }

}  // namespace assay::kernels

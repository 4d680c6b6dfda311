// Units that multiply bf16 by bf16 and add up in fp32: the tile unit (AMX) and the dot product of
// AVX-512. What they have in common, so that one linear layer drives either.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kernels/cpu_level.h"

namespace assay::kernels {

// Weight rows of a strip, rows of x in a tile, and the inputs that one step covers.
inline constexpr size_t kBf16Strip = 16;
inline constexpr size_t kBf16Tile = 16;
inline constexpr size_t kBf16Step = 32;
// bf16 values of one tile's step: pairs of neighbouring inputs, for each pair one a row.
inline constexpr size_t kBf16StepValues = kBf16Tile * kBf16Step;
inline constexpr size_t kBf16Sums = kBf16Strip * kBf16Tile;

// One or two strips of weights times one or two tiles of x. Everything is borrowed.
struct Bf16Block {
  // Row m of strip i has step s at weights[i] + m * row_bytes + s * step_bytes, 64 bytes at any
  // alignment.
  const char* weights[2] = {};
  size_t row_bytes = 0;
  size_t step_bytes = 0;
  // Tile j has the values of step s and term t at x[j] + (s * terms + t) * kBf16StepValues, at an
  // address that is a multiple of 64.
  const uint16_t* x[2] = {};
  // [kBf16Strip, kBf16Tile] of strip i and tile j; like x at multiples of 64 bytes.
  float* sums[2][2] = {};
  size_t strips = 1;
  size_t tiles = 1;
  size_t steps = 0;
  size_t terms = 1;
  bool add = false;  // to what is in sums
  size_t ahead = 0;  // bytes of weights to fetch before they are wanted; 0 when they are near
};

// A unit is a value of three functions. Sums have a fixed order over steps and terms, whatever the
// number of strips and tiles; a block may be cut after any multiple of kBf16Chunk steps.
struct Bf16Unit {
  std::string_view name;
  void (*begin)();  // a thread calls it before blocks, and end after them
  void (*end)();
  void (*multiply)(const Bf16Block& block);
};
inline constexpr size_t kBf16Chunk = 8;

// The unit that the CPU has at a level, or nullptr.
const Bf16Unit* Bf16UnitOf(CpuLevel level);

// Whether the machine has AMX with bf16 and the system lets this process use it; asked once.
bool MachineHasTiles();
// Whether the machine has the bf16 dot product of AVX-512.
bool MachineHasBf16Dot();

const Bf16Unit& TileUnit();
const Bf16Unit& DotUnit();
// The tile unit's arithmetic, bit for bit, in plain code: runs on every machine, for tests.
const Bf16Unit& TileUnitRef();

}  // namespace assay::kernels

// The tile unit of AMX. Plain functions over pointers only: everything between push and pop is
// compiled for a CPU that has the unit, and must not be shared with code for others.
#include <immintrin.h>

#include "kernels/bf16_unit.h"

namespace assay::kernels {

#if defined(__x86_64__)
#if defined(__clang__)
#define ASSAY_AMX __attribute__((target("amx-tile,amx-bf16,avx512f")))
#else
#pragma GCC push_options
#pragma GCC target("amx-tile,amx-bf16,avx512f")
#define ASSAY_AMX
#endif

namespace {

constexpr int kTileRowBytes = 64;

// Shape of all eight tile registers: 16 rows of 64 bytes.
struct alignas(64) TileConfig {
  unsigned char palette = 1;
  unsigned char start_row = 0;
  unsigned char reserved[14] = {};
  unsigned short row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  unsigned char rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
static_assert(sizeof(TileConfig) == 64);

// By an instruction that reads the whole block: the compiler's own call for it may drop the stores
// that fill the block.
ASSAY_AMX void Configure() {
  const TileConfig config;
  asm volatile("ldtilecfg %0" : : "m"(config));
}

ASSAY_AMX void Release() { asm volatile("tilerelease"); }

// Registers 0 to 3 hold the sums of strip i and tile j in 2 i + j, 4 and 5 the strips' weights, 6
// and 7 the tiles of x.
template <size_t kStrips, size_t kTiles>
ASSAY_AMX inline void LoadSums(const Bf16Block& block) {
  if (!block.add) {
    _tile_zero(0);
    if constexpr (kTiles > 1) _tile_zero(1);
    if constexpr (kStrips > 1) _tile_zero(2);
    if constexpr (kStrips > 1 && kTiles > 1) _tile_zero(3);
    return;
  }
  _tile_loadd(0, block.sums[0][0], kTileRowBytes);
  if constexpr (kTiles > 1) _tile_loadd(1, block.sums[0][1], kTileRowBytes);
  if constexpr (kStrips > 1) _tile_loadd(2, block.sums[1][0], kTileRowBytes);
  if constexpr (kStrips > 1 && kTiles > 1) _tile_loadd(3, block.sums[1][1], kTileRowBytes);
}

template <size_t kStrips, size_t kTiles>
ASSAY_AMX inline void StoreSums(const Bf16Block& block) {
  _tile_stored(0, block.sums[0][0], kTileRowBytes);
  if constexpr (kTiles > 1) _tile_stored(1, block.sums[0][1], kTileRowBytes);
  if constexpr (kStrips > 1) _tile_stored(2, block.sums[1][0], kTileRowBytes);
  if constexpr (kStrips > 1 && kTiles > 1) _tile_stored(3, block.sums[1][1], kTileRowBytes);
}

template <size_t kStrips>
ASSAY_AMX inline void Fetch(const Bf16Block& block, size_t at) {
  for (size_t i = 0; i < kStrips; ++i) {
    for (size_t m = 0; m < kBf16Strip; ++m) {
      _mm_prefetch(block.weights[i] + m * block.row_bytes + at, _MM_HINT_T0);
    }
  }
}

template <size_t kStrips, size_t kTiles>
ASSAY_AMX void Multiply(const Bf16Block& block) {
  const auto stride = static_cast<long>(block.row_bytes);
  LoadSums<kStrips, kTiles>(block);
  const uint16_t* x0 = block.x[0];
  const uint16_t* x1 = block.x[1];
  for (size_t s = 0; s < block.steps; ++s) {
    const size_t at = s * block.step_bytes;
    if (block.ahead != 0) Fetch<kStrips>(block, at + block.ahead);
    _tile_loadd(4, block.weights[0] + at, stride);
    if constexpr (kStrips > 1) _tile_loadd(5, block.weights[1] + at, stride);
    for (size_t t = 0; t < block.terms; ++t) {
      _tile_loadd(6, x0, kTileRowBytes);
      x0 += kBf16StepValues;
      if constexpr (kTiles > 1) {
        _tile_loadd(7, x1, kTileRowBytes);
        x1 += kBf16StepValues;
      }
      _tile_dpbf16ps(0, 4, 6);
      if constexpr (kTiles > 1) _tile_dpbf16ps(1, 4, 7);
      if constexpr (kStrips > 1) _tile_dpbf16ps(2, 5, 6);
      if constexpr (kStrips > 1 && kTiles > 1) _tile_dpbf16ps(3, 5, 7);
    }
  }
  StoreSums<kStrips, kTiles>(block);
}

ASSAY_AMX void MultiplyBlock(const Bf16Block& block) {
  if (block.strips == 2) {
    block.tiles == 2 ? Multiply<2, 2>(block) : Multiply<2, 1>(block);
  } else {
    block.tiles == 2 ? Multiply<1, 2>(block) : Multiply<1, 1>(block);
  }
}

constexpr Bf16Unit kTileUnit{"amx", Configure, Release, MultiplyBlock};

}  // namespace

#if !defined(__clang__)
#pragma GCC pop_options
#endif

const Bf16Unit& TileUnit() { return kTileUnit; }
#endif

}  // namespace assay::kernels

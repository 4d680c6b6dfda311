// The bf16 dot product of AVX-512. Plain functions over pointers only: everything between push and
// pop is compiled for a CPU that has it, and must not be shared with code for others.
#include <immintrin.h>

#include <cstring>

#include "kernels/bf16_unit.h"

namespace assay::kernels {

#if defined(__x86_64__)
#if defined(__clang__)
#define ASSAY_BF16 __attribute__((target("avx512bf16,avx512vl,avx512bw,avx512f")))
#else
#pragma GCC push_options
#pragma GCC target("avx512bf16,avx512vl,avx512bw,avx512f")
#define ASSAY_BF16
#endif

namespace {

// Weight rows at a time: with two tiles of x sixteen sums, more than the instruction's latency.
constexpr size_t kGroup = 8;
constexpr size_t kPairs = kBf16Step / 2;
// Steps whose sums start from zero and are then added to what came before: short chains round less.
constexpr size_t kChain = 2;
static_assert(kBf16Chunk % kChain == 0);

// A pair of neighbouring weights of one row, in every lane.
ASSAY_BF16 inline __m512bh Broadcast(const char* pair) {
  int bits;
  __builtin_memcpy(&bits, pair, sizeof bits);
  return reinterpret_cast<__m512bh>(_mm512_set1_epi32(bits));
}

ASSAY_BF16 inline __m512bh LoadPairs(const uint16_t* x) {
  return reinterpret_cast<__m512bh>(_mm512_load_si512(x));
}

// sums[m, j] += the inputs of one step and term, for kGroup weight rows and kTiles tiles.
template <size_t kTiles>
ASSAY_BF16 inline void MultiplyStep(const char* weights, size_t row_bytes, const uint16_t* const* x,
                                    __m512* sums) {
  for (size_t pair = 0; pair < kPairs; ++pair) {
    __m512bh values[kTiles];
    for (size_t j = 0; j < kTiles; ++j) values[j] = LoadPairs(x[j] + pair * 2 * kBf16Tile);
    for (size_t m = 0; m < kGroup; ++m) {
      const __m512bh weight = Broadcast(weights + m * row_bytes + pair * 4);
      for (size_t j = 0; j < kTiles; ++j) {
        sums[m * kTiles + j] = _mm512_dpbf16_ps(sums[m * kTiles + j], weight, values[j]);
      }
    }
  }
}

template <size_t kTiles>
ASSAY_BF16 inline void MultiplyChain(const Bf16Block& block, size_t strip, size_t first_row,
                                     size_t first_step, size_t steps, bool add) {
  __m512 sums[kGroup * kTiles];
  for (__m512& sum : sums) sum = _mm512_setzero_ps();
  const char* rows = block.weights[strip] + first_row * block.row_bytes;
  for (size_t s = first_step; s < first_step + steps; ++s) {
    const char* weights = rows + s * block.step_bytes;
    if (block.ahead != 0) {
      for (size_t m = 0; m < kGroup; ++m)
        _mm_prefetch(weights + m * block.row_bytes + block.ahead, _MM_HINT_T0);
    }
    for (size_t t = 0; t < block.terms; ++t) {
      const uint16_t* x[kTiles];
      for (size_t j = 0; j < kTiles; ++j)
        x[j] = block.x[j] + (s * block.terms + t) * kBf16StepValues;
      MultiplyStep<kTiles>(weights, block.row_bytes, x, sums);
    }
  }
  for (size_t m = 0; m < kGroup; ++m) {
    for (size_t j = 0; j < kTiles; ++j) {
      float* out = block.sums[strip][j] + (first_row + m) * kBf16Tile;
      const __m512 sum = sums[m * kTiles + j];
      _mm512_store_ps(out, add ? _mm512_add_ps(_mm512_load_ps(out), sum) : sum);
    }
  }
}

template <size_t kTiles>
ASSAY_BF16 void Multiply(const Bf16Block& block) {
  for (size_t strip = 0; strip < block.strips; ++strip) {
    for (size_t m = 0; m < kBf16Strip; m += kGroup) {
      for (size_t s = 0; s < block.steps; s += kChain) {
        const size_t steps = block.steps - s < kChain ? block.steps - s : kChain;
        MultiplyChain<kTiles>(block, strip, m, s, steps, block.add || s > 0);
      }
    }
  }
}

ASSAY_BF16 void MultiplyBlock(const Bf16Block& block) {
  block.tiles == 2 ? Multiply<2>(block) : Multiply<1>(block);
}

void Nothing() {}

constexpr Bf16Unit kDotUnit{"avx512_bf16", Nothing, Nothing, MultiplyBlock};

}  // namespace

#if !defined(__clang__)
#pragma GCC pop_options
#endif

const Bf16Unit& DotUnit() { return kDotUnit; }
#endif

}  // namespace assay::kernels

// Sixteen-bit floats. bf16 is the upper half of an fp32: widening is exact (spec d1 1.2).
#pragma once

#include <bit>
#include <cstdint>

namespace assay {

// Raw bits, so that nobody adds two of them by accident.
enum class Bf16 : uint16_t {};
enum class F16 : uint16_t {};

inline float Widen(Bf16 value) { return std::bit_cast<float>(static_cast<uint32_t>(value) << 16); }

// IEEE half to single, exact, subnormals and infinities included.
inline float Widen(F16 value) {
  const auto bits = static_cast<uint32_t>(value);
  const uint32_t sign = (bits & 0x8000u) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1Fu;
  const uint32_t fraction = bits & 0x3FFu;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) | sign);
  }
  const uint32_t wide = exponent == 31 ? 0xFFu : exponent + 112;
  return std::bit_cast<float>(sign | (wide << 23) | (fraction << 13));
}

// Nearest, ties to even. Not-a-number stays one.
inline Bf16 NarrowToBf16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return static_cast<Bf16>((bits >> 16) | 0x40u);
  return static_cast<Bf16>((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace assay

// The element types of the safetensors format (its reference implementation, release 0.6).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace assay::formats {

enum class Dtype {
  kBool,
  kU8,
  kI8,
  kI16,
  kU16,
  kF16,
  kBf16,
  kI32,
  kU32,
  kF32,
  kI64,
  kU64,
  kF64,
  kC64,
  kF4,
  kF6E2M3,
  kF6E3M2,
  kF8E4M3,
  kF8E5M2,
  kF8E8M0,
  kF8E4M3Fnuz,
  kF8E5M2Fnuz,
};

// The spelling inside a safetensors header, for example "BF16".
std::string_view DtypeName(Dtype dtype);
// Nothing for an unknown spelling.
std::optional<Dtype> DtypeFromName(std::string_view name);
// Bits of one element; below 8 for the packed types.
uint64_t DtypeBits(Dtype dtype);

}  // namespace assay::formats

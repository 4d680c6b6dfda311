// Reading all that a checkpoint hands out.
#pragma once

#include <algorithm>
#include <vector>

#include "formats/safetensors.h"
#include "fuzz/fuzz.h"

namespace assay::fuzz {

// Touches every byte of an accepted tensor; widens all of it and its last element alone.
inline void ReadWhole(const formats::Tensor& tensor) {
  using formats::Dtype;
  Touch(tensor.bytes);
  FUZZ_CHECK(tensor.elements() * formats::DtypeBits(tensor.dtype) == tensor.bytes.size() * 8);
  const bool widens =
      tensor.dtype == Dtype::kF32 || tensor.dtype == Dtype::kF16 || tensor.dtype == Dtype::kBf16;
  if (!widens) return;
  std::vector<float> all(tensor.elements());
  formats::WidenTo(tensor, 0, all);
  if (all.empty()) return;
  float last = 0;
  formats::WidenTo(tensor, all.size() - 1, std::span(&last, 1));
  FUZZ_CHECK(last == all.back() || (last != last && all.back() != all.back()));
}

}  // namespace assay::fuzz

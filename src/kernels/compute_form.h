// How a linear layer forms its products (design 3 "Numbers"): chosen by name when a model is
// loaded, never by the number of rows.
#pragma once

#include <string_view>
#include <vector>

#include "kernels/bf16_unit.h"

namespace assay::kernels {

// kF32: fp32 multiply-add. The others multiply bf16 pairs exactly and add up in fp32; activations
// are the sum of three, of two, or one bf16 term. They apply to bf16 weights; matrices stored
// otherwise, and adapters, always run in fp32.
enum class ComputeForm { kF32, kBf16x3, kBf16x2, kBf16 };

// "f32", "bf16x3", "bf16x2", "bf16".
std::string_view ComputeFormName(ComputeForm form);
// Terms that an activation is split into; 0 for kF32.
size_t TermsOf(ComputeForm form);

// A form and the unit that runs it; no unit for kF32.
struct Compute {
  ComputeForm form = ComputeForm::kF32;
  const Bf16Unit* unit = nullptr;
};

// The forms that this CPU has at the running level.
std::vector<ComputeForm> AvailableForms();

// The form of that name on the running level. "auto" is a fixed table: bf16x3 with the tile unit,
// f32 elsewhere. Throws Error(kUsage) for an unknown name, and for a form that the level lacks:
// none is replaced by another.
Compute ChooseCompute(std::string_view name);

}  // namespace assay::kernels

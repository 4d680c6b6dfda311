// The kernels that run, by name: for reports, which say what their figures are figures of.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/compute_form.h"
#include "kernels/weights.h"

namespace assay::kernels {

// "f32", "bf16", ...
std::string_view WeightTypeName(WeightType type);

// One entry a kernel at the CPU level in use: "linear: avx512 f32, bf16 weights", or "linear: amx
// bf16x3, bf16 weights" on a bf16 unit. `weights` are the model's linear layers; each of their
// types is named once.
// `others` are the other kernels of the model: "attention", ...
std::vector<std::string> KernelNames(std::span<const WeightMatrix> weights, const Compute& compute,
                                     std::span<const std::string_view> others);

}  // namespace assay::kernels

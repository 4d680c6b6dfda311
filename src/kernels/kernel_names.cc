#include "kernels/kernel_names.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/cpu_level.h"

namespace assay::kernels {

std::string_view WeightTypeName(WeightType type) {
  switch (type) {
    case WeightType::kF32: return "f32";
    case WeightType::kBf16: return "bf16";
    case WeightType::kF16: return "f16";
    case WeightType::kInt8: return "int8";
    case WeightType::kInt4: return "int4";
  }
  return "unknown";
}

std::vector<std::string> KernelNames(std::span<const WeightMatrix> weights, const Compute& compute,
                                     std::span<const std::string_view> others) {
  const std::string_view level = CpuLevelName(RunningLevel());
  std::vector<std::string> out;
  for (const WeightMatrix& matrix : weights) {
    const bool on_unit = compute.unit != nullptr && matrix.type == WeightType::kBf16;
    std::string name = fmt::format(
        "linear: {} {}, {} weights", on_unit ? compute.unit->name : level,
        ComputeFormName(on_unit ? compute.form : ComputeForm::kF32), WeightTypeName(matrix.type));
    if (std::ranges::find(out, name) == out.end()) out.push_back(std::move(name));
  }
  for (const std::string_view op : others) {
    out.push_back(fmt::format("{}: {} f32", op, level));
  }
  return out;
}

}  // namespace assay::kernels

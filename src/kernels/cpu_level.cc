#include "kernels/cpu_level.h"

#include <fmt/format.h>

#include <atomic>

#include "assay/error.h"
#include "kernels/bf16_unit.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu_level.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {

int64_t RunningTarget() { return HWY_TARGET; }

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {
namespace {

HWY_EXPORT(RunningTarget);

struct LevelRow {
  CpuLevel level;
  std::string_view name;
  int64_t target;
};

constexpr LevelRow kLevels[] = {
#define ASSAY_CPU_LEVEL(level, name, target) {CpuLevel::level, name, target},
#include "kernels/levels.inc"
#undef ASSAY_CPU_LEVEL
};

// What the CPU has, asked once and before anything was forced down.
int64_t MachineTargets() {
  static const int64_t targets = hwy::SupportedTargets();
  return targets;
}

bool MachineHas(const LevelRow& row) {
  return (MachineTargets() & row.target) != 0 && (row.level != CpuLevel::kAmx || MachineHasTiles());
}

// Two levels share the vector code of avx512; this says which of them runs.
std::atomic<bool> tiles_allowed{true};

std::string NamesOf(const std::vector<CpuLevel>& levels) {
  std::string out;
  for (const CpuLevel level : levels) {
    out += fmt::format("{}{}", out.empty() ? "" : ", ", CpuLevelName(level));
  }
  return out;
}

}  // namespace

std::string_view CpuLevelName(CpuLevel level) {
  for (const LevelRow& row : kLevels) {
    if (row.level == level) return row.name;
  }
  return "unknown";
}

std::vector<CpuLevel> AvailableLevels() {
  std::vector<CpuLevel> out;
  for (const LevelRow& row : kLevels) {
    if (MachineHas(row)) out.push_back(row.level);
  }
  return out;
}

void SelectCpuLevel(std::string_view name) {
  const std::vector<CpuLevel> available = AvailableLevels();
  for (const LevelRow& row : kLevels) {
    if (row.name != name && !(name.empty() && row.level == available.back())) continue;
    if (!MachineHas(row)) {
      throw Error(ErrorKind::kUsage, "ASSAY_CPU", fmt::format("this CPU has no {}", name),
                  fmt::format("it has {}", NamesOf(available)));
    }
    hwy::SetSupportedTargetsForTest(row.target);
    hwy::GetChosenTarget().Update(row.target);
    tiles_allowed = row.level == CpuLevel::kAmx;
    return;
  }
  throw Error(ErrorKind::kUsage, "ASSAY_CPU", fmt::format("no CPU level is called '{}'", name),
              fmt::format("this CPU has {}", NamesOf(available)));
}

CpuLevel RunningLevel() {
  const int64_t target = HWY_DYNAMIC_DISPATCH(RunningTarget)();
  if (target == HWY_AVX3 && tiles_allowed && MachineHasTiles()) return CpuLevel::kAmx;
  for (const LevelRow& row : kLevels) {
    if (row.target == target) return row.level;
  }
  return CpuLevel::kGeneric;
}

}  // namespace assay::kernels
#endif  // HWY_ONCE

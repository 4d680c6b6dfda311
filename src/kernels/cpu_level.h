// The CPU level that the vector code runs at: found at start, and can be forced down.
#pragma once

#include <string_view>
#include <vector>

namespace assay::kernels {

// From low to high. Every level gives the makers' probabilities to the same bar; the last bits
// differ between levels.
enum class CpuLevel { kGeneric, kAvx2, kAvx512, kAmx };

// "generic", "avx2", "avx512", "amx".
std::string_view CpuLevelName(CpuLevel level);

// The levels that this machine has, lowest first.
std::vector<CpuLevel> AvailableLevels();

// Makes `name` the level of the whole process. An empty name means the best one. Throws
// Error(kUsage) for an unknown name or a level that the machine lacks. To be called at start,
// before any kernel runs.
void SelectCpuLevel(std::string_view name);

// The level at which kernels run, asked of the kernels themselves.
CpuLevel RunningLevel();

}  // namespace assay::kernels

#include "kernels/bf16_unit.h"

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace assay::kernels {
namespace {

#if defined(__x86_64__) && defined(__linux__)
struct Features {
  bool tiles = false;
  bool bf16_dot = false;
};

// Bits of CPUID leaf 7 and of the state component that the system must grant (Intel's manual,
// volume 1, chapters 13 and 18).
Features AskCpu() {
  Features out;
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return out;
  constexpr unsigned kAvx512f = 1u << 16;
  constexpr unsigned kAmxBf16 = 1u << 22;
  constexpr unsigned kAmxTile = 1u << 24;
  const bool wide = (b & kAvx512f) != 0;
  const bool amx = wide && (d & kAmxBf16) != 0 && (d & kAmxTile) != 0;
  if (__get_cpuid_count(7, 1, &a, &b, &c, &d) != 0) out.bf16_dot = wide && (a & (1u << 5)) != 0;
  constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr long kTileData = 18;
  out.tiles = amx && syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  return out;
}

const Features& CpuFeatures() {
  static const Features features = AskCpu();
  return features;
}
#endif

}  // namespace

#if defined(__x86_64__) && defined(__linux__)
bool MachineHasTiles() { return CpuFeatures().tiles; }
bool MachineHasBf16Dot() { return CpuFeatures().bf16_dot; }
#else
bool MachineHasTiles() { return false; }
bool MachineHasBf16Dot() { return false; }
#endif

const Bf16Unit* Bf16UnitOf(CpuLevel level) {
  switch (level) {
    case CpuLevel::kAmx: return MachineHasTiles() ? &TileUnit() : nullptr;
    case CpuLevel::kAvx512: return MachineHasBf16Dot() ? &DotUnit() : nullptr;
    case CpuLevel::kAvx2:
    case CpuLevel::kGeneric: break;
  }
  return nullptr;
}

}  // namespace assay::kernels

#include "formats/dtype.h"

#include <array>

namespace assay::formats {
namespace {

struct Row {
  Dtype dtype;
  std::string_view name;
  uint64_t bits;
};

// In the order of the enum.
constexpr std::array kRows = {
    Row{Dtype::kBool, "BOOL", 8},
    Row{Dtype::kU8, "U8", 8},
    Row{Dtype::kI8, "I8", 8},
    Row{Dtype::kI16, "I16", 16},
    Row{Dtype::kU16, "U16", 16},
    Row{Dtype::kF16, "F16", 16},
    Row{Dtype::kBf16, "BF16", 16},
    Row{Dtype::kI32, "I32", 32},
    Row{Dtype::kU32, "U32", 32},
    Row{Dtype::kF32, "F32", 32},
    Row{Dtype::kI64, "I64", 64},
    Row{Dtype::kU64, "U64", 64},
    Row{Dtype::kF64, "F64", 64},
    Row{Dtype::kC64, "C64", 64},
    Row{Dtype::kF4, "F4", 4},
    Row{Dtype::kF6E2M3, "F6_E2M3", 6},
    Row{Dtype::kF6E3M2, "F6_E3M2", 6},
    Row{Dtype::kF8E4M3, "F8_E4M3", 8},
    Row{Dtype::kF8E5M2, "F8_E5M2", 8},
    Row{Dtype::kF8E8M0, "F8_E8M0", 8},
    Row{Dtype::kF8E4M3Fnuz, "F8_E4M3FNUZ", 8},
    Row{Dtype::kF8E5M2Fnuz, "F8_E5M2FNUZ", 8},
};

constexpr bool RowsFollowTheEnum() {
  for (size_t i = 0; i < kRows.size(); ++i) {
    if (static_cast<size_t>(kRows[i].dtype) != i) return false;
  }
  return true;
}
static_assert(RowsFollowTheEnum());

}  // namespace

std::string_view DtypeName(Dtype dtype) { return kRows[static_cast<size_t>(dtype)].name; }

std::optional<Dtype> DtypeFromName(std::string_view name) {
  for (const Row& row : kRows) {
    if (row.name == name) return row.dtype;
  }
  return std::nullopt;
}

uint64_t DtypeBits(Dtype dtype) { return kRows[static_cast<size_t>(dtype)].bits; }

}  // namespace assay::formats

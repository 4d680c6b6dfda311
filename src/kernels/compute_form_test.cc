#include "kernels/compute_form.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/error.h"

namespace assay::kernels {
namespace {

TEST(ComputeForm, AutoIsAFixedTable) {
  const bool tiles = RunningLevel() == CpuLevel::kAmx;
  EXPECT_EQ(ChooseCompute("auto").form, tiles ? ComputeForm::kBf16x3 : ComputeForm::kF32);
}

TEST(ComputeForm, EveryFormRunsOrIsRefusedByName) {
  const std::vector<ComputeForm> available = AvailableForms();
  for (const std::string_view name : {"f32", "bf16x3", "bf16x2", "bf16"}) {
    try {
      const Compute compute = ChooseCompute(name);
      EXPECT_EQ(ComputeFormName(compute.form), name);
      EXPECT_THAT(available, ::testing::Contains(compute.form));
      EXPECT_EQ(compute.unit != nullptr, TermsOf(compute.form) > 0);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage);
      EXPECT_THAT(error.what(), ::testing::HasSubstr(name));
      EXPECT_EQ(Bf16UnitOf(RunningLevel()), nullptr);
    }
  }
}

// No unit below avx512: the vector code of these levels has no bf16 multiplication.
TEST(ComputeForm, LowLevelsHaveFp32Only) {
  EXPECT_EQ(Bf16UnitOf(CpuLevel::kAvx2), nullptr);
  EXPECT_EQ(Bf16UnitOf(CpuLevel::kGeneric), nullptr);
}

TEST(ComputeForm, RefusesAnUnknownName) {
  try {
    ChooseCompute("fp16");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_THAT(error.what(),
                ::testing::AllOf(::testing::HasSubstr("fp16"), ::testing::HasSubstr("auto, f32")));
  }
}

}  // namespace
}  // namespace assay::kernels

#include "kernels/kernel_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/cpu_level.h"

namespace assay::kernels {
namespace {

using ::testing::Contains;
using ::testing::StartsWith;

TEST(KernelNames, SayTheLevelAndEachTypeOfWeightsOnce) {
  const WeightMatrix weights[] = {
      {nullptr, WeightType::kBf16}, {nullptr, WeightType::kF32}, {nullptr, WeightType::kBf16}};
  const std::string_view others[] = {"attention"};
  const std::string level(CpuLevelName(RunningLevel()));
  const std::vector<std::string> names = KernelNames(weights, {}, others);
  EXPECT_THAT(names, Contains("linear: " + level + " f32, bf16 weights").Times(1));
  EXPECT_THAT(names, Contains("linear: " + level + " f32, f32 weights").Times(1));
  EXPECT_THAT(names, Contains("attention: " + level + " f32"));
  EXPECT_THAT(names, Contains(StartsWith("linear:")).Times(2));
  const Compute unit{ComputeForm::kBf16x2, &TileUnitRef()};
  EXPECT_THAT(KernelNames(weights, unit, others),
              ::testing::AllOf(Contains("linear: tile reference bf16x2, bf16 weights"),
                               Contains("linear: " + level + " f32, f32 weights")));
}

}  // namespace
}  // namespace assay::kernels

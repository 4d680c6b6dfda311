#include "base/bf16.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace assay {
namespace {

TEST(Bf16, WideningThenNarrowingIsTheIdentity) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float wide = Widen(static_cast<Bf16>(bits));
    if (std::isnan(wide)) continue;
    ASSERT_EQ(static_cast<uint32_t>(NarrowToBf16(wide)), bits);
  }
}

TEST(Bf16, NarrowsToNearestEven) {
  EXPECT_EQ(static_cast<int>(NarrowToBf16(1.0f + 0x1p-8f)), 0x3F80);      // a tie goes to even
  EXPECT_EQ(static_cast<int>(NarrowToBf16(1.0f + 3 * 0x1p-8f)), 0x3F82);  // likewise, upwards
  EXPECT_EQ(static_cast<int>(NarrowToBf16(1.0f + 0x1p-8f + 0x1p-20f)), 0x3F81);  // above the tie
  EXPECT_EQ(static_cast<int>(NarrowToBf16(std::numeric_limits<float>::max())), 0x7F80);
  EXPECT_TRUE(std::isnan(Widen(NarrowToBf16(std::nanf("")))));
}

TEST(F16, WidensExactly) {
  EXPECT_EQ(Widen(static_cast<F16>(0x3C00)), 1.0f);
  EXPECT_EQ(Widen(static_cast<F16>(0xC500)), -5.0f);
  EXPECT_EQ(Widen(static_cast<F16>(0x7BFF)), 65504.0f);
  EXPECT_EQ(Widen(static_cast<F16>(0x0001)), 0x1p-24f);
  EXPECT_EQ(Widen(static_cast<F16>(0x83FF)), -1023 * 0x1p-24f);
  EXPECT_TRUE(std::isinf(Widen(static_cast<F16>(0x7C00))));
  EXPECT_TRUE(std::isnan(Widen(static_cast<F16>(0x7C01))));
  EXPECT_TRUE(std::signbit(Widen(static_cast<F16>(0x8000))));
}

}  // namespace
}  // namespace assay

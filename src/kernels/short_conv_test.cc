#include "kernels/short_conv.h"

#include <gtest/gtest.h>

#include "testing/random.h"

namespace assay::kernels {
namespace {

using ::assay::testing::Random;

class ShortConvTest : public ::testing::Test {
 protected:
  static constexpr size_t kChannels = 300;
  static constexpr size_t kTaps = 3;
  static constexpr size_t kRows = 20;

  // Runs the rows in pieces of the given sizes from the given columns; returns outputs then
  // columns.
  std::vector<float> Run(std::vector<size_t> pieces, size_t threads = 2) {
    std::vector<float> out(kRows * kChannels), columns = columns_;
    Threads pool(threads);
    size_t at = 0;
    for (const size_t rows : pieces) {
      const ShortConvPart part{{bcx_.data() + at * 3 * kChannels, rows, 3 * kChannels},
                               {columns.data(), kTaps - 1, kChannels},
                               {out.data() + at * kChannels, rows, kChannels}};
      ShortConv(pool, taps(), std::span(&part, 1));
      at += rows;
    }
    out.insert(out.end(), columns.begin(), columns.end());
    return out;
  }
  View2<const float> taps() const { return {taps_.data(), kTaps, kChannels}; }

  Random random_{11};
  std::vector<float> taps_ = random_.Floats(kTaps * kChannels);
  std::vector<float> bcx_ = random_.Floats(kRows * 3 * kChannels);
  std::vector<float> columns_ = random_.Floats((kTaps - 1) * kChannels);
};

TEST_F(ShortConvTest, EqualsTheDefinition) {
  std::vector<float> expected(kRows * kChannels), columns = columns_;
  ShortConvRef(taps(), {{bcx_.data(), kRows, 3 * kChannels},
                        {columns.data(), kTaps - 1, kChannels},
                        {expected.data(), kRows, kChannels}});
  expected.insert(expected.end(), columns.begin(), columns.end());
  const std::vector<float> got = Run({kRows});
  for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], expected[i], 5e-7) << i;
}

TEST_F(ShortConvTest, EverySplitHasTheBitsOfTheWhole) {
  const std::vector<float> whole = Run({kRows});
  for (size_t first = 1; first < kRows; ++first)
    EXPECT_EQ(Run({first, kRows - first}), whole) << first;
  EXPECT_EQ(Run(std::vector<size_t>(kRows, 1), 1), whole);
}

// Views without rows may be null, from which no address may be computed (the sanitizers watch).
TEST_F(ShortConvTest, APassWithoutRowsLeavesTheColumns) {
  std::vector<float> columns = columns_;
  const ShortConvPart part{
      {nullptr, 0, 3 * kChannels}, {columns.data(), kTaps - 1, kChannels}, {nullptr, 0, kChannels}};
  Threads pool(1);
  ShortConv(pool, taps(), std::span(&part, 1));
  EXPECT_EQ(columns, columns_);
}

TEST_F(ShortConvTest, SequencesOfOnePassDoNotMix) {
  std::vector<float> out(kRows * kChannels), columns = columns_, other_out(4 * kChannels),
                                             other_columns(2 * kChannels);
  const std::vector<float> other = random_.Floats(4 * 3 * kChannels);
  const ShortConvPart parts[] = {{{other.data(), 4, 3 * kChannels},
                                  {other_columns.data(), 2, kChannels},
                                  {other_out.data(), 4, kChannels}},
                                 {{bcx_.data(), kRows, 3 * kChannels},
                                  {columns.data(), 2, kChannels},
                                  {out.data(), kRows, kChannels}}};
  Threads pool(2);
  ShortConv(pool, taps(), parts);
  out.insert(out.end(), columns.begin(), columns.end());
  EXPECT_EQ(out, Run({kRows}));
}

}  // namespace
}  // namespace assay::kernels

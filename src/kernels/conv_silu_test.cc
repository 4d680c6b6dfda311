#include "kernels/conv_silu.h"

#include <gtest/gtest.h>

#include "testing/random.h"

namespace assay::kernels {
namespace {

using ::assay::testing::Random;

class ConvSiluTest : public ::testing::Test {
 protected:
  static constexpr size_t kChannels = 301;
  static constexpr size_t kTaps = 4;
  static constexpr size_t kRows = 20;

  // Runs the rows in pieces of the given sizes from the given columns; returns outputs then
  // columns.
  std::vector<float> Run(const std::vector<size_t>& pieces, size_t threads = 2) {
    std::vector<float> out(kRows * kChannels), columns = columns_;
    Threads pool(threads);
    size_t at = 0;
    for (const size_t rows : pieces) {
      const ConvSiluPart part{{x_.data() + at * kChannels, rows, kChannels},
                              {columns.data(), kTaps - 1, kChannels},
                              {out.data() + at * kChannels, rows, kChannels}};
      ConvSilu(pool, taps(), std::span(&part, 1));
      at += rows;
    }
    out.insert(out.end(), columns.begin(), columns.end());
    return out;
  }
  View2<const float> taps() const { return {taps_.data(), kTaps, kChannels}; }

  Random random_{11};
  std::vector<float> taps_ = random_.Floats(kTaps * kChannels, 2);
  std::vector<float> x_ = random_.Floats(kRows * kChannels, 2);
  std::vector<float> columns_ = random_.Floats((kTaps - 1) * kChannels, 2);
};

TEST_F(ConvSiluTest, EqualsTheDefinition) {
  std::vector<float> expected(kRows * kChannels), columns = columns_;
  ConvSiluRef(taps(), {{x_.data(), kRows, kChannels},
                       {columns.data(), kTaps - 1, kChannels},
                       {expected.data(), kRows, kChannels}});
  expected.insert(expected.end(), columns.begin(), columns.end());
  const std::vector<float> got = Run({kRows});
  for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], expected[i], 2e-6) << i;
}

TEST_F(ConvSiluTest, EverySplitHasTheBitsOfTheWhole) {
  const std::vector<float> whole = Run({kRows});
  for (size_t first = 1; first < kRows; ++first)
    EXPECT_EQ(Run({first, kRows - first}), whole) << first;
  EXPECT_EQ(Run(std::vector<size_t>(kRows, 1), 1), whole);
}

// Views without rows may be null, from which no address may be computed (the sanitizers watch).
TEST_F(ConvSiluTest, APassWithoutRowsLeavesTheColumns) {
  std::vector<float> columns = columns_;
  const ConvSiluPart part{
      {nullptr, 0, kChannels}, {columns.data(), kTaps - 1, kChannels}, {nullptr, 0, kChannels}};
  Threads pool(1);
  ConvSilu(pool, taps(), std::span(&part, 1));
  EXPECT_EQ(columns, columns_);
}

TEST_F(ConvSiluTest, SequencesOfOnePassDoNotMix) {
  std::vector<float> out(kRows * kChannels), columns = columns_, other_out(4 * kChannels),
                                             other_columns(3 * kChannels);
  const std::vector<float> other = random_.Floats(4 * kChannels);
  const ConvSiluPart parts[] = {{{other.data(), 4, kChannels},
                                 {other_columns.data(), 3, kChannels},
                                 {other_out.data(), 4, kChannels}},
                                {{x_.data(), kRows, kChannels},
                                 {columns.data(), 3, kChannels},
                                 {out.data(), kRows, kChannels}}};
  Threads pool(2);
  ConvSilu(pool, taps(), parts);
  out.insert(out.end(), columns.begin(), columns.end());
  EXPECT_EQ(out, Run({kRows}));
}

}  // namespace
}  // namespace assay::kernels

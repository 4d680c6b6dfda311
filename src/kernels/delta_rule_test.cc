#include "kernels/delta_rule.h"

#include <gtest/gtest.h>

#include "testing/delta_sequence.h"

namespace assay::kernels {
namespace {

using ::assay::testing::DeltaSequence;
using Form = void (*)(Threads&, const DeltaShape&, std::span<const DeltaPart>);

// Runs a copy of the sequence in pieces; returns its outputs, then its state.
std::vector<float> Replay(Form form, DeltaSequence sequence, const std::vector<size_t>& pieces,
                          size_t threads = 2) {
  Threads pool(threads);
  size_t at = 0;
  for (const size_t rows : pieces) {
    const DeltaPart part = sequence.Part(at, rows);
    form(pool, sequence.shape(), std::span(&part, 1));
    at += rows;
  }
  return sequence.Results();
}

class DeltaShapes : public ::testing::TestWithParam<DeltaShape> {};

TEST_P(DeltaShapes, FusedEqualsTheDefinition) {
  for (const size_t rows : {1u, 2u, 17u, 200u}) {
    const DeltaSequence sequence(rows, GetParam(), rows, 0.5f);
    DeltaSequence expected = sequence;
    DeltaRuleRef(GetParam(), expected.Part(0, rows));
    const std::vector<float> got = Replay(DeltaRuleFused, sequence, {rows});
    const std::vector<float> want = expected.Results();
    for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], want[i], 1e-6) << rows << " " << i;
  }
}

TEST_P(DeltaShapes, StepHasTheBitsOfFused) {
  const DeltaSequence sequence(3, GetParam(), 70, 0.5f);
  EXPECT_EQ(Replay(DeltaRuleStep, sequence, {70}), Replay(DeltaRuleFused, sequence, {70}));
}

TEST_P(DeltaShapes, EverySplitHasTheBitsOfTheWhole) {
  const size_t rows = 67;
  const DeltaSequence sequence(4, GetParam(), rows, 0.5f);
  const std::vector<float> whole = Replay(DeltaRuleFused, sequence, {rows}, 1);
  for (const size_t first : {1u, 2u, 16u, 63u, 64u, 65u, 66u})
    EXPECT_EQ(Replay(DeltaRuleFused, sequence, {first, 0, rows - first}), whole) << first;
}

INSTANTIATE_TEST_SUITE_P(Shapes, DeltaShapes,
                         ::testing::Values(DeltaShape{2, 4, 128, 128}, DeltaShape{3, 3, 32, 32},
                                           DeltaShape{1, 3, 16, 48}, DeltaShape{1, 1, 48, 16}));

TEST(DeltaRule, SequencesOfOnePassDoNotMix) {
  const DeltaShape shape{2, 4, 32, 32};
  std::vector<DeltaSequence> sequences;
  for (const size_t rows : {1u, 40u, 3u}) sequences.emplace_back(rows, shape, rows, 0.0f);
  for (const Form form : {DeltaRuleFused, DeltaRuleStep}) {
    std::vector<DeltaSequence> together = sequences;
    std::vector<DeltaPart> parts;
    for (DeltaSequence& sequence : together) parts.push_back(sequence.Part(0, sequence.rows()));
    Threads pool(3);
    form(pool, shape, parts);
    for (size_t s = 0; s < sequences.size(); ++s) {
      EXPECT_EQ(together[s].Results(), Replay(DeltaRuleFused, sequences[s], {sequences[s].rows()}))
          << s;
    }
  }
}

// A head that forgets everything at once, and one that forgets nothing.
TEST(DeltaRule, TheEndsOfForgetting) {
  const DeltaShape shape{1, 2, 16, 16};
  DeltaSequence sequence(5, shape, 20, 0.0f);
  for (size_t t = 0; t < 20; ++t) {
    sequence.g(t, 0) = -1000;
    sequence.g(t, 1) = 0;
  }
  DeltaSequence expected = sequence;
  DeltaRuleRef(shape, expected.Part(0, 20));
  const std::vector<float> want = expected.Results();
  const std::vector<float> got = Replay(DeltaRuleFused, sequence, {20});
  for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], want[i], 1e-6) << i;
}

}  // namespace
}  // namespace assay::kernels

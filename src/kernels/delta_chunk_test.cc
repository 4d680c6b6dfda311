#include "kernels/delta_chunk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "testing/delta_sequence.h"

namespace assay::kernels {
namespace {

using ::assay::testing::DeltaSequence;

// Runs a copy of the sequence in pieces; returns its outputs, then its state.
std::vector<float> Replay(size_t chunk, DeltaSequence sequence, const std::vector<size_t>& pieces,
                          size_t threads = 2) {
  const DeltaShape& shape = sequence.shape();
  // What was never kept must never be read into a result.
  std::vector<float> memory(OpenChunkFloats(shape, chunk), NAN);
  Threads pool(threads);
  size_t at = 0;
  for (const size_t rows : pieces) {
    const DeltaChunkPart part{sequence.Part(at, rows), OpenChunkAt(shape, chunk, memory.data()),
                              at % chunk};
    DeltaRuleChunk(pool, shape, chunk, std::span(&part, 1));
    at += rows;
  }
  return sequence.Results();
}

double Largest(const std::vector<float>& a, const std::vector<float>& b, size_t count) {
  double largest = 0;
  for (size_t i = 0; i < count; ++i) {
    const double difference = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    if (!(difference <= largest)) largest = difference;
  }
  return largest;
}

class ChunkShapes : public ::testing::TestWithParam<DeltaShape> {};

// Outputs at every length; the state where the last chunk is full (an open chunk's rows are not in
// it yet).
TEST_P(ChunkShapes, EqualsTheDefinition) {
  for (const size_t chunk : {16u, 48u, 64u, 128u}) {
    for (const size_t rows : {1u, 3u, 63u, 64u, 65u, 256u}) {
      const DeltaSequence sequence(rows, GetParam(), rows, 0.5f);
      DeltaSequence expected = sequence;
      DeltaRuleRef(GetParam(), expected.Part(0, rows));
      const std::vector<float> got = Replay(chunk, sequence, {rows});
      const std::vector<float> want = expected.Results();
      const size_t count = rows % chunk == 0 ? got.size() : rows * GetParam().value_width();
      EXPECT_LE(Largest(got, want, count), 1e-6) << chunk << " " << rows;
    }
  }
}

TEST_P(ChunkShapes, EverySplitHasTheBitsOfTheWhole) {
  const size_t rows = 149;
  const DeltaSequence sequence(4, GetParam(), rows, 0.5f);
  for (const size_t chunk : {16u, 64u, 128u}) {
    const std::vector<float> whole = Replay(chunk, sequence, {rows}, 1);
    for (size_t first = 1; first < rows; ++first) {
      const size_t second = (rows - first) / 2;
      ASSERT_EQ(Replay(chunk, sequence, {first, 0, second, rows - first - second}), whole)
          << chunk << " " << first;
    }
  }
}

TEST_P(ChunkShapes, OneRowAtATimeHasTheBitsOfTheWhole) {
  const size_t rows = 70;
  const DeltaSequence sequence(6, GetParam(), rows, 0.5f);
  EXPECT_EQ(Replay(32, sequence, std::vector<size_t>(rows, 1)), Replay(32, sequence, {rows}));
}

INSTANTIATE_TEST_SUITE_P(Shapes, ChunkShapes,
                         ::testing::Values(DeltaShape{1, 2, 128, 128}, DeltaShape{2, 2, 32, 32},
                                           DeltaShape{1, 3, 16, 48}));

TEST(DeltaChunk, SequencesOfOnePassDoNotMix) {
  const DeltaShape shape{2, 4, 32, 32};
  std::vector<DeltaSequence> sequences;
  for (const size_t rows : {1u, 90u, 64u, 3u}) sequences.emplace_back(rows, shape, rows, 0.0f);
  std::vector<DeltaSequence> together = sequences;
  std::vector<std::vector<float>> memory(together.size());
  std::vector<DeltaChunkPart> parts;
  for (size_t s = 0; s < together.size(); ++s) {
    memory[s].assign(OpenChunkFloats(shape, 64), NAN);
    parts.push_back(
        {together[s].Part(0, together[s].rows()), OpenChunkAt(shape, 64, memory[s].data()), 0});
  }
  Threads pool(3);
  DeltaRuleChunk(pool, shape, 64, parts);
  for (size_t s = 0; s < sequences.size(); ++s)
    EXPECT_EQ(together[s].Results(), Replay(64, sequences[s], {sequences[s].rows()})) << s;
}

// Forgetting so fast that running sums of g would be far from each other.
TEST(DeltaChunk, AHeadThatForgetsFastKeepsItsDigits) {
  const DeltaShape shape{1, 1, 32, 32};
  DeltaSequence sequence(7, shape, 128, 0.5f);
  for (size_t t = 0; t < 128; ++t) sequence.g(t, 0) = t % 3 == 0 ? -300 : -0.01f;
  DeltaSequence expected = sequence;
  DeltaRuleRef(shape, expected.Part(0, 128));
  const std::vector<float> want = expected.Results();
  EXPECT_LE(Largest(Replay(128, sequence, {128}), want, want.size()), 1e-6);
}

using Square = std::vector<std::vector<float>>;

Square Product(const Square& a, const Square& b) {
  const size_t n = a.size();
  Square out(n, std::vector<float>(n));
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < n; ++k) {
      for (size_t j = 0; j < n; ++j) out[i][j] += a[i][k] * b[k][j];
    }
  }
  return out;
}

// The outputs of one chunk from a zero state with the inverse of the triangular matrix made as a
// product of doublings: (I + A)^-1 = (I - A)(I + A^2)(I + A^4)... Exact in theory, and what an
// engine must not do (spec kev 2.6, trap 5).
std::vector<float> ByDoublings(DeltaSequence sequence) {
  const DeltaShape& shape = sequence.shape();
  const size_t n = sequence.rows();
  const DeltaPart part = sequence.Part(0, n);
  const auto dot = [&](const float* a, const float* b) {
    float sum = 0;
    for (size_t k = 0; k < shape.key_dim; ++k) sum += a[k] * b[k];
    return sum;
  };
  Square power(n, std::vector<float>(n)), inverse = power, reads = power;
  for (size_t i = 0; i < n; ++i) {
    float decay = 0;
    for (size_t j = i + 1; j-- > 0; decay += part.g[j][0]) {
      const float* key = part.qkv.row(j) + shape.key_dim;
      const float d = std::exp(decay);
      if (j < i) power[i][j] = -part.beta[i][0] * d * dot(part.qkv.row(i) + shape.key_dim, key);
      reads[i][j] = d * dot(part.qkv.row(i), key);
      inverse[i][j] = power[i][j] + (i == j ? 1.0f : 0.0f);
    }
  }
  for (size_t covered = 2; covered < n; covered *= 2) {
    power = Product(power, power);
    Square factor = power;
    for (size_t i = 0; i < n; ++i) factor[i][i] += 1;
    inverse = Product(factor, inverse);
  }
  const Square all = Product(reads, inverse);
  for (size_t i = 0; i < n; ++i) {
    for (size_t c = 0; c < shape.value_dim; ++c) {
      float sum = 0;
      for (size_t j = 0; j < n; ++j)
        sum += all[i][j] * part.beta[j][0] * part.qkv[j][2 * shape.key_dim + c];
      part.out[i][c] = sum;
    }
  }
  return sequence.Results();
}

// Real text has correlated keys (spec kev 2.6). There the forms of this engine stay at rounding
// noise at every size, and the doubling product is lost from 32 on.
TEST(DeltaChunk, CorrelatedKeysBreakTheDoublingProductAndNotTheSolve) {
  const DeltaShape shape{1, 1, 128, 128};
  for (const size_t chunk : {16u, 32u, 64u, 128u}) {
    DeltaSequence sequence(chunk, shape, chunk, 2.0f);
    sequence.StartAtZero();
    for (size_t t = 0; t < chunk; ++t) sequence.g(t, 0) = -1e-3f;
    for (size_t t = 0; t < chunk; ++t) sequence.beta(t, 0) = 0.95f;
    DeltaSequence expected = sequence;
    DeltaRuleRef(shape, expected.Part(0, chunk));
    const std::vector<float> want = expected.Results();
    const size_t outputs = chunk * shape.value_width();
    EXPECT_LE(Largest(Replay(chunk, sequence, {chunk}), want, want.size()), 1e-5) << chunk;
    DeltaSequence fused = sequence;
    Threads pool(1);
    const DeltaPart part = fused.Part(0, chunk);
    DeltaRuleFused(pool, shape, std::span(&part, 1));
    EXPECT_LE(Largest(fused.Results(), want, want.size()), 1e-5) << chunk;
    const double doubled = Largest(ByDoublings(sequence), want, outputs);
    if (chunk >= 32) {
      EXPECT_GT(doubled, 1e-3) << chunk;
    } else {
      EXPECT_LE(doubled, 1e-3) << chunk;  // the product itself is the right one
    }
  }
}

}  // namespace
}  // namespace assay::kernels

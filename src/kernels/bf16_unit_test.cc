#include "kernels/bf16_unit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "base/aligned.h"
#include "base/bf16.h"
#include "testing/random.h"

namespace assay::kernels {
namespace {

using ::assay::testing::Random;

// A random block of two strips and two tiles with room for its sums.
class RandomBlock {
 public:
  RandomBlock(size_t steps, size_t terms, uint64_t seed)
      : weights_(2 * kBf16Strip * steps * kBf16Step * sizeof(uint16_t) + 1),
        x_(AlignedArray<uint16_t>(2 * steps * terms * kBf16StepValues)),
        sums_(AlignedArray<float>(4 * kBf16Sums)) {
    Random random(seed);
    // At an odd address: a checkpoint's rows may lie anywhere.
    for (size_t at = 1; at + 1 < weights_.size(); at += 2) {
      const uint16_t value = Bits(random);
      std::memcpy(weights_.data() + at, &value, sizeof value);
    }
    for (size_t i = 0; i < 2 * steps * terms * kBf16StepValues; ++i) x_[i] = Bits(random);
    for (size_t i = 0; i < 4 * kBf16Sums; ++i) sums_[i] = random.Uniform(-1, 1);
    block_.row_bytes = steps * kBf16Step * sizeof(uint16_t);
    block_.step_bytes = kBf16Step * sizeof(uint16_t);
    block_.strips = block_.tiles = 2;
    block_.steps = steps;
    block_.terms = terms;
    for (size_t i = 0; i < 2; ++i) {
      block_.weights[i] = weights_.data() + 1 + i * kBf16Strip * block_.row_bytes;
      block_.x[i] = x_.get() + i * steps * terms * kBf16StepValues;
      for (size_t j = 0; j < 2; ++j) block_.sums[i][j] = sums_.get() + (2 * i + j) * kBf16Sums;
    }
  }

  Bf16Block& block() { return block_; }
  std::vector<float> Run(const Bf16Unit& unit) {
    unit.begin();
    unit.multiply(block_);
    unit.end();
    return {sums_.get(), sums_.get() + 4 * kBf16Sums};
  }

  // Weight row m of strip i times row n of tile j, all terms, in float64; and its magnitudes.
  double Exact(size_t i, size_t m, size_t j, size_t n, double* magnitude) const {
    double sum = 0;
    *magnitude = 0;
    for (size_t s = 0; s < block_.steps; ++s) {
      for (size_t t = 0; t < block_.terms; ++t) {
        for (size_t k = 0; k < kBf16Step; ++k) {
          uint16_t weight;
          std::memcpy(&weight,
                      block_.weights[i] + m * block_.row_bytes + s * block_.step_bytes + 2 * k, 2);
          const uint16_t x = block_.x[j][(s * block_.terms + t) * kBf16StepValues +
                                         (k / 2) * 2 * kBf16Tile + 2 * n + k % 2];
          const double product = static_cast<double>(Widen(static_cast<Bf16>(weight))) *
                                 static_cast<double>(Widen(static_cast<Bf16>(x)));
          sum += product;
          *magnitude += std::abs(product);
        }
      }
    }
    return sum;
  }

 private:
  static uint16_t Bits(Random& random) {
    return static_cast<uint16_t>(NarrowToBf16(random.Uniform(-1, 1)));
  }

  std::vector<char> weights_;
  Aligned<uint16_t> x_;
  Aligned<float> sums_;
  Bf16Block block_;
};

std::vector<const Bf16Unit*> Units() {
  std::vector<const Bf16Unit*> out = {&TileUnitRef()};
  if (MachineHasTiles()) out.push_back(&TileUnit());
  if (MachineHasBf16Dot()) out.push_back(&DotUnit());
  return out;
}

TEST(Bf16Unit, EveryUnitMultipliesRowsByRows) {
  for (const Bf16Unit* unit : Units()) {
    for (const size_t steps : {1u, 7u, 8u, 9u, 20u}) {
      RandomBlock work(steps, 2, steps);
      const std::vector<float> sums = work.Run(*unit);
      for (size_t at = 0; at < sums.size(); ++at) {
        const size_t m = at / kBf16Tile % kBf16Strip;
        double magnitude = 0;
        const double exact =
            work.Exact(at / (2 * kBf16Sums), m, at / kBf16Sums % 2, at % kBf16Tile, &magnitude);
        ASSERT_NEAR(sums[at], exact, magnitude * 0x1p-24 * 300) << unit->name << " " << at;
      }
    }
  }
}

TEST(Bf16Unit, AddsToTheSumsOnlyWhenAsked) {
  for (const Bf16Unit* unit : Units()) {
    RandomBlock work(4, 1, 5);
    const std::vector<float> once = work.Run(*unit);
    work.block().add = true;
    const std::vector<float> twice = work.Run(*unit);
    for (size_t i = 0; i < once.size(); ++i) {
      ASSERT_NEAR(twice[i], 2 * once[i], 1e-5f) << unit->name;
    }
  }
}

// However a block is cut, a sum has the same bits.
TEST(Bf16Unit, StripsTilesAndCutsChangeNoBit) {
  for (const Bf16Unit* unit : Units()) {
    RandomBlock work(2 * kBf16Chunk + 3, 3, 9);
    const std::vector<float> whole = work.Run(*unit);
    const Bf16Block all = work.block();
    RandomBlock cut(2 * kBf16Chunk + 3, 3, 9);
    unit->begin();
    for (size_t i = 0; i < 2; ++i) {
      for (size_t j = 0; j < 2; ++j) {
        for (size_t s = 0; s < all.steps; s += kBf16Chunk) {
          Bf16Block one = cut.block();
          one.strips = one.tiles = 1;
          one.weights[0] = cut.block().weights[i] + s * all.step_bytes;
          one.x[0] = cut.block().x[j] + s * all.terms * kBf16StepValues;
          one.sums[0][0] = cut.block().sums[i][j];
          one.steps = std::min(kBf16Chunk, all.steps - s);
          one.add = s > 0;
          unit->multiply(one);
        }
      }
    }
    unit->end();
    EXPECT_EQ(std::memcmp(whole.data(), cut.block().sums[0][0], whole.size() * sizeof(float)), 0)
        << unit->name;
  }
}

// The reference is the unit's published arithmetic, to the last bit.
TEST(Bf16Unit, TheTileUnitIsItsReference) {
  if (!MachineHasTiles()) GTEST_SKIP() << "this CPU has no tile unit";
  for (const size_t steps : {1u, 5u, 40u}) {
    RandomBlock one(steps, 3, steps);
    RandomBlock other(steps, 3, steps);
    EXPECT_EQ(one.Run(TileUnit()), other.Run(TileUnitRef())) << steps;
  }
}

}  // namespace
}  // namespace assay::kernels

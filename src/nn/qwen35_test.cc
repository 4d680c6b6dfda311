#include "nn/qwen35.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "testing/qwen35_plain.h"

namespace assay::nn {
namespace {

constexpr size_t kHidden = 128;
constexpr DeltaForm kFused;
constexpr DeltaForm kStep{DeltaForm::Kind::kStep};
constexpr DeltaForm kChunk16{DeltaForm::Kind::kChunk, 16};
constexpr DeltaForm kChunk64{DeltaForm::Kind::kChunk, 64};

std::vector<int32_t> Ids(size_t count, uint64_t seed) {
  testing::Random random(seed);
  std::vector<int32_t> ids(count);
  for (int32_t& id : ids) id = static_cast<int32_t>(random.Below(50));
  return ids;
}

// Runs ids on a state; all hidden rows come back.
std::vector<float> Continue(const Decoder& decoder, State& state, std::span<const int32_t> ids,
                            ForwardOptions options = {}) {
  std::vector<size_t> wanted(ids.size());
  for (size_t i = 0; i < wanted.size(); ++i) wanted[i] = i;
  std::vector<float> hidden(ids.size() * kHidden);
  Segment segment{&state, ids, wanted, {hidden.data(), ids.size(), kHidden}};
  Threads threads(2);
  decoder.Forward(threads, std::span(&segment, 1), options);
  return hidden;
}

std::vector<float> RowsFrom(const std::vector<float>& rows, size_t first, size_t count) {
  const auto at = rows.begin() + static_cast<ptrdiff_t>(first * kHidden);
  return {at, at + static_cast<ptrdiff_t>(count * kHidden)};
}

std::vector<float> Whole(const Decoder& decoder, std::span<const int32_t> ids,
                         ForwardOptions options = {}) {
  State state(decoder.state_shape());
  return Continue(decoder, state, ids, options);
}

class Qwen35Forms : public ::testing::TestWithParam<DeltaForm> {};

TEST_P(Qwen35Forms, EqualsTheSpecificationWrittenOutInFloat64) {
  const Qwen35Toy toy(1);
  const auto decoder = toy.Make(GetParam());
  // A row does not see those after it, so the rows of a shorter run are those of the longest.
  const std::vector<int32_t> ids = Ids(200, 3);
  const Qwen35Plain::Rows expected = Qwen35Plain(toy).Run(ids);
  for (const size_t count : {1u, 3u, 63u, 64u, 65u, 200u}) {
    const std::vector<float> got = Whole(*decoder, std::span(ids).first(count));
    for (size_t t = 0; t < count; ++t) {
      for (size_t i = 0; i < kHidden; ++i)
        ASSERT_NEAR(got[t * kHidden + i], expected[t][i], 2e-5) << count << " " << t;
    }
  }
}

TEST_P(Qwen35Forms, PassesOfAnySizeHaveTheBitsOfOne) {
  const Qwen35Toy toy(2);
  const auto decoder = toy.Make(GetParam());
  for (const size_t count : {1u, 3u, 63u, 64u, 65u, 200u}) {
    const std::vector<int32_t> ids = Ids(count, 9);
    const std::vector<float> whole = Whole(*decoder, ids);
    for (const size_t chunk : {17u, 64u})
      EXPECT_EQ(Whole(*decoder, ids, {chunk, 512}), whole) << chunk << " " << count;
    EXPECT_EQ(Whole(*decoder, ids, {0, 7}), whole) << count;
  }
}

TEST_P(Qwen35Forms, AForkAtEveryPositionHasTheBitsOfTheWholeRow) {
  const Qwen35Toy toy(3);
  const auto decoder = toy.Make(GetParam());
  const std::vector<int32_t> ids = Ids(67, 4);
  const std::vector<float> whole = Whole(*decoder, ids);
  State trunk(decoder->state_shape());
  for (size_t at = 0; at < ids.size(); ++at) {
    State branch = trunk.Fork();
    const std::vector<float> rest = Continue(*decoder, branch, std::span(ids).subspan(at));
    ASSERT_EQ(rest, RowsFrom(whole, at, ids.size() - at)) << at;
    Continue(*decoder, trunk, std::span(ids).subspan(at, 1));
  }
}

TEST_P(Qwen35Forms, StrangersInThePassChangeNoBit) {
  const Qwen35Toy toy(4);
  const auto decoder = toy.Make(GetParam());
  const std::vector<size_t> lengths = {1, 40, 3, 65, 2};
  for (const size_t chunk : {0u, 16u}) {
    std::vector<std::vector<int32_t>> ids;
    std::vector<State> states;
    std::vector<std::vector<size_t>> wanted;
    std::vector<std::vector<float>> hidden;
    for (size_t s = 0; s < lengths.size(); ++s) {
      ids.push_back(Ids(lengths[s], s + 20));
      states.emplace_back(decoder->state_shape());
      wanted.push_back(lengths[s] > 1 ? std::vector<size_t>{0, lengths[s] - 1}
                                      : std::vector<size_t>{0});
      hidden.emplace_back(wanted[s].size() * kHidden);
    }
    std::vector<Segment> segments;
    for (size_t s = 0; s < lengths.size(); ++s) {
      segments.push_back(
          {&states[s], ids[s], wanted[s], {hidden[s].data(), wanted[s].size(), kHidden}});
    }
    Threads threads(3);
    decoder->Forward(threads, segments, {chunk, 50});
    for (size_t s = 0; s < lengths.size(); ++s) {
      const std::vector<float> alone = Whole(*decoder, ids[s]);
      for (size_t w = 0; w < wanted[s].size(); ++w) {
        ASSERT_EQ(RowsFrom(hidden[s], w, 1), RowsFrom(alone, wanted[s][w], 1))
            << "segment " << s << " row " << wanted[s][w];
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, Qwen35Forms, ::testing::Values(kFused, kStep, kChunk16, kChunk64));

TEST(Qwen35, StepHasTheBitsOfFused) {
  const Qwen35Toy toy(5);
  const std::vector<int32_t> ids = Ids(130, 6);
  EXPECT_EQ(Whole(*toy.Make(kStep), ids), Whole(*toy.Make(kFused), ids));
}

TEST(Qwen35, NamesEveryLinearLayerAsAnAdapterDoes) {
  Qwen35Toy toy(1);
  const std::vector<Qwen35Module> modules = Qwen35Modules(toy.shape, toy.weights);
  ASSERT_EQ(modules.size(), 6u * 8 + 2 * 7);
  std::vector<std::string> names;
  for (size_t i = 3 * 8 - 3; i < 3 * 8 + 4; ++i) names.push_back(modules[i].name);
  EXPECT_THAT(names, ::testing::ElementsAre(
                         "layers.2.mlp.gate_proj", "layers.2.mlp.up_proj", "layers.2.mlp.down_proj",
                         "layers.3.self_attn.q_proj", "layers.3.self_attn.k_proj",
                         "layers.3.self_attn.v_proj", "layers.3.self_attn.o_proj"));
  EXPECT_EQ(modules[24].outputs(), 256u);
  EXPECT_EQ(modules[24].inputs(), 128u);
  EXPECT_EQ(modules[0].name, "layers.0.linear_attn.in_proj_qkv");
  EXPECT_EQ(modules[4].name, "layers.0.linear_attn.out_proj");
  modules[4].linear->low_rank.reset();
  EXPECT_FALSE(toy.weights.layers[0].delta.out_proj.low_rank);
}

TEST(Qwen35, CountsTheMatricesOfAdaptersToo) {
  const Qwen35Toy toy(1);
  EXPECT_EQ(toy.Make()->linear_weights().size(), 3u * (6 * 8 + 2 * 7));
}

TEST(Qwen35, PassBytesCountEveryMatrixAndDoNotOverflow) {
  Qwen35Shape shape = Qwen35Toy(1).shape;
  // Residual and normed rows; the delta rule's widths; the packed copy of the widest inputs; the
  // inner rows of adapters.
  const size_t floats = 2 * 128 + 2 * (320 + 192) + 3 * 4 + (192 + 32) + 8 * 4;
  EXPECT_EQ(Qwen35PassBytes(shape, 4, 10), 10 * floats * sizeof(float));
  shape.delta = {size_t{1} << 20, size_t{1} << 20, size_t{1} << 20, size_t{1} << 20};
  EXPECT_EQ(Qwen35PassBytes(shape, 4, size_t{1} << 30), std::numeric_limits<size_t>::max());
}

// The published 0.8B shape (spec kev 2.7): states and conv tails take 20,201,472 bytes.
TEST(Qwen35, AStateOfThePublishedShapeHasItsPublishedSize) {
  Qwen35Shape shape;
  shape.heads = 8;
  shape.kv_heads = 2;
  shape.head_dim = 256;
  shape.conv_taps = 4;
  shape.delta = {16, 16, 128, 128};
  for (size_t n = 0; n < 24; ++n) shape.layer_is_attention.push_back(n % 4 == 3);
  EXPECT_EQ(State::BytesFor(Qwen35StateShape(shape, kFused), 0), 20'201'472u);
  EXPECT_EQ(State::BytesFor(Qwen35StateShape(shape, kFused), 128), 20'201'472u + 128 * 24'576);
}

}  // namespace
}  // namespace assay::nn

#include "nn/state.h"

#include <gtest/gtest.h>

#include <limits>

namespace assay::nn {
namespace {

StateShape Shape() {
  StateShape shape;
  shape.attention_layers = 2;
  shape.attention = {4, 2, 8};
  shape.conv_layers = 3;
  shape.conv_columns = 2;
  shape.conv_channels = 5;
  return shape;
}

TEST(State, AForkSharesWholePagesAndOwnsTheRest) {
  State parent(Shape());
  parent.Extend(64 + 10);
  const size_t page = Shape().page_floats() * sizeof(float);
  EXPECT_EQ(parent.bytes(), 2 * page + 30 * sizeof(float));
  const State fork = parent.Fork();
  EXPECT_EQ(fork.positions(), 74u);
  EXPECT_EQ(fork.own_bytes(), page + 30 * sizeof(float));
  EXPECT_EQ(State::BytesFor(Shape(), 74), parent.bytes());
}

TEST(State, WritesAfterAForkStayOnTheirSide) {
  State parent(Shape());
  parent.Extend(70);
  parent.Pages(1)[1].keys[3] = 1;
  parent.Columns(2)[1][4] = 1;
  State fork = parent.Fork();
  fork.Extend(5);
  fork.Pages(1)[1].keys[3] = 2;
  fork.Columns(2)[1][4] = 2;
  EXPECT_EQ(parent.positions(), 70u);
  EXPECT_EQ(parent.Pages(1)[1].keys[3], 1);
  EXPECT_EQ(parent.Columns(2)[1][4], 1);
  EXPECT_EQ(fork.Pages(1)[1].keys[3], 2);
  EXPECT_EQ(fork.Columns(2)[1][4], 2);
  EXPECT_EQ(fork.Pages(1)[0].keys, parent.Pages(1)[0].keys);
}

TEST(State, ShapesThatOverflowNeedTheLargestNumberOfBytes) {
  constexpr size_t kLargest = std::numeric_limits<size_t>::max();
  StateShape shape = Shape();
  EXPECT_EQ(State::BytesFor(shape, kLargest), kLargest);
  shape.attention = {1 << 20, 1 << 20, 1 << 20};
  EXPECT_EQ(State::BytesFor(shape, size_t{1} << 30), kLargest);
}

TEST(State, LayersDoNotOverlap) {
  State state(Shape());
  state.Extend(1);
  const size_t part = Shape().attention.page_floats();
  const kernels::KvPageView first = state.Pages(0)[0], second = state.Pages(1)[0];
  EXPECT_EQ(first.values, first.keys + part);
  EXPECT_EQ(second.keys, first.values + part);
  EXPECT_EQ(state.Columns(1).data(), state.Columns(0).data() + 10);
}

}  // namespace
}  // namespace assay::nn

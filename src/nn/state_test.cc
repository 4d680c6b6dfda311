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

// A decoder with delta-rule layers: 2 key heads and 4 value heads of 16, chunks of 32.
StateShape DeltaShape() {
  StateShape shape = Shape();
  shape.delta_layers = 2;
  shape.delta = {2, 4, 16, 16};
  shape.delta_chunk = 32;
  return shape;
}

TEST(State, CountsMatricesAndOpenRows) {
  State state(DeltaShape());
  state.Extend(70);
  const size_t fixed = 30 + 2 * (4 * 16 * 16) + 2 * 32 * (2 * 16 + 4 * 16 + 4);
  EXPECT_EQ(state.bytes(), (2 * Shape().page_floats() + fixed) * sizeof(float));
  EXPECT_EQ(state.own_bytes(), state.bytes());
  EXPECT_EQ(State::BytesFor(DeltaShape(), 70), state.bytes());
  const State fork = state.Fork();
  EXPECT_EQ(fork.own_bytes(), (Shape().page_floats() + fixed) * sizeof(float));
}

TEST(State, AForkHasMatricesAndOpenRowsOfItsOwn) {
  State parent(DeltaShape());
  parent.Matrices(1)[1023] = 1;
  parent.OpenRows(1).g[31][3] = 1;
  State fork = parent.Fork();
  EXPECT_EQ(fork.Matrices(1)[1023], 1);
  EXPECT_EQ(fork.OpenRows(1).g[31][3], 1);
  fork.Matrices(1)[1023] = 2;
  fork.OpenRows(1).g[31][3] = 2;
  EXPECT_EQ(parent.Matrices(1)[1023], 1);
  EXPECT_EQ(parent.OpenRows(1).g[31][3], 1);
  EXPECT_EQ(parent.Matrices(1), parent.Matrices(0) + DeltaShape().delta.state_floats());
  EXPECT_EQ(parent.OpenRows(1).keys.data(), &parent.OpenRows(0).g[31][3] + 1);
  EXPECT_EQ(parent.OpenRows(1).deltas.data(), &parent.OpenRows(1).keys[31][31] + 1);
}

TEST(State, MatricesThatOverflowNeedTheLargestNumberOfBytes) {
  StateShape shape = DeltaShape();
  shape.delta = {1, size_t{1} << 40, size_t{1} << 40, 16};
  EXPECT_EQ(State::BytesFor(shape, 1), std::numeric_limits<size_t>::max());
}

}  // namespace
}  // namespace assay::nn

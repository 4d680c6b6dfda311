#include "nn/state.h"

#include "base/check.h"
#include "base/sizes.h"

namespace assay::nn {

using kernels::kPagePositions;

State::State(const StateShape& shape)
    : shape_(shape),
      columns_(shape.conv_layers * shape.conv_columns * shape.conv_channels, 0.0f),
      matrices_(shape.delta_layers * shape.delta.state_floats(), 0.0f),
      open_rows_(shape.delta_layers * kernels::OpenChunkFloats(shape.delta, shape.delta_chunk),
                 0.0f) {}

State State::Fork() const {
  State fork(*this);
  if (positions_ % kPagePositions != 0) fork.pages_.back() = std::make_shared<Page>(*pages_.back());
  return fork;
}

void State::Extend(size_t count) {
  positions_ += count;
  while (pages_.size() * kPagePositions < positions_) {
    pages_.push_back(std::make_shared<Page>(shape_.page_floats(), 0.0f));
  }
}

std::vector<kernels::KvPageView> State::Pages(size_t attention_layer) {
  ASSAY_CHECK(attention_layer < shape_.attention_layers);
  const size_t part = shape_.attention.page_floats();
  std::vector<kernels::KvPageView> views;
  views.reserve(pages_.size());
  for (const auto& page : pages_) {
    float* keys = page->data() + attention_layer * 2 * part;
    views.push_back({keys, keys + part});
  }
  return views;
}

View2<float> State::Columns(size_t conv_layer) {
  ASSAY_CHECK(conv_layer < shape_.conv_layers);
  const size_t layer_floats = shape_.conv_columns * shape_.conv_channels;
  return {columns_.data() + conv_layer * layer_floats, shape_.conv_columns, shape_.conv_channels};
}

float* State::Matrices(size_t delta_layer) {
  ASSAY_CHECK(delta_layer < shape_.delta_layers);
  return matrices_.data() + delta_layer * shape_.delta.state_floats();
}

kernels::OpenChunk State::OpenRows(size_t delta_layer) {
  ASSAY_CHECK(delta_layer < shape_.delta_layers && shape_.delta_chunk > 0);
  const size_t floats = kernels::OpenChunkFloats(shape_.delta, shape_.delta_chunk);
  return kernels::OpenChunkAt(shape_.delta, shape_.delta_chunk,
                              open_rows_.data() + delta_layer * floats);
}

std::vector<std::span<float>> State::Pieces() {
  std::vector<std::span<float>> pieces;
  for (const auto& page : pages_) pieces.emplace_back(*page);
  pieces.emplace_back(columns_);
  pieces.emplace_back(matrices_);
  pieces.emplace_back(open_rows_);
  std::erase_if(pieces, [](std::span<float> piece) { return piece.empty(); });
  return pieces;
}

size_t State::bytes() const {
  return (pages_.size() * shape_.page_floats() + fixed_floats()) * sizeof(float);
}

size_t State::own_bytes() const {
  size_t floats = fixed_floats();
  for (const auto& page : pages_) floats += page.use_count() == 1 ? page->size() : 0;
  return floats * sizeof(float);
}

size_t State::BytesFor(const StateShape& shape, size_t positions) {
  const size_t pages = positions / kPagePositions + (positions % kPagePositions != 0 ? 1 : 0);
  const size_t kept =
      SaturatingProduct(pages, size_t{2}, shape.attention_layers, shape.attention.kv_heads,
                        shape.attention.head_dim, kPagePositions);
  const size_t columns =
      SaturatingProduct(shape.conv_layers, shape.conv_columns, shape.conv_channels);
  const kernels::DeltaShape& delta = shape.delta;
  const size_t values = SaturatingProduct(delta.value_heads, delta.value_dim);
  const size_t matrices = SaturatingProduct(values, delta.key_dim);
  const size_t open_row =
      SaturatingSum(SaturatingProduct(delta.key_heads, delta.key_dim), values, delta.value_heads);
  const size_t rules = SaturatingProduct(
      shape.delta_layers, SaturatingSum(matrices, SaturatingProduct(shape.delta_chunk, open_row)));
  return SaturatingProduct(SaturatingSum(kept, columns, rules), sizeof(float));
}

}  // namespace assay::nn

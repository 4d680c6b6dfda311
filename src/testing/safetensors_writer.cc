#include "testing/safetensors_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>

#include "base/bf16.h"
#include "base/json.h"

namespace assay::testing {
namespace {

template <typename T>
std::string BytesOf(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

}  // namespace

SafetensorsWriter& SafetensorsWriter::Add(std::string_view name, std::string_view dtype,
                                          std::vector<uint64_t> shape, const std::string& bytes) {
  entries_.push_back(fmt::format(R"({}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                                 json::Quote(name), dtype, fmt::join(shape, ","), data_.size(),
                                 data_.size() + bytes.size()));
  data_ += bytes;
  return *this;
}

SafetensorsWriter& SafetensorsWriter::AddF32(std::string_view name, std::vector<uint64_t> shape,
                                             std::span<const float> values) {
  return Add(name, "F32", std::move(shape), BytesOf(values));
}

SafetensorsWriter& SafetensorsWriter::AddBf16(std::string_view name, std::vector<uint64_t> shape,
                                              std::span<const float> values) {
  std::vector<Bf16> narrow;
  for (const float value : values) narrow.push_back(NarrowToBf16(value));
  return Add(name, "BF16", std::move(shape), BytesOf(std::span<const Bf16>(narrow)));
}

SafetensorsWriter& SafetensorsWriter::AddZeros(std::string_view name, std::vector<uint64_t> shape) {
  uint64_t count = 1;
  for (const uint64_t dimension : shape) count *= dimension;
  return Add(name, "BF16", std::move(shape), std::string(count * 2, '\0'));
}

SafetensorsWriter& SafetensorsWriter::Metadata(std::string_view key, std::string_view value) {
  metadata_.emplace_back(key, value);
  return *this;
}

std::string SafetensorsWriter::Bytes() const {
  std::vector<std::string> parts;
  if (!metadata_.empty()) {
    std::vector<std::string> pairs;
    for (const auto& [key, value] : metadata_) {
      pairs.push_back(fmt::format("{}:{}", json::Quote(key), json::Quote(value)));
    }
    parts.push_back(fmt::format(R"("__metadata__":{{{}}})", fmt::join(pairs, ",")));
  }
  parts.insert(parts.end(), entries_.begin(), entries_.end());
  return WithHeader(fmt::format("{{{}}}", fmt::join(parts, ",")), data_);
}

std::string WithHeader(std::string_view header, std::string_view data) {
  // Padded to eight bytes, as the reference writer does.
  std::string text(header);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const uint64_t length = text.size();
  std::string out(sizeof length, '\0');
  std::memcpy(out.data(), &length, sizeof length);
  return out + text + std::string(data);
}

}  // namespace assay::testing

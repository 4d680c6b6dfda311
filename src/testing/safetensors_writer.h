// Makes small safetensors files for tests, sound ones and, through WithHeader, spoiled ones.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::testing {

class SafetensorsWriter {
 public:
  // `bytes` must fit shape and dtype; nothing is checked here.
  SafetensorsWriter& Add(std::string_view name, std::string_view dtype, std::vector<uint64_t> shape,
                         const std::string& bytes);
  SafetensorsWriter& AddF32(std::string_view name, std::vector<uint64_t> shape,
                            std::span<const float> values);
  SafetensorsWriter& AddBf16(std::string_view name, std::vector<uint64_t> shape,
                             std::span<const float> values);
  // A BF16 tensor full of zeros, for tests of names and shapes.
  SafetensorsWriter& AddZeros(std::string_view name, std::vector<uint64_t> shape);
  SafetensorsWriter& Metadata(std::string_view key, std::string_view value);

  // The whole file.
  std::string Bytes() const;

 private:
  std::vector<std::string> entries_;
  std::vector<std::pair<std::string, std::string>> metadata_;
  std::string data_;
};

// A file from a literal header and data, with the right length field.
std::string WithHeader(std::string_view header, std::string_view data);

}  // namespace assay::testing

// The JSON header of a safetensors file as text, before any number in it is trusted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/dtype.h"

namespace assay::formats {

struct HeaderTensor {
  std::string name;
  Dtype dtype = Dtype::kF32;
  std::vector<uint64_t> shape;
  uint64_t begin = 0;  // in bytes after the header; not checked against anything yet
  uint64_t end = 0;
};

struct Header {
  std::vector<HeaderTensor> tensors;  // file order, names all different
  std::vector<std::pair<std::string, std::string>> metadata;
};

// Parses and checks the form: types, known dtypes, whole numbers that fit 64 bits, no repeated
// names. `file_name` goes into Error(kModel, ...). Never nests, so depth needs no limit.
Header ParseHeader(std::string_view text, std::string_view file_name);

}  // namespace assay::formats

// One safetensors file, mapped read-only. The header is hostile input: every number is checked
// before it is used. Rules: the format page and the reference implementation of safetensors, and
// where those differ or are silent the stricter reading:
//  * the header starts with '{' and holds nothing after the object but white space;
//  * no name, no key of an entry and no __metadata__ key appears twice (the reference keeps one);
//  * an entry has exactly dtype, shape and data_offsets (the reference skips unknown keys);
//  * at most kMaxDimensions dimensions (the reference has no limit).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "formats/dtype.h"

namespace assay::formats {

inline constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // the format's own limit
inline constexpr size_t kMaxDimensions = 32;

// A tensor as stored: little-endian, row-major, outermost dimension first. An empty shape is one
// element. `bytes` is borrowed from the file's mapping and may start at any address (see
// IsAligned).
struct Tensor {
  std::string name;
  Dtype dtype = Dtype::kF32;
  std::vector<uint64_t> shape;
  std::span<const std::byte> bytes;

  // Product of the shape; cannot overflow, because the file was checked.
  uint64_t elements() const;
};

// "[2048, 1, 3]", for messages.
std::string ShapeText(std::span<const uint64_t> shape);

// True when the bytes may be read in place as elements of `element_bytes`. Files of the reference
// writer always are; a foreign writer's need not be.
bool IsAligned(const Tensor& tensor, size_t element_bytes);

// out[i] = element first + i of an F32, F16 or BF16 tensor, widened exactly; any alignment.
// [first, first + out.size()) must lie inside the tensor, and the dtype must be one of the three:
// the tensor table has checked it (a programmer's error otherwise).
void WidenTo(const Tensor& tensor, uint64_t first, std::span<float> out);

// An immutable, checked file. Movable; tensors stay where they are when it is moved.
class SafetensorsFile {
 public:
  // Throws Error(kModel, "FILE: TENSOR" or "FILE", what is wrong, what would be right). A Git LFS
  // pointer, a web page or a zip under this name is called what it is.
  explicit SafetensorsFile(const std::filesystem::path& path);

  // Null when there is no such tensor.
  const Tensor* Find(std::string_view name) const;
  // Sorted by name (bytes, not locale).
  const std::vector<Tensor>& tensors() const { return tensors_; }
  // __metadata__, in file order; empty when absent.
  const std::vector<std::pair<std::string, std::string>>& metadata() const { return metadata_; }

  // The file's own name, without its folder.
  const std::string& name() const { return name_; }
  const std::filesystem::path& path() const { return path_; }
  // The whole file, header included.
  std::span<const std::byte> file_bytes() const { return file_.bytes(); }

 private:
  std::filesystem::path path_;
  std::string name_;
  MappedFile file_;
  std::vector<Tensor> tensors_;
  std::vector<std::pair<std::string, std::string>> metadata_;
};

}  // namespace assay::formats

// A file of torch.save (spec kev 1.6): a zip with one folder that holds data.pkl and the storages
// data/0, data/1, ... The whole file is hostile input; pickle.h says what a pickle may do.
//
// Rules that are ours (all refusals are Error(kModel)):
//  * Exactly one FOLDER/data.pkl; the folder may have any name. `byteorder`, when there, says
//  little.
//  * A storage has exactly the bytes that its type and count ask for, and every use of it agrees on
//  both.
//  * Every element of a tensor lies inside its storage. Strides of any kind are applied,
//  overlapping ones
//    too, two tensors may share a storage, and members may be deflated: torch reads all of these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "formats/pickle.h"

namespace assay::formats {

// Of all tensors together, and of all storages together. The head of the largest published model
// has 2.6 million elements.
inline constexpr uint64_t kMaxTorchElements = uint64_t{1} << 25;
inline constexpr uint64_t kMaxTorchStorageBytes = uint64_t{1} << 28;

// Row-major and contiguous. F32, F16 and BF16 storages are converted exactly, F64 rounded once to
// the nearest (past the float range: infinite).
struct TorchTensor {
  std::vector<uint64_t> shape;  // outermost first; empty is one element
  std::vector<float> values;
};

struct TorchFile {
  PickleValue root;
  std::vector<TorchTensor> tensors;  // PickleValue::tensor counts these
};

// Throws Error(kModel, "FILE" or "FILE: MEMBER", what is wrong, what would be right).
TorchFile ReadTorchFile(const std::filesystem::path& path);
// The same for a file in memory; `name` is its name in errors.
TorchFile ParseTorchFile(std::span<const std::byte> bytes, std::string_view name);

}  // namespace assay::formats

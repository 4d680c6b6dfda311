// The families that assay knows, one row each.
#pragma once

#include <filesystem>
#include <memory>

#include "families/family.h"

namespace assay::families {

struct LoadOptions {
  size_t max_row = 0;  // 0 = the family's own limit
  size_t threads = 1;  // that will run it: they count when memory is predicted
  kernels::Compute compute = {};  // how linear layers form their products
};

// Opens a model folder with the family that its config.json names. Throws Error(kModel); an unknown
// family is named, with those that are known.
std::unique_ptr<Family> LoadFamily(const std::filesystem::path& folder, const LoadOptions& options);

}  // namespace assay::families

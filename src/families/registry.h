// The families that assay knows, one row each.
#pragma once

#include <filesystem>
#include <memory>

#include "families/family.h"

namespace assay::families {

struct LoadOptions {
  size_t max_row = 0;             // 0 = the family's own limit
  size_t threads = 1;             // that will run it: they count when memory is predicted
  kernels::Compute compute = {};  // how linear layers form their products
  // Of Kev alone; another family refuses what is not the default.
  std::filesystem::path base = {};  // the base model's folder; empty: looked for
  std::string merge = "none";       // or the adapter goes into weights of f32 or bf16
  std::string delta = "fused";      // or step, chunk16 to chunk128
  bool date_facts = false;          // say what the state's dates are to each other
};

// Opens a model folder with the family that its config.json names. Throws Error(kModel); an unknown
// family is named, with those that are known.
std::unique_ptr<Family> LoadFamily(const std::filesystem::path& folder, const LoadOptions& options);

}  // namespace assay::families

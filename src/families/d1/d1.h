// The d1 family: LFM2.5-VL, one row per question, read off a few option tokens at the row's last
// position (spec d1).
#pragma once

#include <filesystem>
#include <memory>

#include "families/family.h"

namespace assay::families::d1 {

struct Options {
  size_t max_row = 0;  // longest padded row; 0 = the maker's port's 4,096 or the model's context if
                       // that is shorter
  size_t threads = 1;  // for the prediction of memory
  kernels::Compute compute = {};
};

// Opens a checkpoint folder. Throws Error(kModel), also when the process may not take the memory
// that it predicts, or Error(kUsage) when max_row is past the model's context.
std::unique_ptr<Family> Load(const std::filesystem::path& folder, const Options& options);

}  // namespace assay::families::d1

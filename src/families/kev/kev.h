// The Kev family: Qwen3.5 base, LoRA adapter, pointer head; one row a question behind a shared
// state (spec kev).
#pragma once

#include <filesystem>
#include <memory>

#include "families/family.h"
#include "families/registry.h"

namespace assay::families::kev {

// A folder with a head.pt is one of this family.
bool IsKevFolder(const std::filesystem::path& folder);

// Opens an adapter folder with its base, or a merged checkpoint with its head. Throws
// Error(kModel), also when the process may not take the memory that it predicts, or Error(kUsage)
// for an option.
std::unique_ptr<Family> Load(const std::filesystem::path& folder, const LoadOptions& options);

}  // namespace assay::families::kev

// head.pt of a Kev folder: the pointer head, its temperature, and which base it was trained on
// (spec kev 1.6). Missing keys take the author's defaults; keys that decide nothing here are not
// looked at.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "families/kev/head.h"
#include "formats/torch_file.h"

namespace assay::families::kev {

struct HeadFile {
  std::string base;           // "Qwen/Qwen3.5-0.8B-Base"
  std::string revision;       // "" when the file names none
  bool full_weights = false;  // `weights` is "full": a merged checkpoint, no adapter
  double temperature = 1;
  size_t head_dim = 256;
  size_t hidden = 0;
  // Matrices [head_dim, hidden], biases [head_dim].
  std::vector<float> query_weight, query_bias, key_weight, key_bias;

  PointerHead head() const;
};

// Throws Error(kModel, "head.pt: KEY"): another shape than the keys say, a temperature that is no
// positive number, isolated options (refused on these bases, spec kev 4.4), a missing base or head.
HeadFile ReadHeadFile(const std::filesystem::path& file);
// From a file that is read already; `name` is its name in messages.
HeadFile HeadOf(const formats::TorchFile& file, const std::string& name);

}  // namespace assay::families::kev

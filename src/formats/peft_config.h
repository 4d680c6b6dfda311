// adapter_config.json of peft, the part that says what a LoRA adapter computes (peft 0.21.2, spec
// kev 1.5).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "formats/python_regex.h"

namespace assay::formats {

// A key of rank_pattern or alpha_pattern: a regular expression over the name of a module, or over
// what follows one of the name's dots.
struct PeftPattern {
  std::string key;
  PythonRegex regex;  // of (.*\.)?(KEY)$, as peft puts it together
  double value = 0;
};

// Everything that changes the numbers. What is not here is for training, or was refused.
struct PeftConfig {
  int64_t rank = 0;                        // r
  double alpha = 0;                        // lora_alpha
  bool rslora = false;                     // scale = alpha / sqrt(rank), not alpha / rank
  std::vector<PeftPattern> rank_patterns;  // in file order: the first that matches counts
  std::vector<PeftPattern> alpha_patterns;
  // Names of modules or their ends behind a dot; every such module of the base must be in the
  // adapter. Empty when the file chooses them in another way (a regular expression, by layer).
  std::vector<std::string> target_modules;
};

// Throws Error(kModel, "adapter_config.json: KEY"). Refused: another kind of adapter than LORA,
// every variant that computes something other than W + scale * B A or trains other weights beside
// it, named by its key; initialisations that change the base's weights; a rank or alpha that is
// missing or not positive; a pattern that PythonRegex refuses.
PeftConfig ParsePeftConfig(const json::Value& root);

// adapter_config.json of a folder.
PeftConfig ReadPeftConfig(const std::filesystem::path& folder);

struct PeftScale {
  uint64_t rank = 0;
  double scale = 0;
};
// The rank that module `name` has and the factor of its B A. `name` is the module's in the model
// that was trained, without peft's own "base_model.model.". Refused: names and patterns that take
// more than kMaxPatternSteps in all, counted in `steps`.
PeftScale ScaleOf(const PeftConfig& config, std::string_view name, uint64_t& steps);

inline constexpr uint64_t kMaxPatternSteps = 50'000'000;

}  // namespace assay::formats

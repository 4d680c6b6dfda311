// adapter_config.json: what decides the numbers of a LoRA adapter (spec kev 1.5).
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace re2 {
class RE2;
}

namespace assay::formats {

// One entry of rank_pattern or alpha_pattern: a regular expression, and what it sets.
struct PeftPattern {
  std::shared_ptr<const re2::RE2> expression;
  double value = 0;
};

struct PeftConfig {
  size_t rank = 0;
  double alpha = 0;
  bool rank_stabilized = false;  // use_rslora: alpha over the root of the rank
  std::vector<PeftPattern> ranks;
  std::vector<PeftPattern> alphas;
  // Last parts of the names that are adapted; empty when target_modules is no list, or when other
  // keys narrow it.
  std::vector<std::string> targets;
};

PeftConfig ReadPeftConfig(const std::filesystem::path& folder);

// Of the module with this name: the first pattern that matches the whole of it, or its end after a
// dot, else the config's own value.
size_t RankOf(const PeftConfig& config, std::string_view module);
double ScaleOf(const PeftConfig& config, std::string_view module);

}  // namespace assay::formats

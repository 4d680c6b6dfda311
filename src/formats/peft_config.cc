#include "formats/peft_config.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

#include "assay/error.h"
#include "formats/config.h"

namespace assay::formats {
namespace {

constexpr std::string_view kFile = "adapter_config.json";
constexpr double kMaxAlpha = 1e6;
constexpr int64_t kMaxRank = 1 << 16;
constexpr size_t kMaxPatterns = 10'000;

// Present and not null, false, zero or empty: what Python takes for true.
bool IsTruthy(const json::Value& value) {
  switch (value.kind()) {
    case json::Kind::kNull: return false;
    case json::Kind::kBool: return value.boolean();
    case json::Kind::kInteger:
    case json::Kind::kFloat: return value.number() != 0;
    case json::Kind::kString: return !value.string().empty();
    case json::Kind::kArray: return !value.items().empty();
    case json::Kind::kObject: return !value.members().empty();
  }
  return true;
}

// Keys whose truth makes the adapter something else than W + scale * B A on the modules it names.
constexpr std::array<std::string_view, 14> kVariants = {"fan_in_fan_out",
                                                        "lora_bias",
                                                        "modules_to_save",
                                                        "trainable_token_indices",
                                                        "layer_replication",
                                                        "target_parameters",
                                                        "arrow_config",
                                                        "kasa_config",
                                                        "velora_config",
                                                        "monteclora_config",
                                                        "alora_invocation_tokens",
                                                        "megatron_config",
                                                        "ensure_weight_tying",
                                                        "target_modules_to_tie"};

// How the matrices were started. Others (pissa, olora, corda, loftq, ...) take their start out of
// the base's weights, which peft does again when it loads.
constexpr std::array<std::string_view, 3> kPlainStarts = {"gaussian", "eva", "orthogonal"};

void RefuseVariants(const ConfigReader& root) {
  for (const auto& [key, value] : root.members()) {
    if (!IsTruthy(value)) continue;
    // Every variant of LoRA that peft has or will have is switched on by such a key.
    bool variant = key.starts_with("use_") && key != "use_rslora";
    for (const std::string_view name : kVariants) variant = variant || key == name;
    if (variant) {
      root.Refuse(
          key, fmt::format("is {}, which is not supported", OneLine(json::PrintCompact(value), 60)),
          "a plain LoRA adapter");
    }
    if (key == "init_lora_weights" && value.is_string()) {
      bool plain = false;
      for (const std::string_view name : kPlainStarts) plain = plain || value.string() == name;
      if (!plain) {
        root.Refuse(key,
                    fmt::format("is '{}', which is not supported", OneLine(value.string(), 60)),
                    "an adapter whose training left the base as it is");
      }
    }
  }
  const auto bias = root.FindString("bias");
  if (bias && *bias != "none") {
    root.Refuse("bias", fmt::format("is '{}', which is not supported", OneLine(*bias, 60)), "none");
  }
}

std::vector<PeftPattern> ReadPatterns(const ConfigReader& root, const char* key, bool integers) {
  std::vector<PeftPattern> patterns;
  const auto object = root.FindObject(key);
  if (!object) return patterns;
  if (object->members().size() > kMaxPatterns) {
    root.Refuse(key, fmt::format("has {} patterns; at most {} are read", object->members().size(),
                                 kMaxPatterns));
  }
  for (const auto& [pattern, value] : object->members()) {
    const Keys name{pattern};
    const double number = integers ? static_cast<double>(object->Int(name, {1, kMaxRank}))
                                   : object->Float(name, {0, kMaxAlpha});
    if (number <= 0) object->Refuse(pattern, fmt::format("is {}", number), "above zero");
    patterns.push_back({pattern,
                        PythonRegex(fmt::format("(.*\\.)?({})$", pattern), object->Where(pattern)),
                        number});
  }
  return patterns;
}

// The value of the first pattern that matches; failing that, the one whose key is the name itself.
double FirstMatch(const std::vector<PeftPattern>& patterns, std::string_view name, double otherwise,
                  uint64_t& steps) {
  for (const PeftPattern& pattern : patterns) {
    if (pattern.regex.MatchesStart(name, steps)) return pattern.value;
    if (steps > kMaxPatternSteps) {
      throw Error(ErrorKind::kModel, kFile, "its patterns take too long over the adapter's modules",
                  "fewer or plainer patterns in rank_pattern and alpha_pattern");
    }
  }
  for (const PeftPattern& pattern : patterns) {
    if (pattern.key == name) return pattern.value;
  }
  return otherwise;
}

}  // namespace

PeftConfig ParsePeftConfig(const json::Value& value) {
  std::vector<std::string> notes;
  const ConfigReader root(value, std::string(kFile), notes);
  const std::string type = root.String("peft_type");
  if (type != "LORA") {
    root.Refuse("peft_type", fmt::format("is '{}', which is not supported", OneLine(type, 60)),
                "LORA");
  }
  RefuseVariants(root);

  PeftConfig config;
  config.rank = root.Int("r", {1, kMaxRank});
  config.alpha = root.Float("lora_alpha", {0, kMaxAlpha});
  if (config.alpha <= 0) root.Refuse("lora_alpha", "is 0", "above zero");
  config.rslora = root.FindBool("use_rslora").value_or(false);
  config.rank_patterns = ReadPatterns(root, "rank_pattern", true);
  config.alpha_patterns = ReadPatterns(root, "alpha_pattern", false);
  const json::Value* targets = value.Find("target_modules");
  const bool narrowed = root.Has("exclude_modules") || root.Has("layers_to_transform");
  if (targets != nullptr && targets->is_array() && !narrowed) {
    config.target_modules = root.FindStrings("target_modules").value();
  }
  return config;
}

PeftConfig ReadPeftConfig(const std::filesystem::path& folder) {
  return ParsePeftConfig(ReadConfigFile(folder, kFile));
}

PeftScale ScaleOf(const PeftConfig& config, std::string_view name, uint64_t& steps) {
  const double rank =
      FirstMatch(config.rank_patterns, name, static_cast<double>(config.rank), steps);
  const double alpha = FirstMatch(config.alpha_patterns, name, config.alpha, steps);
  return {static_cast<uint64_t>(rank), alpha / (config.rslora ? std::sqrt(rank) : rank)};
}

}  // namespace assay::formats

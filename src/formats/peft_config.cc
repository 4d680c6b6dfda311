#include "formats/peft_config.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <cmath>

#include "formats/config.h"

namespace assay::formats {
namespace {

constexpr IntRange kRanks{1, 1 << 16};
constexpr FloatRange kAlphas{-1e6, 1e6};
// Patterns come from a file: their automata may not grow without end.
constexpr int64_t kMostPatternMemory = int64_t{1} << 20;

// Keys that make an adapter more than low-rank products beside linear layers.
constexpr std::string_view kUnsupported[] = {"use_dora",
                                             "lora_bias",
                                             "use_qalora",
                                             "modules_to_save",
                                             "trainable_token_indices",
                                             "layer_replication",
                                             "target_parameters",
                                             "arrow_config",
                                             "use_bdlora",
                                             "alora_invocation_tokens",
                                             "fan_in_fan_out"};

// Set to something: a key may be there and say no.
bool IsOn(const json::Value& value) {
  switch (value.kind()) {
    case json::Kind::kNull: return false;
    case json::Kind::kBool: return value.boolean();
    case json::Kind::kArray: return !value.items().empty();
    case json::Kind::kObject: return !value.members().empty();
    default: return true;
  }
}

std::vector<PeftPattern> ReadPatterns(const ConfigReader& config, const char* key, bool ranks) {
  std::vector<PeftPattern> out;
  const auto object = config.FindObject(key);
  if (!object) return out;
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kMostPatternMemory);
  for (const auto& [pattern, unused] : object->members()) {
    const std::string whole = "(?:.*\\.)?(?:" + pattern + ")";
    auto expression = std::make_shared<re2::RE2>(whole, options);
    if (!expression->ok()) {
      config.Refuse(key,
                    fmt::format("'{}' is no regular expression that is supported here: {}",
                                OneLine(pattern, 60), expression->error()),
                    "names, or patterns without back references and look-around");
    }
    const Keys name({std::string_view(pattern)});
    const double value =
        ranks ? static_cast<double>(object->Int(name, kRanks)) : object->Float(name, kAlphas);
    out.push_back({std::move(expression), value});
  }
  return out;
}

double ValueOf(const std::vector<PeftPattern>& patterns, std::string_view module,
               double otherwise) {
  for (const PeftPattern& pattern : patterns) {
    if (re2::RE2::FullMatch(re2::StringPiece(module.data(), module.size()), *pattern.expression))
      return pattern.value;
  }
  return otherwise;
}

std::vector<std::string> ReadTargets(const ConfigReader& config, const json::Value& root) {
  for (const char* narrows : {"layers_to_transform", "layers_pattern", "exclude_modules"}) {
    const json::Value* value = root.Find(narrows);
    if (value != nullptr && IsOn(*value)) return {};
  }
  const json::Value* targets = root.Find("target_modules");
  if (targets == nullptr || !targets->is_array()) return {};
  return config.FindStrings("target_modules").value_or(std::vector<std::string>());
}

}  // namespace

PeftConfig ReadPeftConfig(const std::filesystem::path& folder) {
  constexpr std::string_view kFile = "adapter_config.json";
  const json::Value root = ReadConfigFile(folder, kFile);
  std::vector<std::string> notes;
  const ConfigReader config(root, std::string(kFile), notes);
  const std::string type = config.String("peft_type");
  if (type != "LORA") {
    config.Refuse("peft_type", fmt::format("'{}' adapters are not supported", OneLine(type, 40)),
                  "LORA");
  }
  for (const std::string_view key : kUnsupported) {
    const json::Value* value = root.Find(key);
    if (value != nullptr && IsOn(*value))
      config.Refuse(key, "is set, which is not supported", "an adapter of low-rank products alone");
  }
  if (config.FindString("bias").value_or("none") != "none")
    config.Refuse("bias", "is not 'none', which is not supported", "an adapter without biases");
  PeftConfig out;
  out.rank = static_cast<size_t>(config.Int("r", kRanks));
  out.alpha = config.Float("lora_alpha", kAlphas);
  out.rank_stabilized = config.FindBool("use_rslora").value_or(false);
  out.ranks = ReadPatterns(config, "rank_pattern", true);
  out.alphas = ReadPatterns(config, "alpha_pattern", false);
  out.targets = ReadTargets(config, root);
  return out;
}

size_t RankOf(const PeftConfig& config, std::string_view module) {
  return static_cast<size_t>(ValueOf(config.ranks, module, static_cast<double>(config.rank)));
}

double ScaleOf(const PeftConfig& config, std::string_view module) {
  const auto rank = static_cast<double>(RankOf(config, module));
  const double alpha = ValueOf(config.alphas, module, config.alpha);
  return alpha / (config.rank_stabilized ? std::sqrt(rank) : rank);
}

}  // namespace assay::formats

// head.pt of a Kev checkpoint: the pointer head and what else the training run saved with it (spec
// kev 1.6). The file is hostile input; formats/torch_file.h says how it is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::families::kev {

// What the checkpoint's folder holds: a LoRA adapter for the base, or all weights.
enum class WeightsKind { kLora, kFull };
// What the makers run the weights in: fp32, or rounded once to bf16.
enum class WeightsDtype { kFp32, kBf16 };

// "lora", "full".
std::string_view WeightsKindName(WeightsKind kind);

// The defaults are the makers' for a key that is absent. `head` and `base` have none.
struct HeadFile {
  std::string base;                          // "Qwen/Qwen3.5-0.8B-Base"
  std::optional<std::string> base_revision;  // a commit, a branch or a tag of it
  WeightsKind weights = WeightsKind::kLora;
  WeightsDtype weights_dtype = WeightsDtype::kFp32;
  int64_t lora = 0;        // the adapter's rank, 0 when there is none
  double temperature = 1;  // logits are divided by it; finite and positive
  bool option_isolation = false;
  bool special_embeddings = false;

  // Two linear layers, all values finite.
  size_t head_dim = 256;
  size_t hidden = 0;            // of the base
  std::vector<float> q_weight;  // [head_dim, hidden]
  std::vector<float> q_bias;    // [head_dim]
  std::vector<float> k_weight;  // [head_dim, hidden]
  std::vector<float> k_bias;    // [head_dim]

  // Keys that say nothing about a decision (training arguments, fits, held-out suites), in file
  // order.
  std::vector<std::string> other_keys;
};

// Throws Error(kModel, "FILE" or "FILE: KEY"). Refused: a missing base or head, a known key of
// another type or value, a temperature that is not finite and positive, a head of other than the
// four tensors, of other shapes or with a value that is not finite.
HeadFile ReadHead(const std::filesystem::path& path);
// The same for a file in memory; `name` is its name in errors.
HeadFile ParseHead(std::span<const std::byte> bytes, std::string_view name);

// What head.pt must agree with.
struct HeadSurroundings {
  WeightsKind weights = WeightsKind::kLora;  // what the folder holds
  size_t hidden = 0;                         // of the base's config
  bool hybrid = false;                       // the base has linear-attention layers
};

// Throws Error(kModel, "head.pt: KEY") where `head` does not fit: `weights` that differ (spec
// kev 1.2), another hidden size, option_isolation over a hybrid base (spec kev 4.4),
// special_embeddings, whose rows no published checkpoint shows.
void CheckHead(const HeadFile& head, const HeadSurroundings& around);

}  // namespace assay::families::kev

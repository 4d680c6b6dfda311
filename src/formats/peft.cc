#include "formats/peft.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "assay/error.h"
#include "formats/peft_config.h"

namespace assay::formats {
namespace {

constexpr std::string_view kWeightsFile = "adapter_model.safetensors";
constexpr std::string_view kWrapper = "base_model.model.";
// What whole models put in front of the text model's own names.
constexpr std::string_view kPrefixes[] = {"model.language_model.", "language_model.model.",
                                          "language_model.", "model.", ""};

enum class Side { kA, kB };

struct TensorPlace {
  std::string module;
  Side side;
};

// "base_model.model.MODULE.lora_A.weight", or with the adapter's own name before ".weight".
std::optional<TensorPlace> PlaceOf(std::string_view name) {
  if (!name.starts_with(kWrapper) || !name.ends_with(".weight")) return std::nullopt;
  for (const auto& [side, mark] : {std::pair{Side::kA, std::string_view(".lora_A.")},
                                   std::pair{Side::kB, std::string_view(".lora_B.")}}) {
    const size_t at = name.find(mark);
    if (at == name.npos || at < kWrapper.size()) continue;
    // "weight", or "default.weight": one more part at most.
    const std::string_view rest = name.substr(at + mark.size());
    if (std::ranges::count(rest, '.') > 1) return std::nullopt;
    return TensorPlace{std::string(name.substr(kWrapper.size(), at - kWrapper.size())), side};
  }
  return std::nullopt;
}

[[noreturn]] void Refuse(std::string_view tensor, std::string problem, std::string hint) {
  throw Error(ErrorKind::kModel, fmt::format("{}: {}", kWeightsFile, OneLine(tensor, 120)),
              std::move(problem), std::move(hint));
}

void CheckTensor(const Tensor& tensor, size_t rank, size_t rank_dimension) {
  const bool is_float =
      tensor.dtype == Dtype::kF32 || tensor.dtype == Dtype::kBf16 || tensor.dtype == Dtype::kF16;
  if (!is_float || tensor.shape.size() != 2 || tensor.elements() == 0) {
    Refuse(tensor.name, fmt::format("is {} {}", DtypeName(tensor.dtype), ShapeText(tensor.shape)),
           "a matrix of F32, BF16 or F16");
  }
  if (tensor.shape[rank_dimension] != rank) {
    Refuse(tensor.name,
           fmt::format("has rank {}, and adapter_config.json says {}", tensor.shape[rank_dimension],
                       rank),
           "the config that belongs to these weights");
  }
}

// The text model's own name for what an adapter calls `name`, if it is one of `base`.
std::optional<size_t> FindModule(const std::map<std::string_view, size_t>& base,
                                 std::string_view name) {
  for (const std::string_view prefix : kPrefixes) {
    if (!name.starts_with(prefix)) continue;
    const auto found = base.find(name.substr(prefix.size()));
    if (found != base.end()) return found->second;
  }
  return std::nullopt;
}

void CheckShapes(const LoraModule& module, const LinearModule& linear) {
  if (module.a->shape[1] == linear.inputs && module.b->shape[0] == linear.outputs) return;
  Refuse(module.name,
         fmt::format("lora_A is {} and lora_B {}, and the base's weight is [{}, {}]",
                     ShapeText(module.a->shape), ShapeText(module.b->shape), linear.outputs,
                     linear.inputs),
         "the base that this adapter was trained on");
}

bool IsTarget(const std::string& name, const std::vector<std::string>& targets) {
  return std::ranges::any_of(targets, [&](const std::string& target) {
    return name == target || name.ends_with("." + target);
  });
}

}  // namespace

PeftAdapter PeftAdapter::Open(const std::filesystem::path& folder) {
  const PeftConfig config = ReadPeftConfig(folder);
  PeftAdapter adapter(Checkpoint::OpenFile(folder / kWeightsFile));
  adapter.targets_ = config.targets;
  std::map<std::string, LoraModule> by_name;
  for (const Tensor* tensor : adapter.checkpoint_.tensors()) {
    const std::optional<TensorPlace> place = PlaceOf(tensor->name);
    if (!place) {
      Refuse(tensor->name, "is no part of a low-rank product",
             "base_model.model.LAYER.lora_A.weight and lora_B");
    }
    LoraModule& module = by_name[place->module];
    const Tensor*& side = place->side == Side::kA ? module.a : module.b;
    if (side != nullptr)
      Refuse(tensor->name, fmt::format("and {} are for one layer", side->name), "one adapter");
    side = tensor;
  }
  if (by_name.empty())
    throw Error(ErrorKind::kModel, std::string(kWeightsFile), "holds no tensors", "an adapter");
  for (auto& [name, module] : by_name) {
    if (module.a == nullptr || module.b == nullptr) {
      Refuse(name, fmt::format("has no lora_{}", module.a == nullptr ? 'A' : 'B'),
             "both sides of every product");
    }
    const size_t rank = RankOf(config, name);
    CheckTensor(*module.a, rank, 0);
    CheckTensor(*module.b, rank, 1);
    module.name = name;
    module.scale = ScaleOf(config, name);
    adapter.modules_.push_back(module);
  }
  return adapter;
}

size_t PeftAdapter::largest_rank() const {
  uint64_t rank = 0;
  for (const LoraModule& module : modules_) rank = std::max(rank, module.a->shape[0]);
  return rank;
}

std::vector<size_t> PeftAdapter::Match(std::span<const LinearModule> base) const {
  std::map<std::string_view, size_t> by_name;
  for (size_t i = 0; i < base.size(); ++i) by_name.emplace(base[i].name, i);
  std::vector<size_t> out;
  std::vector<std::string> strangers;
  std::vector<bool> adapted(base.size(), false);
  for (const LoraModule& module : modules_) {
    const std::optional<size_t> found = FindModule(by_name, module.name);
    if (!found) {
      strangers.push_back(module.name);
      continue;
    }
    if (adapted[*found]) Refuse(module.name, "names a layer twice", "each layer once");
    adapted[*found] = true;
    out.push_back(*found);
  }
  if (!strangers.empty()) {
    throw Error(ErrorKind::kModel, std::string(kWeightsFile),
                fmt::format("{} of {} modules match the base; it has no {}", out.size(),
                            modules_.size(), NameList(strangers)),
                "the base that this adapter was trained on");
  }
  for (size_t i = 0; i < out.size(); ++i) CheckShapes(modules_[i], base[out[i]]);
  std::vector<std::string> missing;
  for (size_t i = 0; i < base.size(); ++i) {
    if (!adapted[i] && IsTarget(base[i].name, targets_)) missing.push_back(base[i].name);
  }
  if (!missing.empty()) {
    throw Error(ErrorKind::kModel, std::string(kWeightsFile),
                fmt::format("lacks {}, which adapter_config.json targets", NameList(missing)),
                "the whole adapter");
  }
  return out;
}

}  // namespace assay::formats

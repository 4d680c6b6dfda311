#include "formats/peft.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "assay/error.h"
#include "formats/checkpoint.h"

namespace assay::formats {
namespace {

constexpr std::string_view kWeights = "adapter_model.safetensors";
constexpr std::string_view kPeftPrefix = "base_model.model.";
// What may stand before "layers.": the wrappings of a text model, and the bare one.
constexpr std::array<std::string_view, 5> kPrefixes = {
    "model.language_model.", "language_model.model.", "language_model.", "model.", ""};

// Where a tensor belongs.
struct Place {
  std::string_view module;  // as in the file
  bool is_b = false;
};

bool TakeSuffix(std::string_view& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.remove_suffix(suffix.size());
  return true;
}

Place PlaceOf(const Tensor& tensor, std::string_view file) {
  std::string_view rest = tensor.name;
  if (TakeSuffix(rest, ".weight")) {
    TakeSuffix(rest, ".default");
    if (TakeSuffix(rest, ".lora_A")) return {rest, false};
    if (TakeSuffix(rest, ".lora_B")) return {rest, true};
  }
  throw Error(ErrorKind::kModel, fmt::format("{}: {}", file, tensor.name),
              "is not a matrix of a plain LoRA adapter",
              "NAME.lora_A.weight or NAME.lora_B.weight");
}

std::string_view WithoutPeftPrefix(std::string_view source) {
  if (source.starts_with(kPeftPrefix)) source.remove_prefix(kPeftPrefix.size());
  return source;
}

// The prefix of a name whose rest begins with "layers."; nothing known: all stays.
std::string_view PrefixOf(std::string_view name) {
  for (const std::string_view prefix : kPrefixes) {
    if (name.starts_with(prefix) && name.substr(prefix.size()).starts_with("layers."))
      return prefix;
  }
  return "";
}

class ModuleMaker {
 public:
  ModuleMaker(const PeftConfig& config, const SafetensorsFile& file)
      : config_(config), file_(file) {}

  std::vector<LoraModule> Make() {
    for (const Tensor& tensor : file_.tensors()) {
      const Place place = PlaceOf(tensor, file_.name());
      LoraModule& module = modules_[std::string(place.module)];
      const Tensor*& slot = place.is_b ? module.b : module.a;
      if (slot != nullptr) {
        Refuse(place.module, fmt::format("is there as {} and as {}", slot->name, tensor.name));
      }
      slot = &tensor;
    }
    if (modules_.empty()) {
      throw Error(ErrorKind::kModel, file_.name(), "holds no LoRA matrices",
                  "an adapter's weights");
    }
    std::vector<LoraModule> out;
    std::set<std::string> names;
    std::string_view prefix = PrefixOf(WithoutPeftPrefix(modules_.begin()->first));
    for (auto& [source, module] : modules_) {
      Finish(source, prefix, module);
      if (!names.insert(module.name).second) Refuse(source, "has another module of the same name");
      out.push_back(std::move(module));
    }
    std::sort(out.begin(), out.end(),
              [](const LoraModule& a, const LoraModule& b) { return a.name < b.name; });
    return out;
  }

 private:
  [[noreturn]] void Refuse(std::string_view module, std::string_view problem,
                           std::string_view hint = "") const {
    throw Error(ErrorKind::kModel, fmt::format("{}: {}", file_.name(), module), problem, hint);
  }

  void Finish(const std::string& source, std::string_view prefix, LoraModule& module) {
    if (module.a == nullptr) Refuse(source, "has lora_B and no lora_A");
    if (module.b == nullptr) Refuse(source, "has lora_A and no lora_B");
    const std::string_view trained = WithoutPeftPrefix(source);
    if (PrefixOf(trained) != prefix) {
      Refuse(source,
             fmt::format("has the prefix '{}', others have '{}'", PrefixOf(trained), prefix));
    }
    module.source = source;
    module.name = std::string(trained.substr(prefix.size()));
    const PeftScale scale = ScaleOf(config_, trained, steps_);
    module.rank = scale.rank;
    module.scale = scale.scale;
    CheckTensor(source, *module.a, 0, module.rank);
    CheckTensor(source, *module.b, 1, module.rank);
  }

  void CheckTensor(const std::string& source, const Tensor& tensor, size_t rank_at,
                   uint64_t rank) const {
    if (tensor.dtype != Dtype::kF32 && tensor.dtype != Dtype::kF16 &&
        tensor.dtype != Dtype::kBf16) {
      Refuse(source, fmt::format("{} is {}", tensor.name, DtypeName(tensor.dtype)),
             "F32, F16 or BF16");
    }
    if (tensor.shape.size() != 2 || tensor.shape[rank_at] != rank) {
      Refuse(source,
             fmt::format("{} is {}, but adapter_config.json says rank {}",
                         rank_at == 0 ? "lora_A" : "lora_B", ShapeText(tensor.shape), rank),
             rank_at == 0 ? "[rank, inputs]" : "[outputs, rank]");
    }
  }

  const PeftConfig& config_;
  const SafetensorsFile& file_;
  std::map<std::string, LoraModule> modules_;
  uint64_t steps_ = 0;
};

// As peft matches a target: the whole name, or what follows one of its dots.
bool IsTarget(std::string_view name, const std::vector<std::string>& targets) {
  return std::any_of(targets.begin(), targets.end(), [&](const std::string& target) {
    return name == target || (name.ends_with(target) && name.size() > target.size() &&
                              name[name.size() - target.size() - 1] == '.');
  });
}

}  // namespace

PeftAdapter::PeftAdapter(PeftConfig config, SafetensorsFile file)
    : config_(std::move(config)), file_(std::move(file)) {
  modules_ = ModuleMaker(config_, file_).Make();
}

PeftAdapter PeftAdapter::Open(const std::filesystem::path& folder) {
  PeftConfig config = ReadPeftConfig(folder);
  std::error_code error;
  if (!std::filesystem::exists(folder / kWeights, error) &&
      std::filesystem::exists(folder / "adapter_model.bin", error)) {
    throw Error(ErrorKind::kModel, "adapter_model.bin", "is a pickle, which is not read",
                "save the adapter as adapter_model.safetensors");
  }
  return {std::move(config), SafetensorsFile(folder / kWeights)};
}

std::vector<const LoraModule*> BindLora(const PeftAdapter& adapter,
                                        std::span<const LinearModule> linears) {
  std::map<std::string_view, const LoraModule*> by_name;
  for (const LoraModule& module : adapter.modules()) by_name[module.name] = &module;

  std::vector<const LoraModule*> bound(linears.size(), nullptr);
  std::vector<std::string> wrong_shape;
  std::vector<std::string> absent;
  for (size_t i = 0; i < linears.size(); ++i) {
    const LinearModule& linear = linears[i];
    const auto found = by_name.find(linear.name);
    if (found == by_name.end()) {
      if (IsTarget(linear.name, adapter.config().target_modules)) absent.push_back(linear.name);
      continue;
    }
    bound[i] = found->second;
    const LoraModule& module = *found->second;
    if (module.b->shape[0] != linear.outputs || module.a->shape[1] != linear.inputs) {
      wrong_shape.push_back(fmt::format("{}: lora_A {} and lora_B {} over a weight [{}, {}]",
                                        linear.name, ShapeText(module.a->shape),
                                        ShapeText(module.b->shape), linear.outputs, linear.inputs));
    }
    by_name.erase(found);
  }

  const auto refuse = [&](const std::string& problem, std::string_view hint) {
    throw Error(ErrorKind::kModel, adapter.name(), problem, hint);
  };
  if (!by_name.empty()) {
    std::vector<std::string> unmatched;
    for (const auto& [name, module] : by_name) unmatched.push_back(module->source);
    refuse(fmt::format("{} of its {} modules match a linear layer of the base; not {}",
                       adapter.modules().size() - unmatched.size(), adapter.modules().size(),
                       NameList(unmatched)),
           "the base that the adapter was trained on");
  }
  if (!wrong_shape.empty()) {
    refuse(fmt::format("{} of its {} modules have another shape than the base; {}",
                       wrong_shape.size(), adapter.modules().size(), wrong_shape.front()),
           "the base that the adapter was trained on");
  }
  if (!absent.empty()) {
    refuse(fmt::format("has nothing for {} modules that target_modules name: {}", absent.size(),
                       NameList(absent)),
           "download the file again");
  }
  return bound;
}

}  // namespace assay::formats

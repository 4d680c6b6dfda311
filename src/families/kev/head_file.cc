#include "families/kev/head_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "assay/error.h"
#include "base/file.h"
#include "formats/safetensors.h"
#include "formats/torch_file.h"

namespace assay::families::kev {
namespace {

using formats::PickleKind;
using formats::PickleKindName;
using formats::PickleValue;
using formats::TorchFile;
using formats::TorchTensor;

constexpr std::array<std::string_view, 10> kKnownKeys = {"base",
                                                         "head",
                                                         "base_revision",
                                                         "lora",
                                                         "head_dim",
                                                         "option_isolation",
                                                         "special_embeddings",
                                                         "weights_dtype",
                                                         "temperature",
                                                         "weights"};

constexpr int64_t kMaxHeadDim = 1 << 16;

class Reader {
 public:
  Reader(TorchFile file, std::string_view name) : file_(std::move(file)), name_(name) {
    if (file_.root.kind != PickleKind::kDict) {
      throw Error(ErrorKind::kModel, name_,
                  fmt::format("holds {}, not a dict", PickleKindName(file_.root.kind)),
                  "the head.pt that Kev's training wrote");
    }
  }

  HeadFile Read() {
    HeadFile head;
    head.base = Text("base", std::nullopt);
    if (head.base.empty()) Refuse("base", "is empty", "the name of the base model");
    const PickleValue* revision = file_.root.Find("base_revision");
    if (revision != nullptr && revision->kind != PickleKind::kNone) {
      head.base_revision = Text("base_revision", std::nullopt);
    }
    head.weights =
        OneOf("weights", {"lora", "full"}) == 0 ? WeightsKind::kLora : WeightsKind::kFull;
    head.weights_dtype =
        OneOf("weights_dtype", {"fp32", "bf16"}) == 0 ? WeightsDtype::kFp32 : WeightsDtype::kBf16;
    head.lora = Int("lora", head.lora, 0, 1 << 20);
    head.temperature = Temperature();
    head.option_isolation = Bool("option_isolation");
    head.special_embeddings = Bool("special_embeddings");
    head.head_dim =
        static_cast<size_t>(Int("head_dim", static_cast<int64_t>(head.head_dim), 1, kMaxHeadDim));
    ReadTensors(head);
    for (size_t i = 0; i < file_.root.items.size(); i += 2) {
      const PickleValue& key = file_.root.items[i];
      if (std::find(kKnownKeys.begin(), kKnownKeys.end(), key.text) == kKnownKeys.end()) {
        head.other_keys.push_back(
            key.kind == PickleKind::kString ? key.text : std::string(PickleKindName(key.kind)));
      }
    }
    return head;
  }

 private:
  [[noreturn]] void Refuse(std::string_view key, std::string_view problem,
                           std::string_view hint = "") const {
    throw Error(ErrorKind::kModel, fmt::format("{}: {}", name_, key), problem, hint);
  }

  [[noreturn]] void WrongKind(std::string_view key, const PickleValue& value,
                              std::string_view wanted) const {
    Refuse(key, fmt::format("is {}, not {}", PickleKindName(value.kind), wanted));
  }

  std::string Text(std::string_view key, std::optional<std::string> absent) const {
    const PickleValue* value = file_.root.Find(key);
    if (value == nullptr && absent) return *absent;
    if (value == nullptr) Refuse(key, "is missing");
    if (value->kind != PickleKind::kString) WrongKind(key, *value, "a string");
    return value->text;
  }

  // The index of the value; absent: 0.
  size_t OneOf(std::string_view key, const std::array<std::string_view, 2>& accepted) const {
    const std::string text = Text(key, std::string(accepted[0]));
    if (text == accepted[0]) return 0;
    if (text == accepted[1]) return 1;
    Refuse(key, fmt::format("is '{}'", OneLine(text, 60)),
           fmt::format("{}", fmt::join(accepted, " or ")));
  }

  int64_t Int(std::string_view key, int64_t absent, int64_t low, int64_t high) const {
    const PickleValue* value = file_.root.Find(key);
    if (value == nullptr) return absent;
    if (value->kind == PickleKind::kBigInt) Refuse(key, "is past 64 bits");
    if (value->kind != PickleKind::kInt) WrongKind(key, *value, "an int");
    if (value->integer < low || value->integer > high) {
      Refuse(key, fmt::format("is {}", value->integer), fmt::format("from {} to {}", low, high));
    }
    return value->integer;
  }

  bool Bool(std::string_view key) const {
    const PickleValue* value = file_.root.Find(key);
    if (value == nullptr) return false;
    if (value->kind != PickleKind::kBool) WrongKind(key, *value, "a bool");
    return value->boolean;
  }

  double Temperature() const {
    const PickleValue* value = file_.root.Find("temperature");
    if (value == nullptr) return 1;
    double temperature = value->number;
    if (value->kind == PickleKind::kInt) {
      temperature = static_cast<double>(value->integer);
    } else if (value->kind != PickleKind::kFloat) {
      WrongKind("temperature", *value, "a number");
    }
    if (!std::isfinite(temperature) || temperature <= 0) {
      Refuse("temperature", fmt::format("is {}", temperature), "finite and above zero");
    }
    return temperature;
  }

  // --- the head's tensors ---

  void ReadTensors(HeadFile& out) {
    const PickleValue* head = file_.root.Find("head");
    if (head == nullptr) Refuse("head", "is missing");
    if (head->kind != PickleKind::kDict) WrongKind("head", *head, "a dict of tensors");
    constexpr std::array<std::string_view, 4> kNames = {"q.weight", "q.bias", "k.weight", "k.bias"};
    for (size_t i = 0; i < head->items.size(); i += 2) {
      const std::string& name = head->items[i].text;
      if (std::find(kNames.begin(), kNames.end(), name) == kNames.end()) {
        Refuse("head", fmt::format("has '{}', which is not used", OneLine(name, 60)),
               fmt::format("{}", fmt::join(kNames, ", ")));
      }
    }
    const TorchTensor& q_weight = Tensor(*head, "q.weight");
    if (q_weight.shape.size() != 2) {
      Refuse("head: q.weight", fmt::format("is {}", formats::ShapeText(q_weight.shape)),
             fmt::format("[{}, hidden size]", out.head_dim));
    }
    out.hidden = q_weight.shape[1];
    if (out.hidden == 0) Refuse("head: q.weight", "has no columns");
    out.q_weight = Values(*head, "q.weight", {out.head_dim, out.hidden});
    out.q_bias = Values(*head, "q.bias", {out.head_dim});
    out.k_weight = Values(*head, "k.weight", {out.head_dim, out.hidden});
    out.k_bias = Values(*head, "k.bias", {out.head_dim});
  }

  TorchTensor& Tensor(const PickleValue& head, std::string_view name) {
    const PickleValue* value = head.Find(name);
    if (value == nullptr) Refuse(fmt::format("head: {}", name), "is missing");
    if (value->kind != PickleKind::kTensor) {
      WrongKind(fmt::format("head: {}", name), *value, "a tensor");
    }
    return file_.tensors[value->tensor];
  }

  std::vector<float> Values(const PickleValue& head, std::string_view name,
                            const std::vector<uint64_t>& shape) {
    const TorchTensor& tensor = Tensor(head, name);
    const std::string where = fmt::format("head: {}", name);
    if (tensor.shape != shape) {
      Refuse(where, fmt::format("is {}, but head_dim and q.weight ask for {}",
                                formats::ShapeText(tensor.shape), formats::ShapeText(shape)));
    }
    for (const float value : tensor.values) {
      if (!std::isfinite(value)) Refuse(where, fmt::format("holds {}", value), "finite numbers");
    }
    return tensor.values;
  }

  TorchFile file_;
  std::string name_;
};

}  // namespace

std::string_view WeightsKindName(WeightsKind kind) {
  return kind == WeightsKind::kLora ? "lora" : "full";
}

HeadFile ParseHead(std::span<const std::byte> bytes, std::string_view name) {
  return Reader(formats::ParseTorchFile(bytes, name), name).Read();
}

HeadFile ReadHead(const std::filesystem::path& path) {
  const MappedFile file(path, ErrorKind::kModel);
  return ParseHead(file.bytes(), path.filename().string());
}

void CheckHead(const HeadFile& head, const HeadSurroundings& around) {
  const auto refuse = [](std::string_view key, std::string_view problem, std::string_view hint) {
    throw Error(ErrorKind::kModel, fmt::format("head.pt: {}", key), problem, hint);
  };
  if (head.weights != around.weights) {
    refuse("weights",
           fmt::format("is '{}', but the folder holds {}", WeightsKindName(head.weights),
                       around.weights == WeightsKind::kLora ? "an adapter (adapter_config.json)"
                                                            : "full weights and no adapter"),
           "head.pt belongs to another checkpoint, or files are missing");
  }
  if (head.hidden != around.hidden) {
    refuse(
        "head: q.weight",
        fmt::format("has {} columns, but the base's hidden size is {}", head.hidden, around.hidden),
        fmt::format("the base is {}", OneLine(head.base, 100)));
  }
  if (head.option_isolation && around.hybrid) {
    refuse("option_isolation", "is true, which a base with linear attention cannot do",
           "false for this base");
  }
  if (head.special_embeddings) {
    refuse("special_embeddings", "is true, which is not supported", "false");
  }
}

}  // namespace assay::families::kev

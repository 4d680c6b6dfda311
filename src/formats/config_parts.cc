#include "formats/config_parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "assay/error.h"

namespace assay::formats {
namespace {

constexpr FloatRange kThetaRange = {1, 1e12};

// The block that applies to the layer kind, when rope_parameters holds one block per kind.
ConfigReader BlockFor(const ConfigReader& parameters, std::string_view layer_kind) {
  std::vector<std::string_view> kinds;
  for (const auto& [key, value] : parameters.members()) {
    if (value.is_object()) kinds.push_back(key);
  }
  if (kinds.empty()) return parameters;
  if (std::find(kinds.begin(), kinds.end(), layer_kind) == kinds.end()) {
    parameters.Refuse("", fmt::format("has no block for the layer kind {}", layer_kind),
                      OneLine(fmt::format("it has {}", fmt::join(kinds, ", ")), 200));
  }
  return *parameters.FindObject(Keys{layer_kind});
}

// One number that may stand in the block and beside it.
std::optional<double> Either(const ConfigReader& object, const std::optional<ConfigReader>& block,
                             const char* key, FloatRange range) {
  const auto outer = object.FindFloat(key, range);
  const auto inner = block ? block->FindFloat(key, range) : std::nullopt;
  if (outer && inner && *outer != *inner) {
    object.Refuse(key, fmt::format("is {}, but {} is {}", *outer, block->Where(key), *inner),
                  "keep the one that is right");
  }
  return inner ? inner : outer;
}

}  // namespace

Rope ReadRope(const ConfigReader& object, std::string_view layer_kind) {
  std::optional<ConfigReader> block = object.FindObject({"rope_parameters", "rope_scaling"});
  if (block) {
    block = BlockFor(*block, layer_kind);
    // Absent means default, as in transformers.
    if (block->Has({"rope_type", "type"})) block->OneOf({"rope_type", "type"}, {"default"});
  }
  Rope rope;
  const auto theta = Either(object, block, "rope_theta", kThetaRange);
  if (!theta) object.Refuse("rope_theta", "is missing", "also read inside rope_parameters");
  rope.theta = *theta;
  rope.partial_rotary_factor =
      Either(object, block, "partial_rotary_factor", {1e-6, 1}).value_or(1);
  return rope;
}

std::optional<Dtype> ReadWeightsDtype(const ConfigReader& object) {
  constexpr Dtype kDtypes[] = {Dtype::kBf16, Dtype::kF16, Dtype::kF32};
  const Keys keys = {"dtype", "torch_dtype"};
  if (!object.Has(keys)) return std::nullopt;
  return kDtypes[object.OneOf(keys, {"bfloat16", "float16", "float32"})];
}

std::optional<std::vector<size_t>> ReadLayerTypes(const ConfigReader& object, size_t layers,
                                                  const std::vector<std::string_view>& kinds) {
  const auto names = object.FindStrings("layer_types");
  if (!names) return std::nullopt;
  if (names->size() != layers) {
    object.Refuse("layer_types", fmt::format("has {} entries, but num_hidden_layers is {}",
                                             names->size(), layers));
  }
  std::vector<size_t> indices;
  for (const std::string& name : *names) {
    const auto at = std::find(kinds.begin(), kinds.end(), name);
    if (at == kinds.end()) {
      object.Refuse(fmt::format("layer_types[{}]", indices.size()),
                    fmt::format("is the unknown layer kind '{}'", OneLine(name, 60)),
                    fmt::format("{}", fmt::join(kinds, " or ")));
    }
    indices.push_back(static_cast<size_t>(at - kinds.begin()));
  }
  return indices;
}

bool ReadTied(const ConfigReader& root, bool class_default) {
  const Keys keys = {"tie_word_embeddings", "tie_embedding"};
  const auto text = root.FindObject("text_config");
  const auto outer = root.FindBool(keys);
  const auto inner = text ? text->FindBool(keys) : std::nullopt;
  if (outer && inner && *outer != *inner) {
    root.Refuse(keys.names.front(),
                fmt::format("is {}, but {} is {}", *outer, text->Where(keys.names.front()), *inner),
                "keep the one that is right");
  }
  if (outer) return *outer;
  if (inner) return *inner;
  return root.BoolOr(keys, class_default);
}

std::string_view HeadTensor(bool tied, const Checkpoint& checkpoint, std::string_view embedding,
                            std::string_view head, std::vector<std::string>& notes) {
  const Tensor* stored = checkpoint.Find(head);
  const std::string where = fmt::format("{}: {}", checkpoint.name(), head);
  if (!tied) {
    if (stored != nullptr) return head;
    throw Error(ErrorKind::kModel, where, "is missing, and the head is not tied",
                "download the weights again, or correct tie_word_embeddings");
  }
  if (stored == nullptr) return embedding;
  const Tensor* rows = checkpoint.Find(embedding);
  const bool same = rows != nullptr && rows->dtype == stored->dtype &&
                    rows->bytes.size() == stored->bytes.size() &&
                    (rows->bytes.empty() || std::memcmp(rows->bytes.data(), stored->bytes.data(),
                                                        rows->bytes.size()) == 0);
  if (!same) {
    throw Error(ErrorKind::kModel, where,
                fmt::format("differs from {}, but the head is tied", embedding),
                "remove the tensor that is wrong, or correct tie_word_embeddings");
  }
  notes.push_back(
      fmt::format("{}: not used, an equal copy of {} (the head is tied)", where, embedding));
  return embedding;
}

}  // namespace assay::formats

#include "formats/config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "assay/error.h"
#include "formats/checkpoint.h"
#include "formats/strict_json.h"

namespace assay::formats {
namespace {

// Published configs have a few kilobytes; some carry label lists of thousands of entries.
constexpr size_t kMaxConfigBytes = 16'000'000;

std::string Shown(const json::Value& value) { return OneLine(json::PrintCompact(value), 60); }

bool IsNumber(const json::Value& value) {
  return value.kind() == json::Kind::kInteger || value.kind() == json::Kind::kFloat;
}

// 1000000 and 1e6 are the same number.
bool SameValue(const json::Value& a, const json::Value& b) {
  if (IsNumber(a) && IsNumber(b) && a.kind() != b.kind()) return a.number() == b.number();
  return a == b;
}

}  // namespace

ConfigReader::ConfigReader(const json::Value& object, std::string file,
                           std::vector<std::string>& notes)
    : object_(&object), file_(std::move(file)), notes_(&notes) {
  if (!object.is_object()) {
    Refuse("", fmt::format("is {}, not an object", json::KindName(object.kind())));
  }
}

std::string ConfigReader::Where(std::string_view key) const {
  std::string path = path_ + std::string(key);
  if (path.ends_with('.')) path.pop_back();
  return path.empty() ? file_ : fmt::format("{}: {}", file_, path);
}

void ConfigReader::Refuse(std::string_view key, std::string_view problem,
                          std::string_view hint) const {
  throw Error(ErrorKind::kModel, Where(key), problem, hint);
}

void ConfigReader::Note(std::string_view key, std::string_view text) const {
  notes_->push_back(fmt::format("{} {}", Where(key), text));
}

ConfigReader::Found ConfigReader::Lookup(const Keys& keys) const {
  Found found;
  for (const std::string_view key : keys.names) {
    const json::Value* value = object_->Find(key);
    if (value == nullptr || value->is_null()) continue;
    if (found.value == nullptr) {
      found = {key, value};
    } else if (!SameValue(*found.value, *value)) {
      Refuse(key,
             fmt::format("is {}, but its other spelling {} is {}", Shown(*value), found.key,
                         Shown(*found.value)),
             "keep the one that is right");
    }
  }
  return found;
}

ConfigReader::Found ConfigReader::Need(const Keys& keys) const {
  const Found found = Lookup(keys);
  if (found.value != nullptr) return found;
  std::string hint;
  if (keys.names.size() > 1) {
    hint =
        fmt::format("also read as {}", fmt::join(keys.names.begin() + 1, keys.names.end(), " or "));
  }
  Refuse(keys.names.front(), "is missing", hint);
}

void ConfigReader::WrongType(const Found& found, std::string_view wanted) const {
  Refuse(found.key, fmt::format("is {}, not {}", Shown(*found.value), wanted));
}

bool ConfigReader::IsNull(std::string_view key) const {
  const json::Value* value = object_->Find(key);
  return value != nullptr && value->is_null();
}

int64_t ConfigReader::ToInt(const Found& found, const json::Value& value, IntRange range) const {
  if (value.kind() != json::Kind::kInteger) {
    Refuse(found.key, fmt::format("is {}, not an integer", Shown(value)));
  }
  const auto number = value.int64();
  if (!number || *number < range.low || *number > range.high) {
    Refuse(found.key, fmt::format("is {}", Shown(value)),
           fmt::format("from {} to {}", range.low, range.high));
  }
  return *number;
}

std::optional<int64_t> ConfigReader::FindInt(const Keys& keys, IntRange range) const {
  const Found found = Lookup(keys);
  if (found.value == nullptr) return std::nullopt;
  return ToInt(found, *found.value, range);
}

int64_t ConfigReader::Int(const Keys& keys, IntRange range) const {
  const Found found = Need(keys);
  return ToInt(found, *found.value, range);
}

int64_t ConfigReader::IntOr(const Keys& keys, IntRange range, int64_t class_default) const {
  if (const auto value = FindInt(keys, range)) return *value;
  Note(keys.names.front(), fmt::format("is absent: the makers' default {} is used", class_default));
  return class_default;
}

std::optional<double> ConfigReader::FindFloat(const Keys& keys, FloatRange range) const {
  const Found found = Lookup(keys);
  if (found.value == nullptr) return std::nullopt;
  if (!IsNumber(*found.value)) WrongType(found, "a number");
  const double number = found.value->number();
  if (!(number >= range.low && number <= range.high)) {
    Refuse(found.key, fmt::format("is {}", Shown(*found.value)),
           fmt::format("from {} to {}", range.low, range.high));
  }
  return number;
}

double ConfigReader::Float(const Keys& keys, FloatRange range) const {
  Need(keys);
  return *FindFloat(keys, range);
}

double ConfigReader::FloatOr(const Keys& keys, FloatRange range, double class_default) const {
  if (const auto value = FindFloat(keys, range)) return *value;
  Note(keys.names.front(), fmt::format("is absent: the makers' default {} is used", class_default));
  return class_default;
}

std::optional<bool> ConfigReader::FindBool(const Keys& keys) const {
  const Found found = Lookup(keys);
  if (found.value == nullptr) return std::nullopt;
  if (found.value->kind() != json::Kind::kBool) WrongType(found, "true or false");
  return found.value->boolean();
}

bool ConfigReader::Bool(const Keys& keys) const {
  Need(keys);
  return *FindBool(keys);
}

bool ConfigReader::BoolOr(const Keys& keys, bool class_default) const {
  if (const auto value = FindBool(keys)) return *value;
  Note(keys.names.front(), fmt::format("is absent: the makers' default {} is used", class_default));
  return class_default;
}

std::optional<std::string> ConfigReader::FindString(const Keys& keys) const {
  const Found found = Lookup(keys);
  if (found.value == nullptr) return std::nullopt;
  if (!found.value->is_string()) WrongType(found, "a string");
  return found.value->string();
}

std::string ConfigReader::String(const Keys& keys) const {
  Need(keys);
  return *FindString(keys);
}

size_t ConfigReader::OneOf(const Keys& keys, const std::vector<std::string_view>& accepted,
                           std::optional<size_t> class_default) const {
  const auto value = FindString(keys);
  if (!value) {
    if (!class_default) Need(keys);
    Note(keys.names.front(),
         fmt::format("is absent: the makers' default {} is used", accepted[*class_default]));
    return *class_default;
  }
  for (size_t i = 0; i < accepted.size(); ++i) {
    if (*value == accepted[i]) return i;
  }
  Refuse(Lookup(keys).key, fmt::format("is '{}', which is not supported", OneLine(*value, 60)),
         fmt::format("{}", fmt::join(accepted, " or ")));
}

std::optional<std::vector<int64_t>> ConfigReader::FindInts(const Keys& keys, IntRange each) const {
  const Found found = Lookup(keys);
  if (found.value == nullptr) return std::nullopt;
  if (!found.value->is_array()) WrongType(found, "an array of integers");
  std::vector<int64_t> values;
  for (const json::Value& item : found.value->items()) {
    const std::string key = fmt::format("{}[{}]", found.key, values.size());
    values.push_back(ToInt({key, &item}, item, each));
  }
  return values;
}

std::vector<int64_t> ConfigReader::IntOrInts(const Keys& keys, IntRange each) const {
  const Found found = Lookup(keys);
  if (found.value == nullptr) return {};
  if (found.value->is_array()) return *FindInts(keys, each);
  return {ToInt(found, *found.value, each)};
}

std::optional<std::vector<std::string>> ConfigReader::FindStrings(const Keys& keys) const {
  const Found found = Lookup(keys);
  if (found.value == nullptr) return std::nullopt;
  if (!found.value->is_array()) WrongType(found, "an array of strings");
  std::vector<std::string> values;
  for (const json::Value& item : found.value->items()) {
    const std::string key = fmt::format("{}[{}]", found.key, values.size());
    if (!item.is_string()) WrongType({key, &item}, "a string");
    values.push_back(item.string());
  }
  return values;
}

std::optional<ConfigReader> ConfigReader::FindObject(const Keys& keys) const {
  const Found found = Lookup(keys);
  if (found.value == nullptr) return std::nullopt;
  if (!found.value->is_object()) WrongType(found, "an object");
  ConfigReader inner = *this;
  inner.object_ = found.value;
  inner.path_ = fmt::format("{}{}.", path_, found.key);
  return inner;
}

ConfigReader ConfigReader::Object(const Keys& keys) const {
  Need(keys);
  return *FindObject(keys);
}

json::Value ReadConfigFile(const std::filesystem::path& folder, std::string_view name) {
  RequireFolder(folder);
  json::Value value = ReadStrictJson(folder / name, kMaxConfigBytes);
  if (!value.is_object()) {
    throw Error(ErrorKind::kModel, name,
                fmt::format("is {}, not an object", json::KindName(value.kind())));
  }
  return value;
}

ModelType ReadModelType(const std::filesystem::path& folder) {
  const json::Value value = ReadConfigFile(folder);
  std::vector<std::string> notes;
  const ConfigReader root(value, "config.json", notes);
  return {root.String("model_type"),
          root.FindStrings("architectures").value_or(std::vector<std::string>())};
}

}  // namespace assay::formats

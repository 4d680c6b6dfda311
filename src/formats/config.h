// Typed reading of config.json. Errors are Error(kModel) and name the file and the full path of the
// key ("config.json: text_config.hidden_size"). A null counts as absent, as transformers counts it.
// Unknown keys are not looked at: every published config holds keys of its training code.
#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace assay::formats {

// The accepted spellings of one key. Two present spellings whose values differ are refused.
struct Keys {
  Keys(const char* name) : names{name} {}  // NOLINT(google-explicit-constructor)
  Keys(std::initializer_list<std::string_view> spellings) : names(spellings) {}
  std::vector<std::string_view> names;
};

// Both ends included.
struct IntRange {
  int64_t low = 0;
  int64_t high = 0;
};
struct FloatRange {
  double low = 0;
  double high = 0;
};

// A view of one object of a config file. The value, and `notes`, must outlive it.
class ConfigReader {
 public:
  ConfigReader(const json::Value& object, std::string file, std::vector<std::string>& notes);

  // Present and not null.
  bool Has(const Keys& keys) const { return Lookup(keys).value != nullptr; }
  // Present and null, for the rare key where that is not the same as absent.
  bool IsNull(std::string_view key) const;

  // Each Find returns nothing when absent and refuses a value of another type or out of range; the
  // plain form refuses absence too; the Or form takes the makers' class default and notes that.
  std::optional<int64_t> FindInt(const Keys& keys, IntRange range) const;
  int64_t Int(const Keys& keys, IntRange range) const;
  int64_t IntOr(const Keys& keys, IntRange range, int64_t class_default) const;
  // Integers count as floats.
  std::optional<double> FindFloat(const Keys& keys, FloatRange range) const;
  double Float(const Keys& keys, FloatRange range) const;
  double FloatOr(const Keys& keys, FloatRange range, double class_default) const;
  std::optional<bool> FindBool(const Keys& keys) const;
  bool Bool(const Keys& keys) const;
  bool BoolOr(const Keys& keys, bool class_default) const;
  std::optional<std::string> FindString(const Keys& keys) const;
  std::string String(const Keys& keys) const;
  // A string that must be one of `accepted`; returns its index. Absent: the default's index.
  size_t OneOf(const Keys& keys, const std::vector<std::string_view>& accepted,
               std::optional<size_t> class_default = std::nullopt) const;
  std::optional<std::vector<int64_t>> FindInts(const Keys& keys, IntRange each) const;
  // One integer or an array of them; empty when absent.
  std::vector<int64_t> IntOrInts(const Keys& keys, IntRange each) const;
  std::optional<std::vector<std::string>> FindStrings(const Keys& keys) const;
  std::optional<ConfigReader> FindObject(const Keys& keys) const;
  ConfigReader Object(const Keys& keys) const;

  // The members of this object, for keys that are data (layer kinds).
  const std::vector<json::Value::Member>& members() const { return object_->members(); }
  // "config.json: text_config.KEY"; an empty key names the object itself.
  std::string Where(std::string_view key) const;
  [[noreturn]] void Refuse(std::string_view key, std::string_view problem,
                           std::string_view hint = "") const;
  // A line that a front door may print: something decided that the file does not say.
  void Note(std::string_view key, std::string_view text) const;

 private:
  struct Found {
    std::string_view key;
    const json::Value* value = nullptr;
  };
  Found Lookup(const Keys& keys) const;
  Found Need(const Keys& keys) const;
  [[noreturn]] void WrongType(const Found& found, std::string_view wanted) const;
  int64_t ToInt(const Found& found, const json::Value& value, IntRange range) const;

  const json::Value* object_;
  std::string file_;
  std::string path_;  // "text_config." or ""
  std::vector<std::string>* notes_;
};

// config.json of a model folder, parsed; the root is an object and no key appears twice. Errors:
// no such folder, no such file, not JSON, not an object.
json::Value ReadConfigFile(const std::filesystem::path& folder,
                           std::string_view name = "config.json");

struct ModelType {
  std::string model_type;                  // "lfm2_vl"
  std::vector<std::string> architectures;  // may be empty
};

// What the family registry needs to choose a family.
ModelType ReadModelType(const std::filesystem::path& folder);

}  // namespace assay::formats

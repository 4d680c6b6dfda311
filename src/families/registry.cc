#include "families/registry.h"

#include <fmt/format.h>

#include <algorithm>

#include "families/d1/d1.h"
#include "formats/checkpoint.h"
#include "formats/config.h"

namespace assay::families {
namespace {

struct FamilyRow {
  std::string_view name;
  std::string_view model_type;  // as config.json says it
  std::unique_ptr<Family> (*load)(const std::filesystem::path& folder, const LoadOptions& options);
};

constexpr FamilyRow kFamilies[] = {
    {"d1", "lfm2_vl",
     [](const std::filesystem::path& folder, const LoadOptions& options) {
       return d1::Load(folder, {options.max_row, options.threads, options.compute});
     }},
};

std::string KnownTypes() {
  std::string out;
  for (const FamilyRow& row : kFamilies) {
    out += fmt::format("{}{} ({})", out.empty() ? "" : ", ", row.model_type, row.name);
  }
  return out;
}

// `where` of an error below names a file or the folder by its last part. With the folder as the
// caller gave it, it says which of several models is meant.
std::string WhereIn(const std::filesystem::path& folder, const std::string& where) {
  const std::string name = where.substr(0, where.find(": "));
  std::error_code ignored;
  if (name == formats::FolderName(folder) && !std::filesystem::exists(folder / name, ignored))
    return folder.string() + where.substr(name.size());
  const bool is_file = name.ends_with(".json") || name.ends_with(".safetensors");
  return is_file ? (folder / where).string() : where;
}

std::unique_ptr<Family> LoadNamed(const std::filesystem::path& folder, const LoadOptions& options) {
  const formats::ModelType type = formats::ReadModelType(folder);
  for (const FamilyRow& row : kFamilies) {
    if (row.model_type == type.model_type) return row.load(folder, options);
  }
  throw Error(ErrorKind::kModel, "config.json",
              fmt::format("model_type '{}' is not a family assay knows", type.model_type),
              fmt::format("one of: {}", KnownTypes()));
}

}  // namespace

std::unique_ptr<Family> LoadFamily(const std::filesystem::path& folder,
                                   const LoadOptions& options) {
  try {
    return LoadNamed(folder, options);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kModel) throw;
    throw Error(error.kind(), WhereIn(folder, error.where()), error.message(), error.hint());
  }
}

}  // namespace assay::families

#include "families/registry.h"

#include <fmt/format.h>

#include <algorithm>

#include "families/d1/d1.h"
#include "families/kev/kev.h"
#include "formats/checkpoint.h"
#include "formats/config.h"

namespace assay::families {
namespace {

namespace fs = std::filesystem;

struct FamilyRow {
  std::string_view name;
  std::string_view sign;  // what a folder of this family shows, for messages
  bool (*is)(const fs::path& folder);
  std::unique_ptr<Family> (*load)(const fs::path& folder, const LoadOptions& options);
};

// Options of other families, which would be ignored silently.
void RefuseKevOptions(const LoadOptions& options) {
  const LoadOptions plain;
  const char* given = !options.base.empty()          ? "--base"
                      : options.merge != plain.merge ? "--merge"
                      : options.delta != plain.delta ? "--delta"
                      : options.date_facts           ? "--date-facts"
                                                     : nullptr;
  if (given == nullptr) return;
  throw Error(ErrorKind::kUsage, given, "is for models of the kev family, and this is a d1 model",
              fmt::format("no {}", given));
}

constexpr FamilyRow kFamilies[] = {
    {"kev", "a folder with head.pt", kev::IsKevFolder, kev::Load},
    {"d1", "lfm2_vl",
     [](const fs::path& folder) { return formats::ReadModelType(folder).model_type == "lfm2_vl"; },
     [](const fs::path& folder, const LoadOptions& options) {
       RefuseKevOptions(options);
       return d1::Load(folder, {options.max_row, options.threads, options.compute});
     }},
};

std::string KnownSigns() {
  std::string out;
  for (const FamilyRow& row : kFamilies)
    out += fmt::format("{}{} ({})", out.empty() ? "" : ", ", row.sign, row.name);
  return out;
}

// `where` of an error below names a file or the folder by its last part. With the folder as the
// caller gave it, it says which of several models is meant.
std::string WhereIn(const std::filesystem::path& folder, const std::string& where) {
  const std::string name = where.substr(0, where.find(": "));
  std::error_code ignored;
  if (name == formats::FolderName(folder) && !std::filesystem::exists(folder / name, ignored))
    return folder.string() + where.substr(name.size());
  const bool is_file =
      name.find('/') == std::string::npos &&
      (name.ends_with(".json") || name.ends_with(".safetensors") || name.ends_with(".pt"));
  return is_file ? (folder / where).string() : where;
}

std::unique_ptr<Family> LoadNamed(const std::filesystem::path& folder, const LoadOptions& options) {
  for (const FamilyRow& row : kFamilies) {
    if (row.is(folder)) return row.load(folder, options);
  }
  throw Error(ErrorKind::kModel, "config.json",
              fmt::format("model_type '{}' is not a family assay knows",
                          formats::ReadModelType(folder).model_type),
              fmt::format("one of: {}", KnownSigns()));
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

#include "families/registry.h"

#include <fmt/format.h>

#include <algorithm>

#include "families/d1/d1.h"
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
       return d1::Load(folder, {options.max_row, options.threads});
     }},
};

std::string KnownTypes() {
  std::string out;
  for (const FamilyRow& row : kFamilies) {
    out += fmt::format("{}{} ({})", out.empty() ? "" : ", ", row.model_type, row.name);
  }
  return out;
}

}  // namespace

std::unique_ptr<Family> LoadFamily(const std::filesystem::path& folder,
                                   const LoadOptions& options) {
  const formats::ModelType type = formats::ReadModelType(folder);
  for (const FamilyRow& row : kFamilies) {
    if (row.model_type == type.model_type) return row.load(folder, options);
  }
  throw Error(ErrorKind::kModel, "config.json",
              fmt::format("model_type '{}' is not a family assay knows", type.model_type),
              fmt::format("one of: {}", KnownTypes()));
}

}  // namespace assay::families

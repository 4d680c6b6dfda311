#include "testing/temp_folder.h"

#include <stdlib.h>

#include <fstream>
#include <string>

#include "base/check.h"

namespace assay::testing {

TempFolder::TempFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "assay-test-XXXXXX").string();
  ASSAY_CHECK(mkdtemp(name.data()) != nullptr);
  path_ = name;
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path TempFolder::Write(const std::filesystem::path& name,
                                        std::string_view content) const {
  const std::filesystem::path target = path_ / name;
  std::filesystem::create_directories(target.parent_path());
  std::ofstream out(target, std::ios::binary);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  out.close();
  ASSAY_CHECK(out.good());
  return target;
}

}  // namespace assay::testing

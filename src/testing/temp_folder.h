// A folder of one test's own, removed with everything in it when the test ends.
#pragma once

#include <filesystem>
#include <string_view>

namespace assay::testing {

class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // Writes a file, making its folders, and returns its path.
  std::filesystem::path Write(const std::filesystem::path& name, std::string_view content) const;

 private:
  std::filesystem::path path_;
};

}  // namespace assay::testing

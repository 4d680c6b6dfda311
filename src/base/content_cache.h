// What is worth keeping between runs and can be made again: today the SHA-256 of large files, each
// remembered as long as its file is the same (design 4).
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "assay/error.h"

namespace assay {

// A folder with one small file for each entry. Entries are written under another name and renamed,
// so two processes may use the folder at once; one that is cut, foreign or of a file that changed
// counts as missing. A folder that cannot be written keeps nothing, which is no error.
class ContentCache {
 public:
  // $ASSAY_CACHE, else $XDG_CACHE_HOME/assay, else ~/.cache/assay; keeps nothing when none is set.
  static ContentCache OfUser();
  explicit ContentCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

  const std::filesystem::path& folder() const { return folder_; }

  // The SHA-256 of a file in lower-case hex: remembered under device, inode, size, and the times of
  // its last change, or read from the file. `verify` always reads. Throws Error(kind) when the file
  // cannot be read.
  std::string FileSha256(const std::filesystem::path& file, ErrorKind kind, bool verify) const;

  struct Entry {
    std::string name;  // of the file when it was read, without its folder
    std::string sha256;
    size_t bytes = 0;    // of that file
    size_t on_disk = 0;  // of the entry
  };
  // Sound entries, by name.
  std::vector<Entry> List() const;
  // Removes every file that this class wrote; how many.
  size_t Clear() const;

  // More entries than these, and the ones used longest ago go.
  static constexpr size_t kMostEntries = 1024;

 private:
  std::filesystem::path EntriesFolder() const { return folder_ / "sha256"; }
  void Keep(const std::string& key, const std::string& text) const;
  void RemoveOldest() const;

  std::filesystem::path folder_;
};

}  // namespace assay

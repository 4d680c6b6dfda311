// The weights of a Hugging Face checkpoint folder: one model.safetensors, or shards that
// model.safetensors.index.json lists.
//
// Rules where the makers' readers differ or guess (all refusals are Error(kModel)):
//  * Both model.safetensors and an index: refused as ambiguous (transformers would read the single
//    file, others the index).
//  * A shard name is a plain file name ending in .safetensors: no folder, no "..", no absolute
//  path.
//    Every name is checked before any shard is opened. Subfolders are refused. A shard may be a
//    symbolic link (the Hugging Face cache is made of links).
//  * A tensor must lie in the shard that the index names; elsewhere or nowhere is refused.
//  * A listed tensor that lies in a second shard as well is refused.
//  * A tensor that the index does not list is not used; a note says so.
//  * Missing shards are all named in one error. metadata.total_size is not read: published indexes
//    disagree on what it counts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "formats/safetensors.h"

namespace assay::formats {

struct CheckpointFile {
  std::string name;  // without its folder
  std::filesystem::path path;
  uint64_t bytes = 0;
};

// Immutable; keeps its files mapped, and its tensors stay where they are when it is moved.
class Checkpoint {
 public:
  // Throws Error(kModel) for a missing folder, missing weights and everything above.
  static Checkpoint Open(const std::filesystem::path& folder);
  // One safetensors file on its own, for example an adapter.
  static Checkpoint OpenFile(const std::filesystem::path& file);

  // The file that stands for the whole in messages: the index, or the only file.
  const std::string& name() const { return name_; }
  // By source name; null when there is none.
  const Tensor* Find(std::string_view source_name) const;
  // The usable tensors, sorted by source name.
  const std::vector<const Tensor*>& tensors() const { return tensors_; }
  // The weight files, sorted by name. The index is not one of them.
  const std::vector<CheckpointFile>& files() const { return files_; }
  // SHA-256 of files()[file], in lower-case hex: remembered, or read (base/content_cache.h).
  std::string Sha256(size_t file) const;
  // Lines that a front door may print: what was left out and why.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  Checkpoint() = default;
  void OpenShards(const std::filesystem::path& folder);
  void AddShard(SafetensorsFile shard);

  std::string name_;
  std::vector<SafetensorsFile> shards_;
  std::vector<CheckpointFile> files_;
  std::vector<const Tensor*> tensors_;
  std::vector<std::string> notes_;
};

// The last part of its path: what errors about a folder as a whole name.
std::string FolderName(const std::filesystem::path& folder);

// Throws Error(kModel) unless `folder` is an existing folder.
void RequireFolder(const std::filesystem::path& folder);

// "a, b, c and 4 more": at most `shown` names, each cut to a printable length.
std::string NameList(const std::vector<std::string>& names, size_t shown = 3);

}  // namespace assay::formats

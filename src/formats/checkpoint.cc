#include "formats/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "assay/error.h"
#include "base/check.h"
#include "base/content_cache.h"
#include "formats/strict_json.h"

namespace assay::formats {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSingleName = "model.safetensors";
constexpr std::string_view kIndexName = "model.safetensors.index.json";
constexpr std::string_view kSuffix = ".safetensors";
// An index has about 100 bytes per tensor; the largest published ones stay below 20 MB.
constexpr size_t kMaxIndexBytes = 100'000'000;

// Source name -> shard name.
using WeightMap = std::map<std::string, std::string, std::less<>>;

bool Exists(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

[[noreturn]] void RefuseIndex(std::string_view tensor, std::string_view problem,
                              std::string_view hint) {
  throw Error(ErrorKind::kModel, fmt::format("{}: {}", kIndexName, tensor), problem, hint);
}

void CheckShardName(std::string_view tensor, std::string_view shard) {
  const std::string shown = OneLine(shard, 120);
  if (shard.find_first_of("/\\") != std::string_view::npos || shard == "." || shard == "..") {
    RefuseIndex(tensor, fmt::format("is said to be in '{}', a path", shown),
                "a shard is a plain file name in the model's own folder");
  }
  if (shard.size() <= kSuffix.size() || !shard.ends_with(kSuffix) ||
      shard.find('\0') != std::string_view::npos) {
    RefuseIndex(tensor, fmt::format("is said to be in '{}'", shown),
                "a shard is a file name that ends in .safetensors");
  }
}

// Reads the index; every shard name in the result has been checked.
WeightMap ReadIndex(const fs::path& path) {
  const json::Value index = ReadStrictJson(path, kMaxIndexBytes);
  const json::Value* map = index.Find("weight_map");
  if (map == nullptr || !map->is_object()) {
    throw Error(ErrorKind::kModel, kIndexName, "has no object weight_map",
                "an object that gives each tensor's file name");
  }
  if (map->members().empty()) {
    throw Error(ErrorKind::kModel, kIndexName, "has an empty weight_map",
                "download the file again");
  }
  WeightMap homes;
  for (const auto& [tensor, shard] : map->members()) {
    if (!shard.is_string()) {
      RefuseIndex(tensor, fmt::format("has {} for a file name", json::KindName(shard.kind())),
                  "a string such as model-00001-of-00002.safetensors");
    }
    CheckShardName(tensor, shard.string());
    homes.emplace(tensor, shard.string());
  }
  return homes;
}

std::set<std::string> ShardNames(const WeightMap& homes) {
  std::set<std::string> names;
  for (const auto& [tensor, shard] : homes) names.insert(shard);
  return names;
}

void RequireShards(const fs::path& folder, const std::set<std::string>& shards) {
  std::vector<std::string> missing;
  for (const std::string& shard : shards) {
    if (!Exists(folder / shard)) missing.push_back(shard);
  }
  if (missing.empty()) return;
  throw Error(ErrorKind::kModel, kIndexName,
              fmt::format("{} of {} shards {} missing: {}", missing.size(), shards.size(),
                          missing.size() == 1 ? "is" : "are", NameList(missing, 4)),
              "download them into the same folder");
}

const SafetensorsFile* ShardWith(const std::vector<SafetensorsFile>& shards,
                                 std::string_view tensor, std::string_view except) {
  for (const SafetensorsFile& shard : shards) {
    if (shard.name() != except && shard.Find(tensor) != nullptr) return &shard;
  }
  return nullptr;
}

// The listed tensor, from the shard the index names and from no other.
const Tensor* TakeHome(const std::vector<SafetensorsFile>& shards, const std::string& tensor,
                       const std::string& home) {
  const auto shard = std::find_if(shards.begin(), shards.end(),
                                  [&](const SafetensorsFile& s) { return s.name() == home; });
  ASSAY_CHECK(shard != shards.end());
  const Tensor* found = shard->Find(tensor);
  const SafetensorsFile* other = ShardWith(shards, tensor, home);
  if (found == nullptr) {
    RefuseIndex(tensor, fmt::format("is not in {}, where the index puts it", home),
                other == nullptr ? "download that shard and the index again"
                                 : fmt::format("{} holds it: index and shards are from different "
                                               "versions; download them again",
                                               other->name()));
  }
  if (other != nullptr) {
    RefuseIndex(tensor, fmt::format("is in two shards: {} and {}", home, other->name()),
                "download the shards again, all from one version");
  }
  return found;
}

std::string NoWeightsHint(const fs::path& folder) {
  for (const char* other : {"pytorch_model.bin", "pytorch_model.bin.index.json"}) {
    if (Exists(folder / other)) {
      return fmt::format("{} is there, but only safetensors is read: convert it first", other);
    }
  }
  return fmt::format("the folder needs {} or {}", kSingleName, kIndexName);
}

// "a/b/" is the folder b in a.
fs::path WithoutEndSlash(const fs::path& folder) {
  return folder.has_filename() ? folder : folder.parent_path();
}

}  // namespace

std::string FolderName(const fs::path& folder) {
  const std::string last = WithoutEndSlash(folder).filename().string();
  return last.empty() ? folder.string() : last;
}

void RequireFolder(const fs::path& folder) {
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (status.type() == fs::file_type::directory) return;
  if (status.type() == fs::file_type::not_found) {
    const fs::path parent = WithoutEndSlash(folder).parent_path();
    throw Error(ErrorKind::kModel, FolderName(folder), "no such folder",
                fmt::format("looked in {}", parent.empty() ? "." : parent.string()));
  }
  if (status.type() == fs::file_type::none) {
    throw Error(ErrorKind::kModel, FolderName(folder),
                fmt::format("cannot be examined: {}", error.message()));
  }
  throw Error(ErrorKind::kModel, FolderName(folder), "is a file", "name the model's folder");
}

std::string NameList(const std::vector<std::string>& names, size_t shown) {
  std::string list;
  for (size_t i = 0; i < std::min(shown, names.size()); ++i) {
    list += fmt::format("{}{}", i == 0 ? "" : ", ", OneLine(names[i], 100));
  }
  if (names.size() > shown) list += fmt::format(" and {} more", names.size() - shown);
  return list;
}

Checkpoint Checkpoint::Open(const fs::path& folder) {
  RequireFolder(folder);
  const bool single = Exists(folder / kSingleName);
  const bool index = Exists(folder / kIndexName);
  if (single && index) {
    throw Error(ErrorKind::kModel, FolderName(folder),
                fmt::format("has both {} and {}", kSingleName, kIndexName),
                "readers disagree on which counts: remove the stale one");
  }
  if (single) return OpenFile(folder / kSingleName);
  if (!index) {
    throw Error(ErrorKind::kModel, FolderName(folder), "holds no weights", NoWeightsHint(folder));
  }
  Checkpoint checkpoint;
  checkpoint.OpenShards(folder);
  return checkpoint;
}

Checkpoint Checkpoint::OpenFile(const fs::path& file) {
  Checkpoint checkpoint;
  checkpoint.AddShard(SafetensorsFile(file));
  checkpoint.name_ = checkpoint.shards_.front().name();
  for (const Tensor& tensor : checkpoint.shards_.front().tensors()) {
    checkpoint.tensors_.push_back(&tensor);
  }
  return checkpoint;
}

void Checkpoint::AddShard(SafetensorsFile shard) {
  files_.push_back({shard.name(), shard.path(), shard.file_bytes().size()});
  shards_.push_back(std::move(shard));
}

void Checkpoint::OpenShards(const fs::path& folder) {
  name_ = kIndexName;
  const WeightMap homes = ReadIndex(folder / kIndexName);
  const std::set<std::string> names = ShardNames(homes);
  RequireShards(folder, names);
  for (const std::string& name : names) AddShard(SafetensorsFile(folder / name));
  for (const auto& [tensor, home] : homes) tensors_.push_back(TakeHome(shards_, tensor, home));
  for (const SafetensorsFile& shard : shards_) {
    std::vector<std::string> unlisted;
    for (const Tensor& tensor : shard.tensors()) {
      if (!homes.contains(tensor.name)) unlisted.push_back(tensor.name);
    }
    if (unlisted.empty()) continue;
    notes_.push_back(fmt::format(
        "{}: {} not in the index, not used: {}", shard.name(),
        unlisted.size() == 1 ? "one tensor is" : fmt::format("{} tensors are", unlisted.size()),
        NameList(unlisted)));
  }
}

const Tensor* Checkpoint::Find(std::string_view source_name) const {
  const auto at = std::lower_bound(
      tensors_.begin(), tensors_.end(), source_name,
      [](const Tensor* tensor, std::string_view wanted) { return tensor->name < wanted; });
  return at != tensors_.end() && (*at)->name == source_name ? *at : nullptr;
}

std::string Checkpoint::Sha256(size_t file) const {
  return ContentCache::OfUser().FileSha256(files_[file].path, ErrorKind::kModel, false);
}

}  // namespace assay::formats

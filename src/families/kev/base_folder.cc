#include "families/kev/base_folder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <system_error>
#include <vector>

#include "assay/error.h"
#include "base/file.h"

namespace assay::families::kev {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kConfig = "config.json";
constexpr size_t kMaxRefBytes = 1024;

bool IsFile(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

bool IsFolder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

// model*.safetensors, under the published names and the unusual ones (spec kev 1.2).
bool HasWeights(const fs::path& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("model") && name.ends_with(".safetensors")) return true;
  }
  return false;
}

// Why a folder cannot be a base; empty when it can.
std::string_view Fault(const fs::path& folder) {
  if (!IsFolder(folder)) return "no such folder";
  if (!IsFile(folder / kConfig)) return "has no config.json";
  return "";
}

fs::path ExpandHome(const std::string& path, const std::string& home) {
  if (path == "~") return home;
  if (path.starts_with("~/") && !home.empty()) return fs::path(home) / path.substr(2);
  return path;
}

// "owner/name" or "name" as the Hub spells them. Anything else (a folder of the training machine,
// "..") must not become a path here.
bool IsRepository(std::string_view name) {
  const auto part_is_good = [](std::string_view part) {
    return !part.empty() && part.size() <= 96 && part.front() != '.' &&
           std::all_of(part.begin(), part.end(), [](unsigned char c) {
             return c < 0x80 && (std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.');
           });
  };
  const size_t slash = name.find('/');
  if (slash == std::string_view::npos) return part_is_good(name);
  return part_is_good(name.substr(0, slash)) && part_is_good(name.substr(slash + 1));
}

// A commit, or a branch or tag, which may have slashes in it ("refs/pr/1").
bool IsRevision(std::string_view name) {
  if (name.empty() || name.size() > 255 || name.front() == '/') return false;
  if (name.find("..") != std::string_view::npos) return false;
  return std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return c < 0x80 && (std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.' || c == '/');
  });
}

// What refs/NAME says: one commit.
std::string ReadRef(const fs::path& path) {
  if (!IsFile(path)) return "";
  std::string commit;
  try {
    commit = ReadFile(path, ErrorKind::kModel, kMaxRefBytes);
  } catch (const Error&) {
    return "";  // as good as absent: the place is listed as tried
  }
  commit.erase(commit.find_last_not_of(" \r\n\t") + 1);
  const bool good = IsRevision(commit) && commit.find('/') == std::string::npos;
  return good ? commit : "";
}

class Search {
 public:
  // True when `folder` is the base; otherwise it is written down as tried.
  bool Try(const fs::path& folder, std::string_view shown) {
    const std::string_view fault = Fault(folder);
    if (fault.empty()) return true;
    Note(shown, fault);
    return false;
  }
  void Note(std::string_view shown, std::string_view fault) {
    tried_.push_back(fmt::format("{} ({})", shown, fault));
  }
  std::string Tried() const { return fmt::format("{}", fmt::join(tried_, ", ")); }

 private:
  std::vector<std::string> tried_;
};

// The base's snapshot in the cache; nothing when it is not there, which `search` then says.
std::optional<fs::path> FindSnapshot(const HeadFile& head, const CacheEnvironment& environment,
                                     Search& search) {
  const std::optional<HubCache> cache = FindHubCache(environment);
  const std::string revision = head.base_revision.value_or("main");
  if (!cache) {
    search.Note("the Hugging Face cache", "no HF_HUB_CACHE, HF_HOME or HOME");
    return std::nullopt;
  }
  if (!IsRepository(head.base) || !IsRevision(revision)) {
    search.Note(cache->shown, "the base's name or revision is none of the Hub");
    return std::nullopt;
  }
  std::string repository = "models--" + head.base;
  if (const size_t slash = repository.find('/'); slash != std::string::npos) {
    repository.replace(slash, 1, "--");
  }
  const fs::path root = cache->path / repository;
  const std::string shown = fmt::format("{}/{}", cache->shown, repository);
  if (!IsFolder(root)) {
    search.Note(shown, "no such folder");
    return std::nullopt;
  }
  // As huggingface_hub looks: what a ref of this name says, then the name as a commit.
  const std::string commit = ReadRef(root / "refs" / revision);
  const std::string& snapshot = commit.empty() ? revision : commit;
  if (snapshot.find('/') != std::string::npos) {
    search.Note(fmt::format("{}/refs/{}", shown, revision), "no such ref");
    return std::nullopt;
  }
  fs::path folder = root / "snapshots" / snapshot;
  if (search.Try(folder, fmt::format("{}/snapshots/{}", shown, snapshot))) return folder;
  return std::nullopt;
}

}  // namespace

WeightsKind KindOfFolder(const fs::path& folder) {
  if (IsFile(folder / "adapter_config.json")) return WeightsKind::kLora;
  if (IsFile(folder / kConfig) && HasWeights(folder)) return WeightsKind::kFull;
  throw Error(ErrorKind::kModel, FolderName(folder),
              IsFolder(folder) ? "is no Kev checkpoint" : "no such folder",
              "a folder with adapter_config.json, or with config.json and model*.safetensors");
}

std::optional<HubCache> FindHubCache(const CacheEnvironment& environment) {
  const std::string& home = environment.home;
  if (!environment.hf_hub_cache.empty()) {
    return HubCache{ExpandHome(environment.hf_hub_cache, home), "HF_HUB_CACHE"};
  }
  if (!environment.huggingface_hub_cache.empty()) {
    return HubCache{ExpandHome(environment.huggingface_hub_cache, home), "HUGGINGFACE_HUB_CACHE"};
  }
  if (!environment.hf_home.empty()) {
    return HubCache{ExpandHome(environment.hf_home, home) / "hub", "HF_HOME/hub"};
  }
  if (!environment.xdg_cache_home.empty()) {
    return HubCache{ExpandHome(environment.xdg_cache_home, home) / "huggingface" / "hub",
                    "XDG_CACHE_HOME/huggingface/hub"};
  }
  if (home.empty()) return std::nullopt;
  return HubCache{fs::path(home) / ".cache" / "huggingface" / "hub", "~/.cache/huggingface/hub"};
}

fs::path FindBaseFolder(const fs::path& kev_folder, const HeadFile& head,
                        const std::optional<fs::path>& chosen,
                        const CacheEnvironment& environment) {
  if (chosen) {
    const std::string_view fault = Fault(*chosen);
    if (fault.empty()) return *chosen;
    throw Error(ErrorKind::kModel, FolderName(*chosen),
                fmt::format("is not the base model: {}", fault),
                fmt::format("the folder of {}", OneLine(head.base, 100)));
  }
  Search search;
  const std::string kev = FolderName(kev_folder);
  if (search.Try(kev_folder / "base", kev + "/base")) return kev_folder / "base";
  if (search.Try(kev_folder / ".." / "base", kev + "/../base")) return kev_folder / ".." / "base";
  if (const auto snapshot = FindSnapshot(head, environment, search)) return *snapshot;
  const std::string revision =
      head.base_revision ? fmt::format(" at {}", OneLine(*head.base_revision, 60)) : "";
  throw Error(ErrorKind::kModel, kev,
              fmt::format("needs its base model {}{}, which was not found; tried {}",
                          OneLine(head.base, 100), revision, search.Tried()),
              "name its folder with --base");
}

}  // namespace assay::families::kev

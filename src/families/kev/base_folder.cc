#include "families/kev/base_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "assay/error.h"
#include "base/file.h"

namespace assay::families::kev {

namespace fs = std::filesystem;

namespace {

constexpr size_t kMostRefBytes = 4096;

bool HoldsModel(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_regular_file(folder / "config.json", ignored);
}

// One part of a path, so that a name in a file cannot lead elsewhere.
bool IsPlainPart(const std::string& text) {
  const bool plain = std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  });
  return plain && !text.empty() && text != "." && text != "..";
}

// "models--OWNER--NAME", as the cache calls a repository; nothing when the name is none.
std::optional<std::string> CacheName(const std::string& repository) {
  const size_t slash = repository.find('/');
  if (slash == std::string::npos) return std::nullopt;
  const std::string owner = repository.substr(0, slash);
  const std::string name = repository.substr(slash + 1);
  if (!IsPlainPart(owner) || !IsPlainPart(name)) return std::nullopt;
  return "models--" + owner + "--" + name;
}

// huggingface_hub's own order.
std::optional<fs::path> CacheFolder(const Environment& environment) {
  for (const char* name : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"}) {
    if (const auto folder = environment(name)) return fs::path(*folder);
  }
  if (const auto home = environment("HF_HOME")) return fs::path(*home) / "hub";
  if (const auto cache = environment("XDG_CACHE_HOME")) return fs::path(*cache) / "huggingface/hub";
  if (const auto home = environment("HOME")) return fs::path(*home) / ".cache/huggingface/hub";
  return std::nullopt;
}

// A revision is a commit, or a name that the cache keeps the commit of.
std::string CommitOf(const fs::path& repository, const std::string& revision) {
  const std::string name = revision.empty() ? "main" : revision;
  std::error_code ignored;
  const fs::path ref = repository / "refs" / name;
  if (!fs::is_regular_file(ref, ignored)) return name;
  std::string commit = ReadFile(ref, ErrorKind::kModel, kMostRefBytes);
  while (!commit.empty() && (commit.back() == '\n' || commit.back() == '\r')) commit.pop_back();
  return IsPlainPart(commit) ? commit : name;
}

std::optional<fs::path> SnapshotFolder(const BaseRequest& request, const Environment& environment) {
  const std::optional<std::string> name = CacheName(request.name);
  const std::optional<fs::path> cache = CacheFolder(environment);
  if (!name || !cache) return std::nullopt;
  if (!request.revision.empty() && !IsPlainPart(request.revision)) return std::nullopt;
  const fs::path repository = *cache / *name;
  return repository / "snapshots" / CommitOf(repository, request.revision);
}

}  // namespace

std::optional<std::string> ProcessEnvironment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

fs::path FindBase(const BaseRequest& request, const Environment& environment) {
  if (!request.given.empty()) {
    if (HoldsModel(request.given)) return request.given;
    throw Error(ErrorKind::kModel, "--base",
                fmt::format("{} holds no config.json", request.given.string()),
                "the folder of the base model");
  }
  std::vector<fs::path> tried = {request.kev / "base", request.kev / ".." / "base"};
  if (const auto snapshot = SnapshotFolder(request, environment)) tried.push_back(*snapshot);
  std::string names;
  for (const fs::path& folder : tried) {
    if (HoldsModel(folder)) return folder;
    names += (names.empty() ? "" : ", ") + folder.string();
  }
  throw Error(
      ErrorKind::kModel, "head.pt",
      fmt::format("its base {} is not here; tried {}",
                  request.name.empty() ? "model" : "'" + OneLine(request.name, 80) + "'", names),
      "--base FOLDER");
}

}  // namespace assay::families::kev

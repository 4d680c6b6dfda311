#include "base/content_cache.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>

#include "base/file.h"
#include "base/json.h"
#include "base/sha256.h"

namespace assay {

namespace fs = std::filesystem;

namespace {

constexpr size_t kMostEntryBytes = 4096;
constexpr std::string_view kSuffix = ".json";
constexpr std::string_view kFormat = "assay-sha256/1";
// A file that changed this short a time ago may change again within the same tick of its clock.
constexpr int64_t kSettledNanoseconds = 2'000'000'000;

// What tells one version of a file from another.
struct FileIdentity {
  uint64_t device = 0;
  uint64_t inode = 0;
  uint64_t size = 0;
  int64_t modified = 0;  // nanoseconds
  int64_t changed = 0;

  bool operator==(const FileIdentity&) const = default;
  std::string Text() const {
    return fmt::format("{} {} {} {} {}", device, inode, size, modified, changed);
  }
};

int64_t Nanoseconds(const timespec& time) {
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

FileIdentity IdentityOf(const fs::path& file, ErrorKind kind) {
  struct stat status{};
  if (stat(file.c_str(), &status) != 0) {
    throw Error(kind, file.filename().string(),
                fmt::format("cannot be read: {}", std::strerror(errno)), "a readable file");
  }
  return {status.st_dev, status.st_ino, static_cast<uint64_t>(status.st_size),
          Nanoseconds(status.st_mtim), Nanoseconds(status.st_ctim)};
}

bool IsSettled(const FileIdentity& identity) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return Nanoseconds(now) - std::max(identity.modified, identity.changed) > kSettledNanoseconds;
}

bool IsHash(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

struct Parsed {
  std::string identity;
  ContentCache::Entry entry;
};

// An entry's file, or nothing when it is none.
std::optional<Parsed> ReadEntry(const fs::path& path) {
  try {
    const std::string text = ReadFile(path, ErrorKind::kFile, kMostEntryBytes);
    const json::Value root = json::Parse(text, ErrorKind::kFile, "entry");
    const auto member = [&](std::string_view key) -> std::string {
      const json::Value* value = root.is_object() ? root.Find(key) : nullptr;
      return value != nullptr && value->is_string() ? value->string() : "";
    };
    const json::Value* bytes = root.is_object() ? root.Find("bytes") : nullptr;
    const bool sound = member("format") == kFormat && IsHash(member("sha256")) &&
                       bytes != nullptr && bytes->kind() == json::Kind::kInteger &&
                       bytes->int64().value_or(-1) >= 0;
    if (!sound) return std::nullopt;
    return Parsed{
        member("file"),
        {member("name"), member("sha256"), static_cast<size_t>(*bytes->int64()), text.size()}};
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::string EntryText(const fs::path& file, const FileIdentity& identity,
                      const std::string& sha256) {
  return json::PrintCompact(json::Value::Object(
             {{"format", json::Value::String(std::string(kFormat))},
              {"file", json::Value::String(identity.Text())},
              {"name", json::Value::String(file.filename().string())},
              {"bytes", json::Value::Integer(static_cast<int64_t>(identity.size))},
              {"sha256", json::Value::String(sha256)}})) +
         "\n";
}

// Files of the entries' folder that this class wrote.
std::vector<fs::path> EntryFiles(const fs::path& folder) {
  std::vector<fs::path> out;
  std::error_code ignored;
  for (const auto& item : fs::directory_iterator(folder, ignored)) {
    if (item.path().extension() == kSuffix && IsHash(item.path().stem().string()))
      out.push_back(item.path());
  }
  return out;
}

const char* Variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

}  // namespace

ContentCache ContentCache::OfUser() {
  if (const char* own = Variable("ASSAY_CACHE")) return ContentCache(own);
  if (const char* xdg = Variable("XDG_CACHE_HOME")) return ContentCache(fs::path(xdg) / "assay");
  if (const char* home = Variable("HOME")) return ContentCache(fs::path(home) / ".cache" / "assay");
  return ContentCache({});
}

std::string ContentCache::FileSha256(const fs::path& file, ErrorKind kind, bool verify) const {
  const FileIdentity identity = IdentityOf(file, kind);
  const std::string key = Sha256(identity.Text());
  const fs::path path = EntriesFolder() / (key + std::string(kSuffix));
  std::error_code ignored;
  if (!verify && !folder_.empty()) {
    const std::optional<Parsed> kept = ReadEntry(path);
    if (kept && kept->identity == identity.Text()) {
      fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
      return kept->entry.sha256;
    }
  }
  const std::string sha256 = Sha256(MappedFile(file, kind).bytes());
  if (IdentityOf(file, kind) == identity && IsSettled(identity))
    Keep(key, EntryText(file, identity, sha256));
  return sha256;
}

void ContentCache::Keep(const std::string& key, const std::string& text) const {
  if (folder_.empty()) return;
  std::error_code failed;
  fs::create_directories(EntriesFolder(), failed);
  const fs::path path = EntriesFolder() / (key + std::string(kSuffix));
  const fs::path temporary =
      EntriesFolder() / fmt::format("{}.{}.tmp", key, static_cast<long>(getpid()));
  std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (out.fail()) {
    fs::remove(temporary, failed);
    return;
  }
  fs::rename(temporary, path, failed);
  if (failed) fs::remove(temporary, failed);
  RemoveOldest();
}

void ContentCache::RemoveOldest() const {
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  std::error_code ignored;
  for (const fs::path& path : EntryFiles(EntriesFolder()))
    files.emplace_back(fs::last_write_time(path, ignored), path);
  if (files.size() <= kMostEntries) return;
  std::sort(files.begin(), files.end());
  for (size_t i = 0; i + kMostEntries < files.size(); ++i) fs::remove(files[i].second, ignored);
}

std::vector<ContentCache::Entry> ContentCache::List() const {
  std::vector<Entry> out;
  for (const fs::path& path : EntryFiles(EntriesFolder())) {
    if (std::optional<Parsed> parsed = ReadEntry(path)) out.push_back(std::move(parsed->entry));
  }
  std::sort(out.begin(), out.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.name, a.sha256) < std::pair(b.name, b.sha256);
  });
  return out;
}

size_t ContentCache::Clear() const {
  size_t removed = 0;
  std::error_code failed;
  for (const fs::path& path : EntryFiles(EntriesFolder()))
    removed += fs::remove(path, failed) ? 1 : 0;
  return removed;
}

}  // namespace assay

#include "base/memory.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <sstream>

#include "assay/error.h"
#include "base/sizes.h"

namespace assay {
namespace {

constexpr char kAddressSpace[] = "RLIMIT_AS";
// The C library maps a stack and a heap of its own for each thread.
constexpr size_t kAddressSpacePerThread = (size_t{8} << 20) + (size_t{128} << 20);

std::string Content(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

// A decimal number at the start of the text; nothing for "max" and the like.
std::optional<size_t> LeadingNumber(const std::string& text) {
  size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end != text.data() ? std::optional(value) : std::nullopt;
}

size_t Left(size_t limit, size_t used) { return limit > used ? limit - used : 0; }

void AddFreeMemory(std::vector<MemoryLimit>& limits) {
  const size_t kilobytes =
      memory_internal::FieldKilobytes(Content("/proc/meminfo"), "MemAvailable:");
  if (kilobytes > 0) limits.push_back({"free memory", kilobytes * 1024});
}

void AddAddressSpace(std::vector<MemoryLimit>& limits) {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  const size_t used =
      memory_internal::FieldKilobytes(Content("/proc/self/status"), "VmSize:") * 1024;
  limits.push_back({kAddressSpace, Left(limit.rlim_cur, used)});
}

// How a hierarchy spells its files. Version 1 has one for memory alone, version 2 one for all.
struct CgroupFiles {
  const char* folder;  // below the mount
  const char* limit;
  const char* used;
  const char* reclaimable;  // a field of memory.stat: pages that count and would be given back
};
constexpr CgroupFiles kVersion2 = {"", "memory.max", "memory.current", "inactive_file "};
constexpr CgroupFiles kVersion1 = {"/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                                   "total_inactive_file "};

size_t Field(const std::string& text, const std::string& name) {
  const size_t at = text.starts_with(name) ? 0 : text.find("\n" + name);
  if (at == std::string::npos) return 0;
  return LeadingNumber(text.substr(text.find(name, at) + name.size())).value_or(0);
}

// Every cgroup from the process's own up to the root may set a limit. In a container the path may
// be one of the machine outside; the root is then the container's own.
void AddCgroups(const std::string& mount, std::string path, const CgroupFiles& files,
                std::vector<MemoryLimit>& limits) {
  if (path.empty()) return;
  for (;;) {
    const std::string folder = mount + files.folder + (path == "/" ? "" : path) + "/";
    if (const std::optional<size_t> limit = LeadingNumber(Content(folder + files.limit))) {
      const size_t used = LeadingNumber(Content(folder + files.used)).value_or(0);
      const size_t given_back = Field(Content(folder + "memory.stat"), files.reclaimable);
      limits.push_back(
          {std::string("cgroup ") + files.limit, Left(*limit, Left(used, given_back))});
    }
    const size_t slash = path.rfind('/');
    if (path == "/" || slash == std::string::npos) return;
    path = slash == 0 ? "/" : path.substr(0, slash);
  }
}

}  // namespace

namespace memory_internal {

size_t FieldKilobytes(const std::string& text, const std::string& field) {
  size_t at = text.starts_with(field) ? 0 : text.find("\n" + field);
  if (at == std::string::npos) return 0;
  at = text.find_first_of("0123456789", at);
  return at == std::string::npos ? 0 : LeadingNumber(text.substr(at)).value_or(0);
}

std::string CgroupPath(const std::string& text, const std::string& controllers) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first == std::string::npos ? first : first + 1);
    if (second == std::string::npos) continue;
    const std::string names = "," + line.substr(first + 1, second - first - 1) + ",";
    if (names.find("," + controllers + ",") != std::string::npos) return line.substr(second + 1);
  }
  return "";
}

std::vector<MemoryLimit> CgroupLimits(const std::string& mount, const std::string& text) {
  std::vector<MemoryLimit> limits;
  AddCgroups(mount, CgroupPath(text, ""), kVersion2, limits);
  AddCgroups(mount, CgroupPath(text, "memory"), kVersion1, limits);
  return limits;
}

}  // namespace memory_internal

size_t MemoryNeed::resident() const { return SaturatingSum(mapped, working); }

size_t MemoryNeed::address_space() const {
  return SaturatingSum(resident(), SaturatingProduct(threads, kAddressSpacePerThread));
}

std::vector<MemoryLimit> MemoryLimits() {
  std::vector<MemoryLimit> limits;
  AddFreeMemory(limits);
  AddAddressSpace(limits);
  for (MemoryLimit& limit :
       memory_internal::CgroupLimits("/sys/fs/cgroup", Content("/proc/self/cgroup"))) {
    limits.push_back(std::move(limit));
  }
  return limits;
}

void RequireMemory(const MemoryNeed& need, const std::vector<MemoryLimit>& limits,
                   const std::string& where) {
  for (const MemoryLimit& limit : limits) {
    const size_t bytes = limit.source == kAddressSpace ? need.address_space() : need.resident();
    if (bytes <= limit.bytes) continue;
    throw Error(ErrorKind::kModel, where,
                fmt::format("needs {} ({} bytes), and {} leaves {} ({} bytes)", ShowBytes(bytes),
                            bytes, limit.source, ShowBytes(limit.bytes), limit.bytes),
                "a smaller model, a lower --max-row, or more memory");
  }
}

ResidentMemory ReadResidentMemory() {
  const std::string status = Content("/proc/self/status");
  return {memory_internal::FieldKilobytes(status, "VmRSS:") * 1024,
          memory_internal::FieldKilobytes(status, "VmHWM:") * 1024};
}

std::string ShowBytes(size_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (value >= 1e9) return fmt::format("{:.1f} GB", value / 1e9);
  if (value >= 1e6) return fmt::format("{:.0f} MB", value / 1e6);
  return fmt::format("{:.0f} kB", value / 1e3);
}

}  // namespace assay

#include "base/memory.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <sstream>

#include "assay/error.h"

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

// The pages that a cgroup counts but would give back.
size_t ReclaimableBytes(const std::string& folder) {
  const std::string stat = Content(folder + "/memory.stat");
  const size_t at = stat.find("inactive_file ");
  return at == std::string::npos ? 0 : LeadingNumber(stat.substr(at + 14)).value_or(0);
}

// Every cgroup from the process's own up to the root may set a limit.
void AddCgroups(std::vector<MemoryLimit>& limits) {
  std::string path = memory_internal::CgroupPath(Content("/proc/self/cgroup"));
  for (;;) {
    const std::string folder = "/sys/fs/cgroup" + (path == "/" ? "" : path);
    const std::optional<size_t> limit = LeadingNumber(Content(folder + "/memory.max"));
    if (limit) {
      const size_t used = LeadingNumber(Content(folder + "/memory.current")).value_or(0);
      limits.push_back({"cgroup memory.max", Left(*limit, Left(used, ReclaimableBytes(folder)))});
    }
    const size_t slash = path.rfind('/');
    if (path.empty() || path == "/" || slash == std::string::npos) return;
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

std::string CgroupPath(const std::string& text) {
  const size_t at = text.starts_with("0::") ? 0 : text.find("\n0::");
  if (at == std::string::npos) return "";
  const size_t start = text.find("::", at) + 2;
  return text.substr(start, text.find('\n', start) - start);
}

}  // namespace memory_internal

size_t MemoryNeed::address_space() const { return resident() + threads * kAddressSpacePerThread; }

std::vector<MemoryLimit> MemoryLimits() {
  std::vector<MemoryLimit> limits;
  AddFreeMemory(limits);
  AddCgroups(limits);
  AddAddressSpace(limits);
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

std::string ShowBytes(size_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (value >= 1e9) return fmt::format("{:.1f} GB", value / 1e9);
  if (value >= 1e6) return fmt::format("{:.0f} MB", value / 1e6);
  return fmt::format("{:.0f} kB", value / 1e3);
}

}  // namespace assay

// How much memory this process may still take.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace assay {

struct MemoryLimit {
  std::string source;  // "free memory", "cgroup memory.max", "RLIMIT_AS", ...
  size_t bytes = 0;    // what is left of it
};

// Every limit that applies, in no order. Limits that cannot be read are left out.
std::vector<MemoryLimit> MemoryLimits();

// What a model is going to need.
struct MemoryNeed {
  size_t mapped =
      0;  // files mapped read-only: they fill the page cache, and the address space once
  size_t working = 0;  // allocated: state, activations, tables
  size_t threads =
      0;  // each reserves address space for its stack and allocator that it may never touch

  // Both stop at the largest number.
  size_t resident() const;
  size_t address_space() const;
};

// Throws Error(kModel, where) naming what is needed and what is left when a limit does not allow
// it.
void RequireMemory(const MemoryNeed& need, const std::vector<MemoryLimit>& limits,
                   const std::string& where);

// Bytes of this process that are in memory, mapped files included; 0 where the system does not say.
struct ResidentMemory {
  size_t now = 0;
  size_t peak = 0;  // the most so far
};
ResidentMemory ReadResidentMemory();

// "3.1 GB", "17 MB": for messages.
std::string ShowBytes(size_t bytes);

namespace memory_internal {
// The parsers, apart for tests. `text` is the file's content.
size_t FieldKilobytes(const std::string& text,
                      const std::string& field);  // "MemAvailable:   123 kB"; 0 when absent
// The path of the hierarchy with these controllers ("": version 2) in "0::/a/b" or
// "4:memory:/a/b"; "" when there is none.
std::string CgroupPath(const std::string& text, const std::string& controllers);
// The limits of the cgroups that `text` (/proc/self/cgroup) names, mounted at `mount`.
std::vector<MemoryLimit> CgroupLimits(const std::string& mount, const std::string& text);
}  // namespace memory_internal

}  // namespace assay

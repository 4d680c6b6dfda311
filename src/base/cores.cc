#include "base/cores.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <vector>

namespace assay {

size_t CountCores(std::span<const size_t> cpus, const std::filesystem::path& topology) {
  std::set<std::string> cores;
  for (const size_t cpu : cpus) {
    const std::filesystem::path folder = topology / fmt::format("cpu{}", cpu) / "topology";
    // The list of all CPUs of this core is the same for each of them.
    std::ifstream file(folder / "thread_siblings_list");
    std::string siblings;
    if (!std::getline(file, siblings) || siblings.empty()) siblings = fmt::format("only {}", cpu);
    cores.insert(siblings);
  }
  return cores.size();
}

size_t UsableCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  std::vector<size_t> cpus;
  for (size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return std::max<size_t>(1, CountCores(cpus, "/sys/devices/system/cpu"));
}

}  // namespace assay

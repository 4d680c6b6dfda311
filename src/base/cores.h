// How many threads are worth starting here.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace assay {

// Physical cores among `cpus`, as the kernel describes them under `topology` (the folder that holds
// cpu0, cpu1, ...). CPUs of one core share its multiply-add units, so one thread a core is enough.
// CPUs of which nothing is known count as cores.
size_t CountCores(std::span<const size_t> cpus, const std::filesystem::path& topology);

// Physical cores that this process may run on (its affinity: a container's share, not the machine).
// At least 1.
size_t UsableCores();

}  // namespace assay

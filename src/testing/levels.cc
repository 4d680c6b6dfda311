#include "testing/levels.h"

#include <cstdio>
#include <cstdlib>

#include "assay/error.h"
#include "kernels/cpu_level.h"

namespace assay::testing {

bool SelectLevelFromEnvironment() {
  const char* level = std::getenv("ASSAY_CPU");
  try {
    kernels::SelectCpuLevel(level == nullptr ? "" : level);
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return false;
  }
  return true;
}

}  // namespace assay::testing

#include "testing/levels.h"

namespace assay::testing {

bool SelectLevelFromEnvironment() { return true; }

}  // namespace assay::testing

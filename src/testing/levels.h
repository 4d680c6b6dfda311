// Which CPU level a test program runs at.
#pragma once

namespace assay::testing {

// Selects the level that ASSAY_CPU names (unset: the best one). Prints why and returns false when
// the machine lacks it.
bool SelectLevelFromEnvironment();

}  // namespace assay::testing

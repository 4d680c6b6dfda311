// The main of every test program: picks the CPU level that ASSAY_CPU names before any test
// runs.
#include <gtest/gtest.h>

#include <cstdlib>

#include "testing/levels.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  setenv("ASSAY_CACHE", "/dev/null/none", 1);  // nothing of a test stays in the user's cache
  if (!assay::testing::SelectLevelFromEnvironment()) return 1;
  return RUN_ALL_TESTS();
}

// The main of every test program: picks the CPU level that ASSAY_CPU names before any test runs.
#include <gtest/gtest.h>

#include "testing/levels.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (!assay::testing::SelectLevelFromEnvironment()) return 1;
  return RUN_ALL_TESTS();
}

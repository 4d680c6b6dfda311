// Which rows run, and in what order: a trunk that questions share runs once, and the questions
// branch off it (design 3).
#pragma once

#include <cstddef>
#include <vector>

#include "families/family.h"

namespace assay::decide {

struct Plan {
  size_t trunk_rows = 0;                    // rows of the shared trunk to run, 0 = none
  std::vector<std::vector<size_t>> groups;  // questions that branch together, in order
};

struct PlanOptions {
  // Bytes of State that the branches of one group may hold together; a group has at least one
  // branch.
  size_t branch_bytes = families::kBranchBytes;
};

// `shape` sizes the branches.
Plan MakePlan(const families::EncodedRequest& request, const nn::StateShape& shape,
              const PlanOptions& options);

}  // namespace assay::decide

// Which rows run, and in what order: a trunk that questions share runs once, and the questions
// branch off it (design 3).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "families/family.h"

namespace assay::decide {

// A question of one of the requests that run together.
struct QuestionRef {
  size_t request = 0;
  size_t question = 0;
  bool operator==(const QuestionRef&) const = default;
};

// Trunks run first, all together; then the groups, one after the other.
struct Plan {
  std::vector<std::vector<QuestionRef>> groups;  // questions that branch together, in order
};

struct PlanOptions {
  // Bytes of State that the branches of one group may hold together; a group has at least one
  // branch.
  size_t branch_bytes = families::kBranchBytes;
};

// `shape` sizes the branches.
Plan MakePlan(std::span<const families::EncodedRequest* const> requests,
              const nn::StateShape& shape, const PlanOptions& options);

}  // namespace assay::decide

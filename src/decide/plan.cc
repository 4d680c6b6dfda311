#include "decide/plan.h"

namespace assay::decide {

Plan MakePlan(std::span<const families::EncodedRequest* const> requests,
              const nn::StateShape& shape, const PlanOptions& options) {
  Plan plan;
  size_t bytes = 0;
  for (size_t r = 0; r < requests.size(); ++r) {
    for (size_t q = 0; q < requests[r]->questions.size(); ++q) {
      // A branch owns its rows, and a copy of the trunk's last page.
      const size_t own_rows = requests[r]->questions[q].ids.size() +
                              requests[r]->trunk_ids.size() % kernels::kPagePositions;
      const size_t own = nn::State::BytesFor(shape, own_rows);
      if (plan.groups.empty() || bytes + own > options.branch_bytes) {
        plan.groups.emplace_back();
        bytes = 0;
      }
      plan.groups.back().push_back({r, q});
      bytes += own;
    }
  }
  return plan;
}

}  // namespace assay::decide

#include "decide/plan.h"

namespace assay::decide {

Plan MakePlan(const families::EncodedRequest& request, const nn::StateShape& shape,
              const PlanOptions& options) {
  Plan plan;
  plan.trunk_rows = request.trunk_ids.size();
  size_t bytes = 0;
  for (size_t q = 0; q < request.questions.size(); ++q) {
    // A branch owns its rows, and a copy of the trunk's last page.
    const size_t own_rows =
        request.questions[q].ids.size() + plan.trunk_rows % kernels::kPagePositions;
    const size_t own = nn::State::BytesFor(shape, own_rows);
    if (plan.groups.empty() || bytes + own > options.branch_bytes) {
      plan.groups.emplace_back();
      bytes = 0;
    }
    plan.groups.back().push_back(q);
    bytes += own;
  }
  return plan;
}

}  // namespace assay::decide

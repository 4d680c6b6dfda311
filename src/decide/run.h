// Runs an encoded request through a decoder and reads its answers.
#pragma once

#include <vector>

#include "base/threads.h"
#include "decide/plan.h"
#include "families/family.h"

namespace assay::decide {

// A trunk that has run already: its ids and the State behind them.
struct PreparedTrunk {
  std::vector<int32_t> ids;
  nn::State state;
};

// What a question's read row looked like, for traces: spec of `hidden` in design 5.
struct HiddenSummary {
  std::vector<float> first;  // the first 8 values
  double l2 = 0;
};

struct QuestionResult {
  families::Reading reading;
  HiddenSummary hidden;
};

struct RunOptions {
  nn::ForwardOptions forward;
  PlanOptions plan;
};

// Rows that start with `prepared` (may be null) continue from it; others run whole. The bits are
// the same.
std::vector<QuestionResult> Run(const families::Family& family, Threads& threads,
                                const families::EncodedRequest& request,
                                const PreparedTrunk* prepared, const RunOptions& options);

// Runs ids from the start.
PreparedTrunk Prepare(const families::Family& family, Threads& threads, std::vector<int32_t> ids,
                      const nn::ForwardOptions& options);

}  // namespace assay::decide

// Runs an encoded request through a decoder and reads its answers.
#pragma once

#include <span>
#include <vector>

#include "assay/model.h"
#include "base/threads.h"
#include "decide/plan.h"
#include "families/family.h"
#include "families/registry.h"

namespace assay::decide {

// What the public options come to for a family. Throws Error(kUsage).
families::LoadOptions FamilyOptions(const LoadOptions& options, size_t threads);

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

// A request on its way through the decoder. Borrowed.
struct RunItem {
  const families::EncodedRequest* request = nullptr;
  // Rows that start with it continue from it, others run whole; may be null. The bits are the same.
  const PreparedTrunk* prepared = nullptr;
};

// Runs several requests in shared passes: first their trunks, then their questions. result[i][q]
// is what question q of item i came to: the same bits as alone.
std::vector<std::vector<QuestionResult>> RunTogether(const families::Family& family,
                                                     Threads& threads,
                                                     std::span<const RunItem> items,
                                                     const RunOptions& options);

// One request.
std::vector<QuestionResult> Run(const families::Family& family, Threads& threads,
                                const families::EncodedRequest& request,
                                const PreparedTrunk* prepared, const RunOptions& options);

// Runs ids from the start.
PreparedTrunk Prepare(const families::Family& family, Threads& threads, std::vector<int32_t> ids,
                      const nn::ForwardOptions& options);

}  // namespace assay::decide

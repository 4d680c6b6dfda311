#include "decide/run.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace assay::decide {

families::LoadOptions FamilyOptions(const LoadOptions& options, size_t threads) {
  families::LoadOptions out;
  out.max_row = options.max_row;
  out.threads = threads;
  out.compute = kernels::ChooseCompute(options.compute);
  out.base = options.base;
  out.merge = options.merge;
  out.delta = options.delta;
  out.date_facts = options.date_facts;
  return out;
}

namespace {

using families::EncodedQuestion;
using families::EncodedRequest;

// True when `ids` starts with all of `prefix`.
bool StartsWith(std::span<const int32_t> ids, std::span<const int32_t> prefix) {
  return prefix.size() <= ids.size() && std::equal(prefix.begin(), prefix.end(), ids.begin());
}

HiddenSummary Summarize(View1<const float> row) {
  HiddenSummary out;
  out.first.assign(row.begin(),
                   row.begin() + static_cast<ptrdiff_t>(std::min<size_t>(8, row.size())));
  double squares = 0;
  for (const float value : row) squares += static_cast<double>(value) * static_cast<double>(value);
  out.l2 = std::sqrt(squares);
  return out;
}

// One question on its way through the decoder.
struct Branch {
  const EncodedQuestion* question;
  nn::State state;
  size_t skipped;  // rows of the question's ids that the state holds already
  std::vector<size_t> wanted;
  std::vector<float> hidden;
};

// A question's branch: off the trunk, or off the prepared state when a whole row starts with it.
Branch StartBranch(const families::Family& family, const EncodedQuestion& question,
                   const nn::State* trunk, const PreparedTrunk* prepared) {
  const nn::Decoder& decoder = family.decoder();
  Branch branch{&question, nn::State(decoder.state_shape()), 0, {}, {}};
  if (trunk != nullptr) {
    branch.state = trunk->Fork();
  } else if (prepared != nullptr && StartsWith(question.ids, prepared->ids) &&
             prepared->ids.size() <= question.wanted.front()) {
    branch.state = prepared->state.Fork();
    branch.skipped = prepared->ids.size();
  }
  for (const size_t row : question.wanted) branch.wanted.push_back(row - branch.skipped);
  branch.hidden.resize(branch.wanted.size() * decoder.hidden_size());
  return branch;
}

void RunGroup(const families::Family& family, Threads& threads, std::vector<Branch>& branches,
              const nn::ForwardOptions& options) {
  const size_t width = family.decoder().hidden_size();
  std::vector<nn::Segment> segments;
  for (Branch& branch : branches) {
    const std::span<const int32_t> ids(branch.question->ids);
    segments.push_back({&branch.state, ids.subspan(branch.skipped), branch.wanted,
                        View2<float>(branch.hidden.data(), branch.wanted.size(), width)});
  }
  family.decoder().Forward(threads, segments, options);
}

}  // namespace

PreparedTrunk Prepare(const families::Family& family, Threads& threads, std::vector<int32_t> ids,
                      const nn::ForwardOptions& options) {
  PreparedTrunk out{std::move(ids), nn::State(family.decoder().state_shape())};
  nn::Segment segment{&out.state, out.ids};
  family.decoder().Forward(threads, std::span(&segment, 1), options);
  return out;
}

namespace {

// The trunk of each item: run now with the others, prepared before, or none.
class Trunks {
 public:
  Trunks(const families::Family& family, Threads& threads, std::span<const RunItem> items,
         const nn::ForwardOptions& options)
      : items_(items), states_(items.size()) {
    std::vector<nn::Segment> segments;
    for (size_t i = 0; i < items.size(); ++i) {
      const std::vector<int32_t>& ids = items[i].request->trunk_ids;
      if (ids.empty() || IsPrepared(items[i])) continue;
      states_[i].emplace(family.decoder().state_shape());
      segments.push_back({&*states_[i], ids});
    }
    family.decoder().Forward(threads, segments, options);
  }

  const nn::State* Of(size_t item) const {
    if (states_[item]) return &*states_[item];
    return IsPrepared(items_[item]) ? &items_[item].prepared->state : nullptr;
  }

 private:
  static bool IsPrepared(const RunItem& item) {
    return !item.request->trunk_ids.empty() && item.prepared != nullptr &&
           item.prepared->ids == item.request->trunk_ids;
  }

  std::span<const RunItem> items_;
  std::vector<std::optional<nn::State>> states_;
};

}  // namespace

std::vector<std::vector<QuestionResult>> RunTogether(const families::Family& family,
                                                     Threads& threads,
                                                     std::span<const RunItem> items,
                                                     const RunOptions& options) {
  const size_t width = family.decoder().hidden_size();
  std::vector<const EncodedRequest*> requests;
  for (const RunItem& item : items) requests.push_back(item.request);
  const Plan plan = MakePlan(requests, family.decoder().state_shape(), options.plan);
  const Trunks trunks(family, threads, items, options.forward);
  std::vector<std::vector<QuestionResult>> results(items.size());
  for (const std::vector<QuestionRef>& group : plan.groups) {
    std::vector<Branch> branches;
    for (const QuestionRef& at : group) {
      branches.push_back(StartBranch(family, requests[at.request]->questions[at.question],
                                     trunks.Of(at.request), items[at.request].prepared));
    }
    RunGroup(family, threads, branches, options.forward);
    for (size_t b = 0; b < branches.size(); ++b) {
      const Branch& branch = branches[b];
      const View2<const float> hidden(branch.hidden.data(), branch.wanted.size(), width);
      results[group[b].request].push_back(
          {family.Read(*branch.question, hidden), Summarize(hidden[hidden.rows() - 1])});
    }
  }
  return results;
}

std::vector<QuestionResult> Run(const families::Family& family, Threads& threads,
                                const EncodedRequest& request, const PreparedTrunk* prepared,
                                const RunOptions& options) {
  const RunItem item{&request, prepared};
  return std::move(RunTogether(family, threads, std::span(&item, 1), options).front());
}

}  // namespace assay::decide

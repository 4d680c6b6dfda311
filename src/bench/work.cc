#include "bench/work.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "decide/run.h"

namespace assay::bench {
namespace {

// A request's questions are limited by its bytes; this many are far past what it can hold.
constexpr size_t kMaxQuestions = 100'000;
constexpr uint64_t kSeed = 1;

// The same ids on every machine: splitmix64.
class RandomIds {
 public:
  explicit RandomIds(size_t vocabulary) : vocabulary_(vocabulary) {}

  std::vector<int32_t> Take(size_t count) {
    std::vector<int32_t> ids(count);
    for (int32_t& id : ids) id = static_cast<int32_t>(Bits() % vocabulary_);
    return ids;
  }

 private:
  uint64_t Bits() {
    uint64_t z = state_ += 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }

  size_t vocabulary_;
  uint64_t state_ = kSeed;
};

std::string Spelled(std::string_view field, Asker asker) {
  if (asker == Asker::kLine) return std::string(field);
  std::string option = "--" + std::string(field);
  std::ranges::replace(option, '_', '-');
  return option;
}

void CheckCount(size_t count, size_t limit, std::string_view field, std::string_view what,
                std::string_view of_what, Asker asker) {
  if (count >= 1 && count <= limit) return;
  throw Error(asker == Asker::kOption ? ErrorKind::kUsage : ErrorKind::kRequest,
              Spelled(field, asker), fmt::format("{} {}", count, what),
              fmt::format("from 1 to {}{}", limit, of_what));
}

// The rows of a group's branches run together, each with the last row wanted.
void RunGroup(const families::Family& family, Threads& threads,
              const families::EncodedRequest& request,
              const std::vector<decide::QuestionRef>& group, const nn::State& trunk) {
  const size_t width = family.decoder().hidden_size();
  std::vector<nn::State> states;
  std::vector<float> hidden(group.size() * width);
  std::vector<nn::Segment> segments;
  for (size_t i = 0; i < group.size(); ++i) states.push_back(trunk.Fork());
  for (size_t i = 0; i < group.size(); ++i) {
    const families::EncodedQuestion& question = request.questions[group[i].question];
    segments.push_back({&states[i], question.ids, question.wanted,
                        View2<float>(hidden.data() + i * width, 1, width)});
  }
  family.decoder().Forward(threads, segments, {});
}

size_t PassesOf(size_t rows) {
  const std::vector<size_t> segments = {rows};
  return nn::PlanPasses(segments, {}).size();
}

}  // namespace

std::string Cell::Name() const {
  if (is_row()) return fmt::format("{} {}", tokens, tokens == 1 ? "token" : "tokens");
  return fmt::format("{} {} of {} on {}", questions, questions == 1 ? "question" : "questions",
                     question_tokens, state);
}

size_t RowLimit(const families::ModelDescription& model) {
  for (const auto& [name, value] : model.limits) {
    if (name == "row_tokens" && value.int64()) return static_cast<size_t>(*value.int64());
  }
  return std::numeric_limits<size_t>::max();
}

void CheckCell(const Cell& cell, size_t row_limit, Asker asker) {
  const std::string is_limit = ", the model's row limit";
  if (cell.is_row()) {
    CheckCount(cell.tokens, row_limit, "tokens", "tokens are no row of this model", is_limit,
               asker);
    return;
  }
  CheckCount(cell.questions, kMaxQuestions, "questions", "questions are not asked at once", "",
             asker);
  CheckCount(cell.question_tokens, row_limit - 1, "question_tokens",
             "tokens leave a state no room in a row of this model",
             fmt::format(": the model's row limit is {}", row_limit), asker);
  CheckCount(
      cell.state, row_limit - cell.question_tokens, "state",
      fmt::format("tokens and a question of {} are no row of this model", cell.question_tokens),
      fmt::format(": the model's row limit is {}", row_limit), asker);
}

Work::Work(const families::Family& family, Threads& threads) : family_(family), threads_(threads) {}

// As decide makes rows: a single question's row is whole, several branch off a trunk.
families::EncodedRequest Work::Request(const Cell& cell) const {
  RandomIds random(family_.decoder().vocabulary());
  families::EncodedRequest request;
  if (cell.questions > 1) request.trunk_ids = random.Take(cell.state);
  request.questions.resize(std::max<size_t>(1, cell.questions));
  for (families::EncodedQuestion& question : request.questions) {
    question.ids = random.Take(cell.is_row()         ? cell.tokens
                               : cell.questions == 1 ? cell.rows()
                                                     : cell.question_tokens);
    question.wanted = {question.ids.size() - 1};
  }
  return request;
}

double Work::Seconds(const Cell& cell) const {
  const families::EncodedRequest request = Request(cell);
  const nn::StateShape shape = family_.decoder().state_shape();
  const auto start = std::chrono::steady_clock::now();
  const decide::PreparedTrunk trunk =
      request.trunk_ids.empty()
          ? decide::PreparedTrunk{{}, nn::State(shape)}
          : decide::Prepare(family_, threads_, request.trunk_ids, nn::ForwardOptions());
  const families::EncodedRequest* requests[] = {&request};
  for (const std::vector<decide::QuestionRef>& group : decide::MakePlan(requests, shape, {}).groups)
    RunGroup(family_, threads_, request, group, trunk.state);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

size_t Work::Passes(const Cell& cell) const {
  if (cell.questions <= 1) return PassesOf(cell.rows());
  const families::EncodedRequest request = Request(cell);
  size_t passes = PassesOf(cell.state);
  const families::EncodedRequest* requests[] = {&request};
  for (const std::vector<decide::QuestionRef>& group :
       decide::MakePlan(requests, family_.decoder().state_shape(), {}).groups)
    passes += PassesOf(group.size() * cell.question_tokens);
  return passes;
}

}  // namespace assay::bench

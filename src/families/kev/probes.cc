#include "families/kev/probes.h"

#include <fmt/format.h>

#include "base/check.h"
#include "base/python_random.h"

namespace assay::families::kev {
namespace {

using json::Value;

// The criteria of an existing choice.
const Value& ChoiceCriteria(const Value& request, std::string_view name) {
  const Value* questions = request.Find("questions");
  const Value* question = questions == nullptr ? nullptr : questions->Find(name);
  const Value* type = question == nullptr ? nullptr : question->Find("type");
  const Value* criteria = question == nullptr ? nullptr : question->Find("criteria");
  const bool choice = type != nullptr && type->is_string() && type->string() == "choice";
  if (choice && criteria != nullptr && criteria->is_object()) return *criteria;
  throw Error(ErrorKind::kRequest, "question", "question must be an existing choice question");
}

// The request with `question` in place of all its questions.
Value Asking(const Value& request, std::string name, Value question) {
  Value questions = Value::Object();
  questions.Add(std::move(name), std::move(question));
  Value out = Value::Object();
  for (const auto& [key, value] : request.members())
    out.Add(key, key == "questions" ? questions : value);
  return out;
}

}  // namespace

std::vector<std::vector<std::string>> OptionOrders(const Value& request, std::string_view question,
                                                   size_t runs, std::string_view seed) {
  std::vector<std::string> names;
  for (const auto& [name, description] : ChoiceCriteria(request, question).members())
    names.push_back(name);
  if (runs < 1 || runs > kMaxRuns) {
    throw Error(ErrorKind::kRequest, "n_perm", fmt::format("is {}", runs),
                fmt::format("from 1 to {}", kMaxRuns));
  }
  PythonRandom random(seed);
  std::vector<std::vector<std::string>> orders{names};
  while (orders.size() < runs) {
    orders.push_back(names);
    random.Shuffle(std::span(orders.back()));
  }
  return orders;
}

Value WithOrder(const Value& request, std::string_view question,
                const std::vector<std::string>& order) {
  const Value& given = ChoiceCriteria(request, question);
  ASSAY_CHECK(order.size() == given.members().size());
  Value criteria = Value::Object();
  for (const std::string& name : order) {
    const Value* description = given.Find(name);
    ASSAY_CHECK(description != nullptr);
    criteria.Add(name, *description);
  }
  Value asked = Value::Object();
  for (const auto& [key, value] : request.Find("questions")->Find(question)->members())
    asked.Add(key, key == "criteria" ? criteria : value);
  return Asking(request, std::string(question), std::move(asked));
}

Value OneQuestion(const Value& request, size_t index) {
  const Value* questions = request.Find("questions");
  ASSAY_CHECK(questions != nullptr && questions->is_object());
  ASSAY_CHECK(index < questions->members().size());
  const auto& [name, question] = questions->members()[index];
  return Asking(request, name, question);
}

}  // namespace assay::families::kev

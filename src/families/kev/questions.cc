#include "families/kev/questions.h"

#include <fmt/format.h>

#include "families/kev/date_facts.h"
#include "families/kev/render.h"

namespace assay::families::kev {
namespace {

using json::Value;

[[noreturn]] void Refuse(std::string_view where, std::string_view message, std::string_view hint) {
  throw Error(ErrorKind::kRequest, where, message, hint);
}

std::string Is(const Value& value) { return fmt::format("is {}", json::KindName(value.kind())); }

void CheckRoot(const Value& request) {
  if (!request.is_object()) Refuse("request", Is(request), "an object with state and questions");
  const Value* model = request.Find("model");
  if (model != nullptr && !model->is_string()) Refuse("model", Is(*model), "a string, or nothing");
}

// Reads one question; `where` is its path in the request.
class QuestionReader {
 public:
  explicit QuestionReader(std::string where) : where_(std::move(where)) {}

  Question Read(const std::string& name, const Value& value) const {
    if (!value.is_object()) Refuse(where_, Is(value), "a question is an object");
    Question question;
    question.name = name;
    question.kind = ReadKind(value.Find("type"));
    const Value* instructions = value.Find("instructions");
    if (instructions != nullptr) question.instructions = Render(*instructions);
    const Value* criteria = value.Find("criteria");
    switch (question.kind) {
      case Kind::kNoul: ReadSides(criteria, question); break;
      case Kind::kChoice: ReadChoices(criteria, question); break;
      case Kind::kScore: ReadLevels(criteria, question); break;
    }
    return question;
  }

 private:
  std::string At(std::string_view field) const { return fmt::format("{}.{}", where_, field); }

  Kind ReadKind(const Value* type) const {
    constexpr std::string_view kTypes = "one of noul, choice, score";
    if (type == nullptr) Refuse(At("type"), "is missing", kTypes);
    if (!type->is_string()) Refuse(At("type"), Is(*type), kTypes);
    for (const Kind kind : {Kind::kNoul, Kind::kChoice, Kind::kScore}) {
      if (type->string() == KindName(kind)) return kind;
    }
    Refuse(At("type"), fmt::format("'{}' is not a question type", OneLine(type->string(), 60)),
           kTypes);
  }

  void ReadSides(const Value* criteria, Question& question) const {
    const bool none = criteria == nullptr || criteria->is_null();
    if (!none && !criteria->is_object())
      Refuse(At("criteria"), Is(*criteria), "an object with true and false, or null");
    question.options = {OptionText("no", none ? nullptr : criteria->Find("false")),
                        OptionText("yes", none ? nullptr : criteria->Find("true"))};
    question.keys = {"false", "true"};
  }

  void ReadChoices(const Value* criteria, Question& question) const {
    const std::string hint =
        fmt::format("an object of 1 to {} option names to descriptions or null", kMaxOptions);
    if (criteria == nullptr) Refuse(At("criteria"), "is missing", hint);
    if (!criteria->is_object()) Refuse(At("criteria"), Is(*criteria), hint);
    CheckCount(criteria->members().size(), "options", hint);
    for (const auto& [name, description] : criteria->members()) {
      question.options.push_back(OptionText(name, &description));
      question.keys.push_back(name);
    }
  }

  void ReadLevels(const Value* criteria, Question& question) const {
    const std::string hint = fmt::format("an array of 1 to {} levels, lowest first", kMaxOptions);
    if (criteria == nullptr) Refuse(At("criteria"), "is missing", hint);
    if (!criteria->is_array()) Refuse(At("criteria"), Is(*criteria), hint);
    CheckCount(criteria->items().size(), "levels", hint);
    for (const Value& level : criteria->items()) {
      question.keys.push_back(fmt::format("{}", question.keys.size()));
      question.options.push_back(Render(level));
    }
  }

  void CheckCount(size_t count, std::string_view what, std::string_view hint) const {
    if (count == 0 || count > kMaxOptions)
      Refuse(At("criteria"), fmt::format("has {} {}", count, what), hint);
  }

  std::string where_;
};

}  // namespace

std::string_view KindName(Kind kind) {
  switch (kind) {
    case Kind::kNoul: return "noul";
    case Kind::kChoice: return "choice";
    case Kind::kScore: return "score";
  }
  return "";
}

std::string ReadState(const Value& request, const ReadOptions& options) {
  CheckRoot(request);
  const Value* state = request.Find("state");
  if (state == nullptr) Refuse("state", "is missing", "any JSON value, null too");
  return Render(options.date_facts ? WithDateFacts(*state) : *state);
}

Request ReadRequest(const Value& request, const ReadOptions& options) {
  Request out;
  out.state = ReadState(request, options);
  if (const Value* model = request.Find("model")) out.model = model->string();
  const Value* questions = request.Find("questions");
  constexpr std::string_view kHint = "an object of question name to question, with at least one";
  if (questions == nullptr) Refuse("questions", "is missing", kHint);
  if (!questions->is_object()) Refuse("questions", Is(*questions), kHint);
  if (questions->members().empty()) Refuse("questions", "is empty", kHint);
  for (const auto& [name, question] : questions->members())
    out.questions.push_back(QuestionReader(fmt::format("questions.{}", name)).Read(name, question));
  return out;
}

}  // namespace assay::families::kev

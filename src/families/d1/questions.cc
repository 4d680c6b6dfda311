#include "families/d1/questions.h"

#include <fmt/format.h>

namespace assay::families::d1 {
namespace {

using json::Value;
using json::Kind::kArray;
using json::Kind::kObject;
using json::Kind::kString;

constexpr size_t kMaxLevels = 10;
constexpr size_t kMaxWireOptions = 255;

[[noreturn]] void Refuse(std::string_view where, std::string_view message, std::string_view hint) {
  throw Error(ErrorKind::kRequest, where, message, hint);
}

std::string Is(const Value& value) { return fmt::format("is {}", KindName(value.kind())); }

bool IsContent(const Value& value) {
  return value.kind() == kString || value.kind() == kObject || value.kind() == kArray;
}

// Reads one question; `where` is its path in the request.
class QuestionReader {
 public:
  QuestionReader(std::string where, Dialect dialect)
      : where_(std::move(where)), wire_(dialect == Dialect::kWire) {}

  Question Read(const std::string& name, const Value& value) const {
    if (!value.is_object()) Refuse(where_, Is(value), "a question is an object");
    Question question;
    question.name = name;
    question.kind = ReadKind(value.Find("type"));
    question.instructions = ReadInstructions(value.Find("instructions"));
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
    if (type == nullptr) {
      if (wire_) Refuse(At("type"), "is missing", kTypes);
      return Kind::kChoice;
    }
    if (!type->is_string()) Refuse(At("type"), Is(*type), kTypes);
    if (type->string() == "noul") return Kind::kNoul;
    if (type->string() == "score") return Kind::kScore;
    // The host takes every other word for a choice, "Noul" included.
    if (wire_ && type->string() != "choice") {
      Refuse(At("type"), fmt::format("'{}' is not a question type", OneLine(type->string(), 60)),
             kTypes);
    }
    return Kind::kChoice;
  }

  std::string ReadInstructions(const Value* value) const {
    if (value == nullptr || value->is_null()) {
      if (wire_) return "";
      Refuse(At("instructions"), value == nullptr ? "are missing" : "are null",
             "a string, which may be empty");
    }
    return Text(*value, "instructions");
  }

  // A caller's text: a string; on the wire also an object or array, printed as a JSON state is.
  std::string Text(const Value& value, std::string_view field) const {
    if (value.is_string()) return value.string();
    if (wire_ && IsContent(value)) return json::PrintPython(value);
    Refuse(At(field), Is(value), wire_ ? "a string, an object or an array" : "a string");
  }

  void ReadSides(const Value* criteria, Question& question) const {
    if (criteria == nullptr || criteria->is_null()) return;
    if (!criteria->is_object())
      Refuse(At("criteria"), Is(*criteria), "an object with true and false, or null");
    if (criteria->members().empty()) return;
    question.yes = ReadSide(criteria->Find("true"), "criteria.true");
    question.no = ReadSide(criteria->Find("false"), "criteria.false");
  }

  // The host prints Python's None for a side that is missing or null.
  std::string ReadSide(const Value* side, std::string_view field) const {
    if (side == nullptr || side->is_null()) return "None";
    return Text(*side, field);
  }

  void ReadChoices(const Value* criteria, Question& question) const {
    constexpr std::string_view kHint =
        "an object of option label to description or null, with at least one option";
    if (criteria == nullptr) Refuse(At("criteria"), "is missing", kHint);
    if (!criteria->is_object()) Refuse(At("criteria"), Is(*criteria), kHint);
    const auto& members = criteria->members();
    if (members.empty()) Refuse(At("criteria"), "is empty", kHint);
    if (wire_ && members.size() > kMaxWireOptions) {
      Refuse(At("criteria"), fmt::format("has {} options", members.size()),
             fmt::format("at most {} options", kMaxWireOptions));
    }
    for (const auto& [label, description] : members) {
      const std::string field = fmt::format("criteria.{}", label);
      question.choices.push_back({label, description.is_null() ? "" : Text(description, field)});
    }
  }

  void ReadLevels(const Value* criteria, Question& question) const {
    const std::string hint =
        fmt::format("an array of 1 to {} level texts, lowest first", kMaxLevels);
    if (criteria == nullptr) Refuse(At("criteria"), "is missing", hint);
    if (!criteria->is_array()) Refuse(At("criteria"), Is(*criteria), hint);
    const auto& levels = criteria->items();
    if (levels.empty() || levels.size() > kMaxLevels) {
      Refuse(At("criteria"), fmt::format("has {} levels", levels.size()), hint);
    }
    for (size_t i = 0; i < levels.size(); ++i) {
      // JavaScript callers send null levels, and the stock client wants text back in the legend
      // (spec wire 6.2).
      const bool empty_level = wire_ && levels[i].is_null();
      question.levels.push_back(empty_level ? "" : Text(levels[i], fmt::format("criteria[{}]", i)));
      question.legend.push_back(empty_level ? Value::String("") : levels[i]);
    }
  }

  std::string where_;
  bool wire_;
};

void RefusePictures(const Value& request) {
  for (const std::string_view field : {"pictures", "assets"}) {
    const Value* value = request.Find(field);
    const bool empty =
        value == nullptr || value->is_null() || (value->is_array() && value->items().empty());
    if (!empty)
      Refuse(field, "this version answers text requests only", "send the request without pictures");
  }
}

}  // namespace

std::optional<std::string> ReadState(const Value& request, Dialect dialect) {
  if (!request.is_object()) Refuse("request", Is(request), "an object with state and questions");
  const Value* state = request.Find("state");
  if (state == nullptr) Refuse("state", "is missing", "a text, any JSON, or null");
  if (state->is_null()) return std::nullopt;
  if (state->is_string()) return state->string();
  if (dialect == Dialect::kWire && !IsContent(*state))
    Refuse("state", Is(*state), "a string, an object, an array or null");
  return json::PrintPython(*state);
}

Request ReadRequest(const Value& request, Dialect dialect) {
  Request out;
  out.state = ReadState(request, dialect);
  const Value* questions = request.Find("questions");
  constexpr std::string_view kHint = "an object of question name to question, with at least one";
  if (questions == nullptr) Refuse("questions", "is missing", kHint);
  if (!questions->is_object()) Refuse("questions", Is(*questions), kHint);
  if (questions->members().empty()) Refuse("questions", "is empty", kHint);
  for (const auto& [name, question] : questions->members()) {
    out.questions.push_back(
        QuestionReader(fmt::format("questions.{}", name), dialect).Read(name, question));
  }
  RefusePictures(request);
  return out;
}

}  // namespace assay::families::d1

#include "decide/request.h"

#include <fmt/format.h>

#include "base/check.h"

namespace assay {

using json::Value;

namespace {

// Parses a caller's JSON; `hint` says what would be right where the parser cannot.
Value ParseJson(std::string_view text, std::string_view where, std::string_view hint) {
  try {
    return json::Parse(text, ErrorKind::kRequest, where, {.max_values = kMaxRequestValues});
  } catch (const Error& error) {
    if (!error.hint().empty()) throw;
    throw Error(error.kind(), error.where(), error.message(), hint);
  }
}

// Whatever of a request a family prints, it is not more than the whole.
void CheckPrinted(const Value& root, std::string_view where) {
  const size_t bytes = json::PrintedBytes(root);
  if (bytes <= kMaxPrintedBytes) return;
  throw Error(ErrorKind::kRequest, where,
              fmt::format("has {} bytes when printed with its indentation", bytes),
              fmt::format("at most {}", kMaxPrintedBytes));
}

}  // namespace

Request Request::Parse(std::string_view text, std::string_view where) {
  Value root = ParseJson(text, where, "a JSON object with state and questions, in UTF-8");
  if (!root.is_object()) {
    throw Error(ErrorKind::kRequest, where, fmt::format("is {}", KindName(root.kind())),
                "an object with state and questions");
  }
  CheckPrinted(root, where);
  return Request(std::make_shared<Impl>(Impl{std::move(root)}));
}

std::optional<std::string> Request::Id() const {
  const Value* id = impl_->root.Find("id");
  if (id == nullptr) return std::nullopt;
  if (!id->is_string()) {
    throw Error(ErrorKind::kRequest, "id", fmt::format("is {}", KindName(id->kind())), "a string");
  }
  return id->string();
}

struct RequestBuilder::Parts {
  Value state;
  Value questions = Value::Object();

  Value& Add(std::string name, std::string_view type, std::string instructions) {
    ASSAY_CHECK(questions.Find(name) == nullptr);
    Value question = Value::Object();
    question.Add("type", Value::String(std::string(type)));
    question.Add("instructions", Value::String(std::move(instructions)));
    questions.Add(std::move(name), std::move(question));
    return questions.members().back().second;
  }
};

RequestBuilder::RequestBuilder() : parts_(std::make_unique<Parts>()) {}
RequestBuilder::~RequestBuilder() = default;
RequestBuilder::RequestBuilder(RequestBuilder&&) noexcept = default;
RequestBuilder& RequestBuilder::operator=(RequestBuilder&&) noexcept = default;

RequestBuilder& RequestBuilder::StateText(std::string text) {
  parts_->state = Value::String(std::move(text));
  return *this;
}

RequestBuilder& RequestBuilder::StateJson(std::string_view text, std::string_view where) {
  parts_->state = ParseJson(text, where, "one JSON value, in UTF-8");
  return *this;
}

RequestBuilder& RequestBuilder::StateNull() {
  parts_->state = Value();
  return *this;
}

RequestBuilder& RequestBuilder::Noul(std::string name, std::string instructions) {
  parts_->Add(std::move(name), "noul", std::move(instructions));
  return *this;
}

RequestBuilder& RequestBuilder::Choice(std::string name, std::string instructions,
                                       const std::vector<std::string>& options) {
  Value criteria = Value::Object();
  for (const std::string& option : options) {
    ASSAY_CHECK(criteria.Find(option) == nullptr);
    criteria.Add(option, Value());
  }
  parts_->Add(std::move(name), "choice", std::move(instructions))
      .Add("criteria", std::move(criteria));
  return *this;
}

RequestBuilder& RequestBuilder::Score(std::string name, std::string instructions,
                                      const std::vector<std::string>& levels) {
  Value criteria = Value::Array();
  for (const std::string& level : levels) criteria.items().push_back(Value::String(level));
  parts_->Add(std::move(name), "score", std::move(instructions))
      .Add("criteria", std::move(criteria));
  return *this;
}

Request RequestBuilder::Build() const {
  Value root = Value::Object();
  root.Add("state", parts_->state);
  root.Add("questions", parts_->questions);
  CheckPrinted(root, "request");
  return Request(std::make_shared<Request::Impl>(Request::Impl{std::move(root)}));
}

}  // namespace assay

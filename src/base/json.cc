#include "base/json.h"

#include <charconv>
#include <cmath>

#include "base/check.h"

namespace assay::json {

std::string_view KindName(Kind kind) {
  switch (kind) {
    case Kind::kNull: return "null";
    case Kind::kBool: return "a boolean";
    case Kind::kInteger: return "an integer";
    case Kind::kFloat: return "a number";
    case Kind::kString: return "a string";
    case Kind::kArray: return "an array";
    case Kind::kObject: return "an object";
  }
  return "a value";
}

Value Value::Bool(bool value) {
  Value v;
  v.kind_ = Kind::kBool;
  v.boolean_ = value;
  return v;
}

Value Value::Integer(int64_t value) { return BigInteger(std::to_string(value)); }

Value Value::BigInteger(std::string digits) {
  Value v;
  v.kind_ = Kind::kInteger;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), v.number_);
  if (read.ec == std::errc::result_out_of_range)
    v.number_ = digits.starts_with('-') ? -HUGE_VAL : HUGE_VAL;
  v.text_ = std::move(digits);
  return v;
}

Value Value::Float(double value) {
  Value v;
  v.kind_ = Kind::kFloat;
  v.number_ = value;
  return v;
}

Value Value::String(std::string text) {
  Value v;
  v.kind_ = Kind::kString;
  v.text_ = std::move(text);
  return v;
}

Value Value::Array(std::vector<Value> items) {
  Value v;
  v.kind_ = Kind::kArray;
  v.items_ = std::move(items);
  return v;
}

Value Value::Object(std::vector<Member> members) {
  Value v;
  v.kind_ = Kind::kObject;
  v.members_ = std::move(members);
  return v;
}

bool Value::boolean() const {
  ASSAY_CHECK(kind_ == Kind::kBool);
  return boolean_;
}

const std::string& Value::string() const {
  ASSAY_CHECK(kind_ == Kind::kString);
  return text_;
}

const std::vector<Value>& Value::items() const {
  ASSAY_CHECK(kind_ == Kind::kArray);
  return items_;
}

std::vector<Value>& Value::items() {
  ASSAY_CHECK(kind_ == Kind::kArray);
  return items_;
}

const std::vector<Value::Member>& Value::members() const {
  ASSAY_CHECK(kind_ == Kind::kObject);
  return members_;
}

std::vector<Value::Member>& Value::members() {
  ASSAY_CHECK(kind_ == Kind::kObject);
  return members_;
}

double Value::number() const {
  ASSAY_CHECK(kind_ == Kind::kInteger || kind_ == Kind::kFloat);
  return number_;
}

std::optional<int64_t> Value::int64() const {
  if (kind_ != Kind::kInteger) return std::nullopt;
  int64_t value = 0;
  const char* end = text_.data() + text_.size();
  const auto [stop, error] = std::from_chars(text_.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

const std::string& Value::digits() const {
  ASSAY_CHECK(kind_ == Kind::kInteger);
  return text_;
}

const Value* Value::Find(std::string_view key) const {
  for (const Member& member : members_) {
    if (member.first == key) return &member.second;
  }
  return nullptr;
}

void Value::Add(std::string key, Value value) {
  ASSAY_CHECK(kind_ == Kind::kObject);
  members_.emplace_back(std::move(key), std::move(value));
}

}  // namespace assay::json

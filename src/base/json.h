// JSON as assay needs it: key order kept, numbers kept as written, printed the way Python's json
// module prints. Rules: spec d1 4.2; design 6 (one rule where the makers are silent).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/error.h"

namespace assay::json {

enum class Kind { kNull, kBool, kInteger, kFloat, kString, kArray, kObject };

// "null", "a boolean", "an integer", ...: for messages.
std::string_view KindName(Kind kind);

// A JSON value. Copying copies the whole tree.
class Value {
 public:
  using Member = std::pair<std::string, Value>;

  Value() = default;
  static Value Bool(bool value);
  static Value Integer(int64_t value);
  // `digits` is the canonical decimal text (no plus sign, no leading zeros); any length.
  static Value BigInteger(std::string digits);
  static Value Float(double value);
  static Value String(std::string text);
  static Value Array(std::vector<Value> items = {});
  static Value Object(std::vector<Member> members = {});

  Kind kind() const { return kind_; }
  bool is_null() const { return kind_ == Kind::kNull; }
  bool is_string() const { return kind_ == Kind::kString; }
  bool is_object() const { return kind_ == Kind::kObject; }
  bool is_array() const { return kind_ == Kind::kArray; }

  // Each accessor may be called for its own kind only (a programmer's error otherwise).
  bool boolean() const;
  const std::string& string() const;
  const std::vector<Value>& items() const;
  std::vector<Value>& items();
  const std::vector<Member>& members() const;
  std::vector<Member>& members();
  // An integer or a float as a double (nearest); an integer past the double range is infinite.
  double number() const;
  // An integer's value, or nothing when it is not an integer or does not fit.
  std::optional<int64_t> int64() const;
  // The decimal text of an integer, every digit.
  const std::string& digits() const;

  // The member called `key`, or null when this is not an object or has no such member.
  const Value* Find(std::string_view key) const;
  // Appends a member; `key` must not be there yet.
  void Add(std::string key, Value value);

  bool operator==(const Value& other) const = default;

 private:
  Kind kind_ = Kind::kNull;
  bool boolean_ = false;
  double number_ = 0;
  std::string text_;  // a string's text, or an integer's digits
  std::vector<Value> items_;
  std::vector<Member> members_;
};

struct ParseLimits {
  // Arrays and objects inside each other; the stock client sends at most 254.
  size_t max_depth = 256;
  // In all: a parsed value takes some hundred bytes.
  size_t max_values = 4'000'000;
};

// Parses one JSON text. Duplicate keys keep the first position and the last value. "-0" is the
// integer 0. Refused with Error(kind, where): malformed text, a byte-order mark, bytes that are not
// UTF-8, lone surrogates, NaN and infinities, floats past the double range, anything deeper than
// the limit, anything after the value.
Value Parse(std::string_view text, ErrorKind error_kind, std::string_view where,
            ParseLimits limits = {});

// json.dumps(value, ensure_ascii=False, indent=2): spec d1 4.2.
std::string PrintPython(const Value& value);
// The length of PrintPython(value), found without making it.
size_t PrintedBytes(const Value& value);
// The same spelling of numbers and strings on one line, without spaces.
std::string PrintCompact(const Value& value);
// json.dumps(value): one line, ", " and ": ", everything outside of ASCII escaped (spec kev 5).
// Texts must be UTF-8.
std::string PrintPythonAscii(const Value& value);
// repr(float) of Python: shortest digits that read back. Not a JSON number when not finite.
std::string PythonFloat(double value);
// `text` as a JSON string with its quotes, escaped as json.dumps(ensure_ascii=False) escapes.
std::string Quote(std::string_view text);

}  // namespace assay::json

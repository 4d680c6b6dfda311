// Parsing: nlohmann's SAX interface (which hands over every key in order and the source text of
// long integers) into Value. It refuses integers past the double range, which for us are numbers
// like others: a text that has such integers is parsed once more with stand-ins for them.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>

#include "base/json.h"

namespace assay::json {
namespace {

// Objects up to this size find a repeated key by looking at each member.
constexpr size_t kSmallObject = 16;
// Integers of up to this many characters are inside the double range.
constexpr size_t kLongNumber = 300;

// A JSON text whose long integers are replaced by floats of the same length, and what stood there:
// one entry for each long number, in order; nothing for those that were left as they are.
struct StandIns {
  std::string text;
  std::vector<std::optional<std::string>> numbers;
};

// The byte after the string that starts at `at`.
size_t EndOfString(std::string_view text, size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return std::min(at + 1, text.size());
}

bool IsInteger(std::string_view number) {
  if (number.starts_with('-')) number.remove_prefix(1);
  return number.find_first_not_of("0123456789") == std::string_view::npos && number[0] != '0';
}

StandIns ReplaceLongIntegers(std::string_view text) {
  StandIns out{std::string(text), {}};
  for (size_t at = 0; at < text.size();) {
    if (text[at] == '"') {
      at = EndOfString(text, at);
      continue;
    }
    const size_t end = std::min(text.find_first_not_of("+-.0123456789Ee", at), text.size());
    const std::string_view number = text.substr(at, end - at);
    if (number.size() > kLongNumber) {
      out.numbers.emplace_back();
      if (IsInteger(number)) {
        out.numbers.back() = number;
        const size_t first = at + (number[0] == '-' ? 1 : 0);
        std::fill(out.text.begin() + static_cast<ptrdiff_t>(first),
                  out.text.begin() + static_cast<ptrdiff_t>(end), '0');
        out.text[first + 1] = '.';
      }
    }
    at = std::max(end, at + 1);
  }
  return out;
}

class Builder final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit Builder(const ParseLimits& limits,
                   std::vector<std::optional<std::string>> long_numbers = {})
      : limits_(limits), long_numbers_(std::move(long_numbers)) {}

  bool null() override { return PutNew(Value()); }
  bool boolean(bool value) override { return PutNew(Value::Bool(value)); }
  bool number_integer(number_integer_t value) override { return PutNew(Value::Integer(value)); }
  bool number_unsigned(number_unsigned_t value) override {
    return PutNew(Value::BigInteger(std::to_string(value)));
  }
  bool number_float(number_float_t value, const string_t& source) override {
    if (source.size() > kLongNumber && next_long_ < long_numbers_.size()) {
      std::optional<std::string>& integer = long_numbers_[next_long_++];
      if (integer) return PutNew(Value::BigInteger(std::move(*integer)));
    }
    // Integers past 64 bits arrive here, with their text.
    if (source.find_first_of(".eE") == std::string::npos) return PutNew(Value::BigInteger(source));
    return PutNew(Value::Float(value));
  }
  bool string(string_t& value) override { return PutNew(Value::String(std::move(value))); }
  bool binary(binary_t& /*value*/) override { return false; }
  bool start_object(size_t /*count*/) override { return Open(Value::Object()); }
  bool start_array(size_t /*count*/) override { return Open(Value::Array()); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }

  bool key(string_t& name) override {
    Frame& frame = open_.back();
    auto& members = frame.value.members();
    frame.member = FindMember(frame, name);
    if (frame.member == members.size()) {
      if (members.size() >= kSmallObject) frame.index.emplace(name, members.size());
      members.emplace_back(std::move(name), Value());
    }
    return true;
  }

  bool parse_error(size_t position, const std::string& token,
                   const nlohmann::json::exception& error) override {
    overflow_ = dynamic_cast<const nlohmann::json::out_of_range*>(&error) != nullptr;
    problem_ =
        fmt::format("not valid JSON at byte {}: {}", position,
                    overflow_ ? fmt::format("number overflow parsing '{}'", OneLine(token, 60))
                              : Reason(error.what()));
    return false;
  }

  const std::string& problem() const { return problem_; }
  // The problem is a number past the double range.
  bool overflow() const { return overflow_; }
  Value Take() { return std::move(root_); }

 private:
  struct Frame {
    Value value;
    size_t member = 0;                              // where the next value goes, in an object
    std::unordered_map<std::string, size_t> index;  // members from kSmallObject on
  };

  static size_t FindMember(const Frame& frame, const std::string& name) {
    const auto& members = frame.value.members();
    for (size_t i = 0; i < std::min(members.size(), kSmallObject); ++i) {
      if (members[i].first == name) return i;
    }
    const auto found = frame.index.find(name);
    return found == frame.index.end() ? members.size() : found->second;
  }

  // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error while parsing
  // value - unexpected '}'; last read: ...": the part that says it, without a quote of the input.
  static std::string Reason(std::string_view what) {
    for (const std::string_view mark : {"] ", " - "}) {
      const size_t at = what.find(mark);
      if (at != std::string_view::npos) what.remove_prefix(at + mark.size());
    }
    const size_t quote = what.find("; last read:");
    if (quote == std::string_view::npos) return std::string(what);
    const size_t expected = what.find("; expected", quote);
    return std::string(what.substr(0, quote)) +
           (expected == std::string_view::npos ? "" : std::string(what.substr(expected)));
  }

  bool Count() {
    if (++values_ <= limits_.max_values) return true;
    problem_ = fmt::format("more than {} values", limits_.max_values);
    return false;
  }

  bool PutNew(Value value) { return Count() && Put(std::move(value)); }

  bool Put(Value value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return true;
    }
    Frame& frame = open_.back();
    if (frame.value.is_array()) {
      frame.value.items().push_back(std::move(value));
    } else {
      frame.value.members()[frame.member].second = std::move(value);
    }
    return true;
  }

  bool Open(Value value) {
    if (open_.size() >= limits_.max_depth) {
      problem_ = fmt::format("more than {} levels of arrays and objects", limits_.max_depth);
      return false;
    }
    if (!Count()) return false;
    open_.push_back({std::move(value), 0, {}});
    return true;
  }

  bool Close() {
    Value done = std::move(open_.back().value);
    open_.pop_back();
    return Put(std::move(done));
  }

  ParseLimits limits_;
  std::vector<std::optional<std::string>> long_numbers_;
  size_t next_long_ = 0;
  size_t values_ = 0;
  Value root_;
  std::vector<Frame> open_;
  std::string problem_;
  bool overflow_ = false;
};

}  // namespace

Value Parse(std::string_view text, ErrorKind error_kind, std::string_view where,
            ParseLimits limits) {
  if (text.starts_with("\xEF\xBB\xBF")) {
    throw Error(error_kind, where, "starts with a byte-order mark", "send UTF-8 without one");
  }
  // The parser would take a zero byte for the end of the text and pass over the rest.
  const size_t zero = text.find('\0');
  if (zero != std::string_view::npos) {
    throw Error(error_kind, where, fmt::format("not valid JSON: a zero byte at byte {}", zero + 1));
  }
  Builder builder(limits);
  if (nlohmann::json::sax_parse(text.begin(), text.end(), &builder)) return builder.Take();
  if (!builder.overflow()) throw Error(error_kind, where, builder.problem());
  StandIns stand_ins = ReplaceLongIntegers(text);
  Builder second(limits, std::move(stand_ins.numbers));
  if (nlohmann::json::sax_parse(stand_ins.text.begin(), stand_ins.text.end(), &second))
    return second.Take();
  throw Error(error_kind, where, second.problem());
}

}  // namespace assay::json

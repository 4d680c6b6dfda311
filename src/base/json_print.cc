// Printing as Python's json module prints (spec d1 4.2).
#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "base/json.h"

namespace assay::json {
namespace {

constexpr int kIndent = 2;

// Takes the place of the text where only its length counts.
class Counter {
 public:
  void operator+=(char /*c*/) { ++bytes_; }
  void operator+=(std::string_view text) { bytes_ += text.size(); }
  void append(size_t count, char /*c*/) { bytes_ += count; }
  size_t bytes() const { return bytes_; }

 private:
  size_t bytes_ = 0;
};

template <typename Out>
void AppendQuoted(std::string_view text, Out& out) {
  out += '"';
  for (const char c : text) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\b': out += "\\b"; break;
      case '\f': out += "\\f"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

// One layout: with `pretty`, a line per item and ": " after keys; without, neither.
template <typename Out>
class Printer {
 public:
  explicit Printer(bool pretty) : pretty_(pretty) {}

  Out Print(const Value& value) {
    Append(value, 0);
    return std::move(out_);
  }

 private:
  void Break(int depth) {
    if (!pretty_) return;
    out_ += '\n';
    out_.append(static_cast<size_t>(depth) * kIndent, ' ');
  }

  void Append(const Value& value, int depth) {
    switch (value.kind()) {
      case Kind::kNull: out_ += "null"; break;
      case Kind::kBool: out_ += value.boolean() ? "true" : "false"; break;
      case Kind::kInteger: out_ += value.digits(); break;
      case Kind::kFloat: out_ += PythonFloat(value.number()); break;
      case Kind::kString: AppendQuoted(value.string(), out_); break;
      case Kind::kArray: AppendArray(value, depth); break;
      case Kind::kObject: AppendObject(value, depth); break;
    }
  }

  void AppendArray(const Value& value, int depth) {
    out_ += '[';
    bool first = true;
    for (const Value& item : value.items()) {
      if (!first) out_ += ',';
      first = false;
      Break(depth + 1);
      Append(item, depth + 1);
    }
    if (!first) Break(depth);
    out_ += ']';
  }

  void AppendObject(const Value& value, int depth) {
    out_ += '{';
    bool first = true;
    for (const auto& [key, member] : value.members()) {
      if (!first) out_ += ',';
      first = false;
      Break(depth + 1);
      AppendQuoted(key, out_);
      out_ += pretty_ ? ": " : ":";
      Append(member, depth + 1);
    }
    if (!first) Break(depth);
    out_ += '}';
  }

  bool pretty_;
  Out out_;
};

}  // namespace

std::string PythonFloat(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  if (value == 0) return std::signbit(value) ? "-0.0" : "0.0";
  char buffer[40];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
  std::string_view text(buffer, static_cast<size_t>(end - buffer));
  const std::string sign = text.front() == '-' ? "-" : "";
  text.remove_prefix(sign.size());
  const size_t e = text.find('e');
  int exponent = 0;
  const char* digits_of_exponent = text.data() + e + (text[e + 1] == '+' ? 2 : 1);
  std::from_chars(digits_of_exponent, text.data() + text.size(), exponent);
  std::string digits(text.substr(0, 1));
  if (e > 2) digits += text.substr(2, e - 2);
  const int count = static_cast<int>(digits.size());
  if (exponent < -4 || exponent >= 16) {
    const std::string fraction = count > 1 ? "." + digits.substr(1) : "";
    return fmt::format("{}{}{}e{}{:02d}", sign, digits[0], fraction, exponent < 0 ? '-' : '+',
                       std::abs(exponent));
  }
  if (exponent < 0) return fmt::format("{}0.{}{}", sign, std::string(-exponent - 1, '0'), digits);
  if (exponent + 1 >= count)
    return fmt::format("{}{}{}.0", sign, digits, std::string(exponent + 1 - count, '0'));
  return fmt::format("{}{}.{}", sign, digits.substr(0, exponent + 1), digits.substr(exponent + 1));
}

std::string Quote(std::string_view text) {
  std::string out;
  AppendQuoted(text, out);
  return out;
}

std::string PrintPython(const Value& value) { return Printer<std::string>(true).Print(value); }

size_t PrintedBytes(const Value& value) { return Printer<Counter>(true).Print(value).bytes(); }

std::string PrintCompact(const Value& value) { return Printer<std::string>(false).Print(value); }

}  // namespace assay::json

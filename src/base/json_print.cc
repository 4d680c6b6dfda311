// Printing as Python's json module prints (spec d1 4.2).
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <type_traits>

#include "base/json.h"
#include "base/utf8.h"

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

enum class Layout {
  kIndented,  // a line per item, ": " after keys
  kCompact,   // neither
  kSpaced,    // one line, ", " and ": ": json.dumps without arguments, which also escapes what is
              // not ASCII
};

// As AppendQuoted, with everything outside of printable ASCII as \uXXXX, in pairs past U+FFFF. The
// text is UTF-8 (a parsed or checked one).
void AppendAscii(std::string_view text, std::string& out) {
  std::string quoted;
  AppendQuoted(text, quoted);
  for (size_t at = 0; at < quoted.size();) {
    const Utf8Char next = DecodeUtf8(quoted, at);
    at += next.bytes;
    if (next.code < 0x7F) {
      out += static_cast<char>(next.code);
    } else if (next.code <= 0xFFFF) {
      out += fmt::format("\\u{:04x}", static_cast<uint32_t>(next.code));
    } else {
      const auto rest = static_cast<uint32_t>(next.code) - 0x10000;
      out += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (rest >> 10), 0xDC00 + (rest & 0x3FF));
    }
  }
}

template <typename Out>
class Printer {
 public:
  explicit Printer(Layout layout) : layout_(layout) {}

  Out Print(const Value& value) {
    Append(value, 0);
    return std::move(out_);
  }

 private:
  void Break(int depth) {
    if (layout_ != Layout::kIndented) return;
    out_ += '\n';
    out_.append(static_cast<size_t>(depth) * kIndent, ' ');
  }

  void Append(const Value& value, int depth) {
    switch (value.kind()) {
      case Kind::kNull: out_ += "null"; break;
      case Kind::kBool: out_ += value.boolean() ? "true" : "false"; break;
      case Kind::kInteger: out_ += value.digits(); break;
      case Kind::kFloat: out_ += PythonFloat(value.number()); break;
      case Kind::kString: AppendString(value.string()); break;
      case Kind::kArray: AppendArray(value, depth); break;
      case Kind::kObject: AppendObject(value, depth); break;
    }
  }

  void AppendComma() { out_ += layout_ == Layout::kSpaced ? ", " : ","; }

  void AppendString(std::string_view text) {
    if constexpr (std::is_same_v<Out, std::string>) {
      if (layout_ == Layout::kSpaced) return AppendAscii(text, out_);
    }
    AppendQuoted(text, out_);
  }

  void AppendArray(const Value& value, int depth) {
    out_ += '[';
    bool first = true;
    for (const Value& item : value.items()) {
      if (!first) AppendComma();
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
      if (!first) AppendComma();
      first = false;
      Break(depth + 1);
      AppendString(key);
      out_ += layout_ == Layout::kCompact ? ":" : ": ";
      Append(member, depth + 1);
    }
    if (!first) Break(depth);
    out_ += '}';
  }

  Layout layout_;
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

std::string PrintPython(const Value& value) {
  return Printer<std::string>(Layout::kIndented).Print(value);
}

size_t PrintedBytes(const Value& value) {
  return Printer<Counter>(Layout::kIndented).Print(value).bytes();
}

std::string PrintCompact(const Value& value) {
  return Printer<std::string>(Layout::kCompact).Print(value);
}

std::string PrintPythonAscii(const Value& value) {
  return Printer<std::string>(Layout::kSpaced).Print(value);
}

}  // namespace assay::json

#include "assay/error.h"

#include <fmt/format.h>

#include "base/check.h"
#include "base/json.h"
#include "base/utf8.h"

namespace assay {
namespace {

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Cuts the middle out of a long text, never inside a UTF-8 sequence.
std::string Shorten(std::string_view text, size_t max_bytes) {
  if (text.size() <= max_bytes) return std::string(text);
  size_t head = max_bytes * 2 / 3;
  size_t tail = text.size() - max_bytes / 4;
  while (head > 0 && IsContinuation(text[head])) --head;
  while (tail < text.size() && IsContinuation(text[tail])) ++tail;
  return fmt::format("{}...{}", text.substr(0, head), text.substr(tail));
}

std::string Join(const std::string& where, const std::string& message, const std::string& hint) {
  std::string line = where.empty() ? message : fmt::format("{}: {}", where, message);
  if (!hint.empty()) line += fmt::format(" ({})", hint);
  return line;
}

}  // namespace

std::string_view ErrorKindName(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUsage: return "usage";
    case ErrorKind::kFile: return "file";
    case ErrorKind::kModel: return "model";
    case ErrorKind::kRequest: return "request";
  }
  return "unknown";
}

int ExitCode(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUsage:
    case ErrorKind::kFile: return 2;
    case ErrorKind::kModel: return 3;
    case ErrorKind::kRequest: return 4;
  }
  return 2;
}

std::string OneLine(std::string_view text, size_t max_bytes) {
  const std::string shown = Shorten(text, max_bytes);
  std::string out;
  out.reserve(shown.size());
  for (size_t at = 0; at < shown.size();) {
    const Utf8Char next = DecodeUtf8(shown, at);
    if (!next.valid) {
      out += "\uFFFD";
    } else if (next.code == '\n') {
      out += "\\n";
    } else if (next.code == '\r') {
      out += "\\r";
    } else if (next.code == '\t') {
      out += "\\t";
    } else if (next.code < 0x20 || (next.code >= 0x7F && next.code < 0xA0)) {
      out += fmt::format("\\x{:02x}", static_cast<uint32_t>(next.code));
    } else if (next.code == 0x2028 || next.code == 0x2029) {
      out += fmt::format("\\u{:04x}", static_cast<uint32_t>(next.code));
    } else {
      out.append(shown, at, next.bytes);
    }
    at += next.bytes;
  }
  return out;
}

Error::Error(ErrorKind kind, std::string_view where, std::string_view message,
             std::string_view hint)
    : std::runtime_error(Join(OneLine(where), OneLine(message, 1000), OneLine(hint, 1000))),
      kind_(kind),
      where_(OneLine(where)),
      message_(OneLine(message, 1000)),
      hint_(OneLine(hint, 1000)) {}

std::string ErrorJson(const Error& error, const std::optional<std::string>& id) {
  using json::Value;
  Value fields = Value::Object({{"kind", Value::String(std::string(ErrorKindName(error.kind())))},
                                {"where", Value::String(error.where())},
                                {"message", Value::String(error.message())},
                                {"hint", Value::String(error.hint())}});
  Value root = Value::Object();
  if (id) root.Add("id", Value::String(*id));
  root.Add("error", std::move(fields));
  return json::PrintCompact(root);
}

void CheckFailed(const char* file, int line, const char* condition) {
  fmt::print(stderr, "assay: internal error at {}:{}: {} does not hold\n", file, line, condition);
  std::abort();
}

}  // namespace assay

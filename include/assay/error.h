// The one error type of assay. Thrown where the cause is known, caught in the front doors.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace assay {

// What went wrong, which fixes the exit code of the program (docs/errors.md).
enum class ErrorKind {
  kUsage,  // a wrong option or argument; exit 2
  kFile,   // an input file is missing or cannot be read; exit 2
  kModel,  // the model cannot be loaded: missing, cut, contradictory or of an unknown family; exit
           // 3
  kRequest,  // the request was read but is refused; exit 4
};

// "usage", "file", "model", "request".
std::string_view ErrorKindName(ErrorKind kind);
// 2, 2, 3, 4.
int ExitCode(ErrorKind kind);

class Error : public std::runtime_error {
 public:
  // `where`: the file or field at fault; `message`: what is wrong; `hint`: what would be right (may
  // be empty). Control characters are escaped and very long names cut, so what() is always one
  // printable line.
  Error(ErrorKind kind, std::string_view where, std::string_view message,
        std::string_view hint = "");

  ErrorKind kind() const { return kind_; }
  const std::string& where() const { return where_; }
  const std::string& message() const { return message_; }
  const std::string& hint() const { return hint_; }

 private:
  ErrorKind kind_;
  std::string where_;
  std::string message_;
  std::string hint_;
};

// `text` with control characters and line separators written as escapes; cut in the middle past
// `max_bytes`.
std::string OneLine(std::string_view text, size_t max_bytes = 300);

// {"id"?, "error": {"kind", "where", "message", "hint"}} on one line.
std::string ErrorJson(const Error& error, const std::optional<std::string>& id = {});

}  // namespace assay

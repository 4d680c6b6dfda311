#include "cli/output.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "assay/error.h"

namespace assay::cli {
namespace {

[[noreturn]] void ThrowWriteError(std::string_view name, int reason) {
  const bool closed = reason == EPIPE;
  throw Error(
      ErrorKind::kFile, name,
      closed ? "the reader closed it" : fmt::format("cannot be written: {}", strerror(reason)),
      closed ? "read all of the output" : "");
}

}  // namespace

void WriteText(int descriptor, std::string_view name, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      ThrowWriteError(name, errno);
    }
    text.remove_prefix(static_cast<size_t>(written));
  }
}

void WriteLine(int descriptor, std::string_view name, std::string_view text) {
  std::string line(text);
  line += '\n';
  WriteText(descriptor, name, line);
}

void WriteError(std::string_view line) {
  try {
    WriteLine(STDERR_FILENO, "standard error", fmt::format("assay: {}", line));
  } catch (const Error&) {
    return;
  }
}

OutputFile::OutputFile(const std::filesystem::path& path)
    : name_(path.string()),
      descriptor_(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
  if (descriptor_ >= 0) return;
  const int reason = errno;
  if (reason == EISDIR) throw Error(ErrorKind::kFile, name_, "is a folder", "name a file");
  if (reason == ENOENT || reason == ENOTDIR) {
    throw Error(ErrorKind::kFile, name_, "cannot be made: its folder does not exist",
                "name a file in a folder that exists");
  }
  ThrowWriteError(name_, reason);
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

void OutputFile::Line(std::string_view text) { WriteLine(descriptor_, name_, text); }

void OutputFile::Close() {
  const int descriptor = descriptor_;
  descriptor_ = -1;
  if (close(descriptor) != 0) ThrowWriteError(name_, errno);
}

}  // namespace assay::cli

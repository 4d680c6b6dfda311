#include "cli/output.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "assay/error.h"

namespace assay::cli {
namespace {

std::string_view WriteHint(int reason) {
  switch (reason) {
    case EPIPE: return "read all of the output";
    case ENOSPC:
    case EDQUOT: return "free space on that disk, or another place";
    case EFBIG: return "a higher limit on file sizes: ulimit -f";
    case EBADF: return "one that is open";
    default: return "a place that can be written";
  }
}

[[noreturn]] void ThrowWriteError(std::string_view name, int reason) {
  throw Error(ErrorKind::kFile, name,
              reason == EPIPE ? "the reader closed it"
                              : fmt::format("cannot be written: {}", strerror(reason)),
              WriteHint(reason));
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

#include "cli/line_reader.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "assay/error.h"

namespace assay::cli {

namespace {

constexpr size_t kLongLine = size_t{1} << 20;

}  // namespace

LineReader::LineReader(int descriptor, std::string name, size_t max_line_bytes)
    : descriptor_(descriptor), name_(std::move(name)), max_line_bytes_(max_line_bytes) {}

bool LineReader::Fill() {
  if (end_) return false;
  buffer_.erase(0, at_);
  at_ = 0;
  char block[1 << 16];
  for (;;) {
    const ssize_t got = read(descriptor_, block, sizeof block);
    if (got > 0) {
      buffer_.append(block, static_cast<size_t>(got));
      return true;
    }
    if (got == 0) {
      end_ = true;
      return false;
    }
    if (errno != EINTR)
      throw Error(ErrorKind::kFile, name_, fmt::format("cannot be read: {}", strerror(errno)));
  }
}

bool LineReader::Ready() {
  while (!end_) {
    if (buffer_.find('\n', at_) != std::string::npos) return true;
    // A long line takes its time anyway.
    if (buffer_.size() - at_ > kLongLine) return false;
    pollfd input{descriptor_, POLLIN, 0};
    if (poll(&input, 1, 0) <= 0) return false;
    Fill();
  }
  return true;
}

std::optional<Line> LineReader::Next() {
  Line line;
  size_t searched = 0;
  for (;;) {
    const size_t feed = buffer_.find('\n', at_ + searched);
    const bool found = feed != std::string::npos;
    const size_t length = (found ? feed : buffer_.size()) - at_;
    if (length > max_line_bytes_) line.too_long = true;
    if (found || (end_ && (length > 0 || line.too_long))) {
      line.number = ++lines_;
      if (!line.too_long) line.text = buffer_.substr(at_, length);
      const size_t used = length + (found ? 1 : 0);
      at_ += used;
      offset_ += used;
      line.end_offset = offset_;
      return line;
    }
    if (end_) return std::nullopt;
    if (line.too_long) {
      // Nothing of this line will be handed out: keep memory at one block.
      offset_ += length;
      at_ += length;
      searched = 0;
    } else {
      searched = length;
    }
    Fill();
  }
}

}  // namespace assay::cli

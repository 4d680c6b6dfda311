// Lines from a file or a pipe, read as they arrive, with a limit on each.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace assay::cli {

struct Line {
  size_t number = 0;  // from 1
  std::string text;   // without its line feed
  bool too_long =
      false;  // past the limit: `text` is empty and the rest of the line was passed over
  size_t end_offset = 0;  // bytes of the input up to the end of this line
};

class LineReader {
 public:
  // Borrows the descriptor. `name` is for messages.
  LineReader(int descriptor, std::string name, size_t max_line_bytes);

  // The next line, or nothing at the end. A last line without a line feed counts; an empty one
  // after the last line feed does not. Throws Error(kFile) when reading fails.
  std::optional<Line> Next();
  // True when Next would return without waiting for whoever writes the input.
  bool Ready();

 private:
  // Reads more; false at the end.
  bool Fill();

  int descriptor_;
  std::string name_;
  size_t max_line_bytes_;
  std::string buffer_;
  size_t at_ = 0;      // first byte of `buffer_` that was not handed out
  size_t offset_ = 0;  // bytes of the input before it
  size_t lines_ = 0;
  bool end_ = false;
};

}  // namespace assay::cli

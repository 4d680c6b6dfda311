// Writing: whole lines, every failure noticed.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>
#include <string_view>

namespace assay::cli {

// Writes `text` and a line feed, all of it or Error(kFile, name). A line of up to a pipe's capacity
// is one write, so a killed program leaves whole lines.
void WriteLine(int descriptor, std::string_view name, std::string_view text);
// The same without the line feed.
void WriteText(int descriptor, std::string_view name, std::string_view text);
// "assay: ..." on standard error; failures are ignored, there is nowhere left to say so.
void WriteError(std::string_view line);

// A file being written line by line; made new, or emptied.
class OutputFile {
 public:
  explicit OutputFile(const std::filesystem::path& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void Line(std::string_view text);
  // Flushes to the disk's own errors: a full disk may only show when the file is closed.
  void Close();

 private:
  std::string name_;
  int descriptor_;
};

}  // namespace assay::cli

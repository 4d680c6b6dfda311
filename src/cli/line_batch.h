// Lines of a --lines input that are answered together, in shared passes.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "assay/model.h"
#include "cli/line_reader.h"

namespace assay::cli {

class LineBatch {
 public:
  // The id of a line (its own "id", else its number), the end of the line in the input, and what
  // the line came to.
  using Done =
      std::function<void(const std::string& id, size_t end_offset, const Model::Outcome& outcome)>;

  // Takes the next line, and those after it that need not be waited for, up to a limit. False at
  // the end of the input.
  bool Read(LineReader& reader);
  // Answers what was read; `done` is called for each line in order, as soon as it is known.
  void Answer(const Model& model, const DecideOptions& options, const Done& done);

 private:
  struct Entry {
    std::string id;
    size_t end_offset = 0;
    std::optional<Request> request;
    std::optional<Error> unreadable;  // why it is no request
  };

  static Entry Parse(const Line& line);

  std::vector<Entry> entries_;
  std::optional<Line> held_;  // read, but too much for the last batch
};

// True for the refusal of a text that is no JSON at all.
bool IsNoJson(const Error& error);

}  // namespace assay::cli

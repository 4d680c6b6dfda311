// Questions and states from command-line options.
#pragma once

#include <string>
#include <vector>

#include "assay/request.h"

namespace assay::cli {

struct AskOptions {
  std::string state;  // --state: a file's name, or the text itself
  bool has_state = false;
  std::vector<std::string> nouls;    // --noul "Is it urgent?"
  std::vector<std::string> choices;  // --choice "Which team?=billing,tech"
  std::vector<std::string> scores;   // --score "How urgent?=later,today,now"

  bool any_question() const { return !nouls.empty() || !choices.empty() || !scores.empty(); }
};

// A question's text is its name in the answer. Without --state the state is null. A --state that
// names a file is that file's content, read as JSON when the name ends in .json. One that names a
// folder is an error, and so is one that looks like a file's name (ends in .json or .txt) where
// there is no such file. Anything else is the text itself.
Request RequestFromOptions(const AskOptions& options);

// "Which team?=billing,tech": the text before the last '=', and the parts between commas after it,
// without the spaces around them.
struct NamedList {
  std::string text;
  std::vector<std::string> parts;
};
NamedList ParseNamedList(const std::string& option, const std::string& value);

}  // namespace assay::cli

// Answers for people: a small table with bars.
#pragma once

#include <string>

#include "assay/answers.h"

namespace assay::cli {

struct TableStyle {
  size_t width = 80;    // columns of the terminal
  bool unicode = true;  // block characters for bars
};

// `title` names what was asked (a file, an id) and may be empty.
std::string AnswerTable(const Answers& answers, const std::string& title, const TableStyle& style);

}  // namespace assay::cli

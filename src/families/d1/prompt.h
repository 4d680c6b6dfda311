// The text of a d1 row, byte for byte (spec d1 4.1, 4.3).
#pragma once

#include <string>
#include <vector>

#include "families/d1/questions.h"

namespace assay::families::d1 {

// What all questions of a request share. `state` is nothing when the request's state is null.
std::string PrefixText(const std::optional<std::string>& state);
// What follows it for one question. `codes` are the option codes of a choice.
std::string SuffixText(const Question& question, const std::vector<std::string>& codes);

}  // namespace assay::families::d1

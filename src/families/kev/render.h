// The texts of a Kev row, byte for byte (spec kev 3, 4.2, 4.3).
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace assay::families::kev {

// Any JSON value as the flat text that the model reads (spec kev 4.2): null is nothing, numbers and
// booleans as Python's str() writes them, an array a line per item, an object a line per member.
// Time and memory are linear in json::PrintedBytes(value).
std::string Render(const json::Value& value);

// An option's text: the name alone when the description is null or the empty string, else
// "name: description" (spec kev 4.3). false, 0, [] and {} are descriptions.
std::string OptionText(std::string_view name, const json::Value* description);

// A caller's text with every <|name|> written with broken bars (U+00A6) instead, so that it can
// never be read as one of the model's control tokens (spec kev 3). The name is ASCII letters,
// digits and underscores, at least one; matches are leftmost and do not overlap. Linear time.
std::string Escape(std::string_view text);

}  // namespace assay::families::kev

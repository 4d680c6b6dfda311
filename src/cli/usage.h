// Wrong use of the command line, in the program's own words and not the parser's.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>

#include "assay/error.h"

namespace assay::cli {

// What the parser found wrong, after app.parse() threw `error`.
Error UsageError(const CLI::App& app, const CLI::ParseError& error);

// An option that takes a whole number of at most `max`. The parser itself would take -1 for the
// largest number and 010 for eight.
CLI::Option* AddCount(CLI::App& command, const std::string& name, size_t max, size_t& value,
                      const std::string& description);

// A flag that is there or not; the parser itself would take --lines=no.
CLI::Option* AddSwitch(CLI::App& command, const std::string& name, bool& value,
                       const std::string& description);

// Makes an empty text for `option` an error; `hint` says what would be right.
void RequireText(CLI::Option& option, const std::string& hint);

}  // namespace assay::cli

// Options about how a model is loaded, the same for every command that loads one.
#pragma once

#include <CLI/CLI.hpp>
#include <vector>

#include "assay/model.h"

namespace assay::cli {

// --compute, and what Kev models take: --base, --merge, --delta, --date-facts.
std::vector<CLI::Option*> AddLoadOptions(CLI::App& command, LoadOptions& options);

}  // namespace assay::cli

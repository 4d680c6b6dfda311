// Lists of whole numbers on the command line.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace assay::cli {

// "16,39,64": whole numbers of 1 or more between commas, spaces around them allowed; "none" is the
// empty list. Throws Error(kUsage, option).
std::vector<size_t> ParseCounts(const std::string& option, const std::string& value);

}  // namespace assay::cli

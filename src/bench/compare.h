// Two reports of one window, side by side.
#pragma once

#include "assay/bench.h"
#include "base/json.h"

namespace assay::bench {

// Medians of `b` over those of `a`, for cells that both have; those of one only are named. Throws
// Error(kUsage) when a field that a window shares differs, the window has no name, or no cell is in
// both; `name_a` and `name_b` are for messages.
json::Value CompareReports(const json::Value& a, const std::string& name_a, const json::Value& b,
                           const std::string& name_b);

// The same for people.
std::string CompareText(const json::Value& comparison);

}  // namespace assay::bench

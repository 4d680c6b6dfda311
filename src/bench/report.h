// What was measured, as JSON and as lines for people.
#pragma once

#include <string>

#include "base/json.h"
#include "bench/measure.h"

namespace assay::bench {

// The stamp of a window: what two reports must share to be compared, and what they may differ in.
json::Value WindowJson(const Window& window);
json::Value ModelJson(const Bench& bench);

// Every figure, those that follow from others included: docs/bench.md.
json::Value ReportJson(const Bench& bench, const Measurement& measurement);

// The same for people, made from the JSON alone.
std::string ReportText(const json::Value& report);

// "3.21 ms", "12.4 us": three digits.
std::string ShowSeconds(double seconds);

}  // namespace assay::bench

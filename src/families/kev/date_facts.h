// What the dates of a state are to each other, said in words: the model cannot subtract dates
// (spec kev 4.6; off unless asked for).
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace assay::families::kev {

// One sentence for every pair of the dates that stand in `text`, in order of first appearance,
// distinct by spelling: "2026-06-26 is 8 days before July 4, 2026." Dates are "Month D, YYYY" with
// the full English name and "YYYY-MM-DD", between characters that belong to no word; digits are
// ASCII. Impossible dates do not count. Empty with fewer than two dates. Throws Error(kRequest,
// "state") when there are so many dates that the sentences alone are past any state's limit.
std::string DateFacts(std::string_view text);

// The state with the facts about its text: a member date_facts (in place if it is there already,
// else last), one more item, or one more paragraph. Unchanged when there are no facts.
json::Value WithDateFacts(const json::Value& state);

}  // namespace assay::families::kev

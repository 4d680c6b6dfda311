// How sure a Kev answer is (spec kev 5; kev-1.0).
#pragma once

#include <span>
#include <string_view>

namespace assay::families::kev {

// The probabilities are brought to the sum 1 first (all zero: uniform). Sums are Python 3.12's.
// A choice: how far its largest probability is above 1/K, as a share of 1 - 1/K; 1 when K = 1.
double ChoiceConfidence(std::span<const double> probabilities);
// A score: 1 - (mean distance from the first largest level) / (mean distance of all levels from
// their middle), at least 0; 1 for one level.
double ScoreConfidence(std::span<const double> probabilities);
// Family::Confidence: the rule of a "choice" or a "score". A noul has none.
double Confidence(std::string_view kind, std::span<const double> probabilities);

}  // namespace assay::families::kev

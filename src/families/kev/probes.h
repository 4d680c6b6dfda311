// Requests made from a request, as the Kev server's probes make them: a choice's options in other
// orders, and each question alone (spec kev 7.3, 7.4). They make one request at a time, since a
// request may be large and its questions many.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace assay::families::kev {

inline constexpr size_t kMaxRuns = 64;

// The option names of a choice in the order of each run: run 0 as given, every later one a fresh
// copy shuffled by one Python random.Random(seed). 1 <= runs <= 64; `seed` as PythonRandom reads
// it. Throws Error(kRequest): "question must be an existing choice question", or naming n_perm or
// seed.
std::vector<std::vector<std::string>> OptionOrders(const json::Value& request,
                                                   std::string_view question, size_t runs,
                                                   std::string_view seed);

// The request with that choice alone, its options in `order`: one of OptionOrders.
json::Value WithOrder(const json::Value& request, std::string_view question,
                      const std::vector<std::string>& order);

// The request with its question number `index` alone (an object `questions` with more than `index`
// members).
json::Value OneQuestion(const json::Value& request, size_t index);

}  // namespace assay::families::kev

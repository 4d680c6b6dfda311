// A d1 request, checked and brought to one form (spec d1 4.3, 4.6; design 6 for the wire dialect).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "families/family.h"

namespace assay::families::d1 {

enum class Kind { kChoice, kNoul, kScore };

struct Choice {
  std::string label;
  std::string description;  // "" = none: the label speaks for itself
};

struct Question {
  std::string name;
  Kind kind = Kind::kChoice;
  std::string instructions;
  std::vector<Choice> choices;         // kChoice
  std::optional<std::string> yes, no;  // kNoul with described sides; both or neither are set
  std::vector<std::string> levels;     // kScore
  std::vector<json::Value> legend;     // kScore: the levels as sent
};

struct Request {
  std::optional<std::string>
      state;  // the state's text (JSON already printed); nothing when the state is null
  std::vector<Question> questions;
};

// The state's text alone; questions are not looked at.
std::optional<std::string> ReadState(const json::Value& request, Dialect dialect);

// The refusals 1 to 14 of spec 4.6, over the whole request, in request order. Throws
// Error(kRequest) naming the field.
Request ReadRequest(const json::Value& request, Dialect dialect);

}  // namespace assay::families::d1

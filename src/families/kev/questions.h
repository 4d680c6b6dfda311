// A Kev request, checked and turned into texts (spec kev 4.1 to 4.3; kev-1.0).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace assay::families::kev {

// Options of a choice and levels of a score.
inline constexpr size_t kMaxOptions = 255;

enum class Kind { kNoul, kChoice, kScore };

// "noul", "choice", "score".
std::string_view KindName(Kind kind);

struct Question {
  std::string name;
  Kind kind = Kind::kNoul;
  std::string instructions;          // rendered; "" when missing or null
  std::vector<std::string> options;  // their texts, in the order of the row; noul: no, yes
  std::vector<std::string> keys;  // what answers call them: "false", "true"; names; "0", "1", ...
};

struct Request {
  std::string state;  // rendered
  std::vector<Question> questions;
  std::string model = "kev-latest";  // as the request calls it: echoed (spec kev 4.1)
};

struct ReadOptions {
  bool date_facts = false;  // add what the state's dates are to each other (spec kev 4.6)
};

// The state's text alone; questions are not looked at. Throws Error(kRequest) when there is none.
std::string ReadState(const json::Value& request, const ReadOptions& options = {});

// The whole request, in request order; members that are not named in spec kev 4.1 are not looked
// at. Throws Error(kRequest) naming the field.
Request ReadRequest(const json::Value& request, const ReadOptions& options = {});

}  // namespace assay::families::kev

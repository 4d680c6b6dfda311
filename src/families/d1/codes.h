// Option codes and readout groups of d1 (spec d1 4.4, 4.5, 5.3).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "families/d1/questions.h"

namespace assay::families::d1 {

// What codes need of a tokenizer: the ids of a text.
using Encode = std::function<std::vector<int32_t>(std::string_view)>;

// The printed code and the readout ids of each option of a question, in order.
struct OptionCodes {
  std::vector<std::string> codes;
  std::vector<std::vector<int32_t>> groups;
  std::vector<std::string> keys;  // what the answer calls the options
};

// The one-token texts of a tokenizer that codes may use. Immutable once made.
class CodeTable {
 public:
  explicit CodeTable(Encode encode);

  // Throws Error(kRequest): no one-token code is left (refusal 15), or a readout id is outside the
  // option table (refusal 16). `where` is the question's path.
  OptionCodes CodesFor(const Question& question, const std::string& where) const;

  // Distinct ids of the option table.
  size_t size() const { return table_.size(); }

 private:
  std::optional<int32_t> OneToken(const std::string& text) const;
  void AddAliases(const std::vector<std::string>& wanted, const std::string& where,
                  OptionCodes& out) const;

  Encode encode_;
  std::vector<std::string> pool_;
  std::unordered_map<std::string, std::optional<int32_t>> known_;
  std::unordered_set<int32_t> table_;
};

}  // namespace assay::families::d1

// Everything of a Kev model that works on texts alone: requests to rows, answers to a count. The
// weights' part of the family is elsewhere.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "families/family.h"
#include "families/kev/rows.h"

namespace assay::families::kev {

struct TextOptions {
  Limits limits = {};
  bool date_facts = false;  // spec kev 4.6
};

// Immutable; one object may be used by any number of threads at a time.
class Texts {
 public:
  // `file`: the tokenizer's name in messages. Throws Error(kModel, file) when it lacks a delimiter.
  Texts(text::Tokenizer tokenizer, const TextOptions& options,
        const std::string& file = "tokenizer.json");

  // Family::Encode. The state is always the trunk, also of one question. A question's `ids` are its
  // branch; `wanted` are its option marks in order and then the deciding row, which is the last;
  // `options` are the keys of the answer; `legend` of a score are its levels as rendered.
  EncodedRequest Encode(const json::Value& request) const;
  // Family::EncodeState.
  std::vector<int32_t> EncodeState(const json::Value& request) const;

  // Tokens of the answers as json.dumps prints them, control tokens in them matched (spec kev 5).
  size_t OutputTokens(const json::Value& answers) const;

  const RowEncoder& rows() const { return rows_; }

 private:
  RowEncoder rows_;
  ReadOptions read_;
};

}  // namespace assay::families::kev

// Token rows of a Kev request: one state, and a branch per question (spec kev 4.4, 4.5).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "families/kev/questions.h"
#include "text/tokenizer.h"

namespace assay::families::kev {

// In tokens; over-long input is refused, never cut.
struct Limits {
  size_t state_tokens = 65'536;  // the state with its delimiter
  size_t row_tokens = 73'728;    // state and one branch
};

// The tokens that hold a row together. Their ids are the base model's, so they are looked up by
// text: other vocabularies number them otherwise (spec kev 0.2).
struct Delimiters {
  int32_t state = 0;     // <|fim_prefix|>
  int32_t question = 0;  // <|fim_middle|>
  int32_t open = 0;      // <|box_start|>
  int32_t close = 0;     // <|box_end|>
  int32_t decide = 0;    // <|fim_suffix|>
};

// Throws Error(kModel, file) when one of them is not a single token of this tokenizer.
Delimiters FindDelimiters(const text::Tokenizer& tokenizer, const std::string& file);

struct Branch {
  std::vector<int32_t> ids;
  std::vector<size_t> marks;  // where each option closes, in `ids`: its hidden row speaks for it
  size_t decide = 0;          // the last place: its hidden row asks
};

// Encodes the texts of one model. Borrows nothing but `tokenizer`'s tables, which it shares.
class RowEncoder {
 public:
  // `file`: the tokenizer's name in messages.
  RowEncoder(text::Tokenizer tokenizer, Limits limits, const std::string& file);

  // A caller's text, escaped: no token of it can be a delimiter.
  std::vector<int32_t> Text(const std::string& text) const;
  // [state] text. Throws Error(kRequest, "state") past the limit.
  std::vector<int32_t> State(const std::string& text) const;
  // [question] instructions, [open] option [close] for each, [decide]. Throws Error(kRequest,
  // "questions.NAME") when it and a state of `state_tokens` are past the limit of a row.
  Branch BranchOf(const Question& question, size_t state_tokens) const;

  const text::Tokenizer& tokenizer() const { return tokenizer_; }
  const Limits& limits() const { return limits_; }
  const Delimiters& delimiters() const { return delimiters_; }

 private:
  text::Tokenizer tokenizer_;
  Limits limits_;
  Delimiters delimiters_;
};

}  // namespace assay::families::kev

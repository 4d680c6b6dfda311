// The work that is measured: rows of random tokens through a decoder, as decide runs them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "assay/error.h"
#include "families/family.h"

namespace assay::bench {

// One kind of call: a single row of `tokens`; or `questions` of `question_tokens` each about one
// state.
struct Cell {
  size_t tokens = 0;
  size_t questions = 0;
  size_t state = 0;
  size_t question_tokens = 0;

  bool is_row() const { return questions == 0; }
  // Token rows that run: a state counts once.
  size_t rows() const { return is_row() ? tokens : state + questions * question_tokens; }
  // "16 tokens", "5 questions of 20 on 1500".
  std::string Name() const;
};

// A row has at most this many tokens, by the family's word.
size_t RowLimit(const families::ModelDescription& model);

// Who asks for a cell: an option or a line of input, which fixes the kind of refusals and how they
// spell a field ("--question-tokens" or "question_tokens").
enum class Asker { kOption, kLine };
// Throws Error when the model does not take the cell, or a count is zero or absurd.
void CheckCell(const Cell& cell, size_t row_limit, Asker asker);

class Work {
 public:
  // Both are borrowed.
  Work(const families::Family& family, Threads& threads);

  // Runs the cell once, from ids to hidden rows (no head), and returns the seconds it took.
  double Seconds(const Cell& cell) const;
  // How often the cell reads the weights.
  size_t Passes(const Cell& cell) const;

 private:
  families::EncodedRequest Request(const Cell& cell) const;

  const families::Family& family_;
  Threads& threads_;
};

}  // namespace assay::bench

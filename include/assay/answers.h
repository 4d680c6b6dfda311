// Answers: a probability for every allowed answer of every question (spec d1 5.2, spec wire 6).
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace assay {

// How printed numbers are rounded. Trace and Answer always hold full precision.
struct Rounding {
  enum class Mode {
    kNone,    // shortest digits that read back to the same double
    kKev,     // what the Kev server prints: everything from the probabilities in fp32, then as
              // Python's round(x, 4)
    kDigits,  // `digits` decimals, as Python's round()
  };
  Mode mode = Mode::kNone;
  int digits = 0;
};

struct Answer {
  std::string question;
  std::string kind;  // "noul", "choice" or "score"
  std::vector<std::string>
      options;  // choice: labels; score: "0", "1", ...; noul: its two sides, in the family's order
  std::vector<double> probabilities;  // per option
  std::vector<std::string> levels;    // score: the level texts, JSON ones printed on one line
  std::string best;  // choice, score: the option of the largest probability (the first of equals)
  double value = 0;  // noul: probability of yes; choice: that of `best`; score: mean level
  double confidence = 0;  // choice and score, by the family's own rule
};

class Answers {
 public:
  const std::vector<Answer>& list() const;
  size_t input_tokens() const;
  size_t output_tokens() const;

  // {"id"?, "model", "answers", "usage"} as Python prints it: with an indent of two, or on one
  // line.
  std::string ToJson(const Rounding& rounding, bool one_line,
                     const std::optional<std::string>& id = {}) const;
  // One JSON object a question, full precision: id, question, ids, slot, options, scores,
  // probabilities and what the family adds (docs/trace.md).
  std::vector<std::string> TraceLines(const std::string& id) const;
  // One of them: all of a request with many questions on a long state are a large text.
  std::string TraceLine(size_t question, const std::string& id) const;

  struct Impl;
  explicit Answers(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<const Impl> impl_;
};

}  // namespace assay

// The answers behind the public Answers, and how they are made and printed.
#pragma once

#include "assay/answers.h"
#include "decide/run.h"
#include "families/family.h"

namespace assay {

struct Answers::Impl {
  std::string model;
  families::EncodedRequest request;
  std::vector<decide::QuestionResult> results;
  std::vector<Answer> list;
  std::vector<Answer> in_fp32 = {};  // the same from the probabilities rounded to fp32 once
  bool legend_first = false;         // Family::LegendFirst
  size_t output_tokens = 0;
  std::shared_ptr<const std::vector<std::string>> kernels =
      {};  // that ran; null where nobody asked
};

namespace decide {

// Python's round(value, digits): decided on the exact binary value, ties to even.
double RoundDecimals(double value, int digits);
// A number as an answer prints it. For kKev it must come from fp32 probabilities.
double Rounded(double value, const Rounding& rounding);

Answers MakeAnswers(const families::Family& family, std::string model,
                    families::EncodedRequest request, std::vector<QuestionResult> results,
                    std::shared_ptr<const std::vector<std::string>> kernels = nullptr);

}  // namespace decide
}  // namespace assay

// What the tests of Kev's texts share: the family without its weights, and readers of their files.
#pragma once

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/file.h"
#include "decide/answers.h"
#include "families/kev/confidence.h"
#include "families/kev/texts.h"

namespace assay::tests {

inline const std::filesystem::path kSource = ASSAY_SOURCE_DIR;

inline json::Value ReadJson(const std::filesystem::path& file) {
  return json::Parse(ReadFile(file, ErrorKind::kFile, size_t{1} << 26), ErrorKind::kFile,
                     file.string());
}

inline const json::Value& Field(const json::Value& object, std::string_view name) {
  const json::Value* value = object.Find(name);
  if (value == nullptr) throw std::runtime_error(fmt::format("no field {}", name));
  return *value;
}

template <typename T>
std::vector<T> Integers(const json::Value& list) {
  std::vector<T> out;
  for (const json::Value& item : list.items()) out.push_back(static_cast<T>(item.int64().value()));
  return out;
}

// Everything of the family but its weights.
class KevTexts final : public families::Family {
 public:
  explicit KevTexts(text::Tokenizer tokenizer) : texts_(std::move(tokenizer), {}) {}

  const families::kev::Texts& texts() const { return texts_; }

  const nn::Decoder& decoder() const override { std::abort(); }
  families::EncodedRequest Encode(const json::Value& request,
                                  const families::EncodeOptions& /*options*/) const override {
    return texts_.Encode(request);
  }
  std::vector<int32_t> EncodeState(const json::Value& request,
                                   const families::EncodeOptions& /*options*/) const override {
    return texts_.EncodeState(request);
  }
  families::Reading Read(const families::EncodedQuestion& /*question*/,
                         View2<const float> /*hidden*/) const override {
    std::abort();
  }
  double Confidence(const families::EncodedQuestion& question,
                    const std::vector<double>& p) const override {
    return families::kev::Confidence(question.kind, p);
  }
  size_t YesOption() const override { return 1; }
  bool LegendFirst() const override { return true; }
  size_t OutputTokens(const json::Value& answers) const override {
    return texts_.OutputTokens(answers);
  }
  families::ModelDescription Describe(bool /*hashes*/) const override { return {}; }

 private:
  families::kev::Texts texts_;
};

// Answers to a request, one list of probabilities a question, as the Kev server prints them.
inline json::Value KevAnswers(const KevTexts& family, const json::Value& request,
                              const std::vector<std::vector<double>>& probabilities) {
  std::vector<decide::QuestionResult> results;
  for (const std::vector<double>& p : probabilities) {
    decide::QuestionResult result;
    result.reading.probabilities = p;
    results.push_back(std::move(result));
  }
  const Answers answers =
      decide::MakeAnswers(family, "m", family.Encode(request, {}), std::move(results));
  return json::Parse(answers.ToJson({Rounding::Mode::kKev, 0}, true), ErrorKind::kRequest,
                     "answers");
}

}  // namespace assay::tests

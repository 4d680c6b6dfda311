// The Kev goldens without their weights: what the makers' code turned every request into, and the
// answers that it made of the probabilities on record. The tiny and the mid model share one
// tokenizer, which is in tests/data.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "kev_texts.h"

namespace assay::tests {
namespace {

using families::EncodedQuestion;
using families::EncodedRequest;
using json::Value;

const KevTexts& Kev() {
  static const KevTexts family(text::Tokenizer::Load(kSource / "tests/data/kev/tokenizer.json"));
  return family;
}

// Requests by id, read from the text that they were recorded as.
const std::map<std::string, Value>& Requests() {
  static const std::map<std::string, Value> requests = [] {
    std::map<std::string, Value> out;
    const Value file = ReadJson(kSource / "tools/oracle/requests/kev_public.json");
    for (const Value& entry : Field(file, "requests").items()) {
      const Value* raw = entry.Find("raw");
      out.emplace(Field(entry, "id").string(),
                  raw == nullptr ? Field(entry, "request")
                                 : json::Parse(raw->string(), ErrorKind::kRequest, "raw"));
    }
    return out;
  }();
  return requests;
}

class KevGolden : public ::testing::TestWithParam<const char*> {
 protected:
  Value golden_ = ReadJson(kSource / "tools/oracle/golden" / GetParam());
  const std::vector<Value>& rows() const { return Field(golden_, "requests").items(); }
};

void CompareQuestion(const EncodedRequest& request, const EncodedQuestion& got, const Value& want) {
  EXPECT_EQ(got.name, Field(want, "question").string());
  EXPECT_EQ(got.kind, Field(want, "type").string());
  EXPECT_EQ(got.ids, Integers<int32_t>(Field(want, "branch_ids")));
  std::vector<size_t> read = Integers<size_t>(Field(want, "option_index"));
  read.push_back(static_cast<size_t>(Field(want, "decide_index").int64().value()));
  std::vector<size_t> wanted = got.wanted;
  for (size_t& row : wanted) row += request.trunk_ids.size();
  EXPECT_EQ(wanted, read);
  std::vector<std::string> keys;
  for (const Value& key : Field(want, "keys").items()) keys.push_back(key.string());
  EXPECT_EQ(got.options, keys);
}

TEST_P(KevGolden, EveryRowHasTheIdsAndMarksOfTheMakersCode) {
  size_t questions = 0;
  for (const Value& row : rows()) {
    if (row.Find("refused") != nullptr) continue;
    const std::string id = Field(row, "id").string();
    SCOPED_TRACE(id);
    const EncodedRequest request = Kev().Encode(Requests().at(id), {});
    EXPECT_EQ(request.trunk_ids, Integers<int32_t>(Field(row, "state_ids")));
    const std::vector<Value>& want = Field(row, "questions").items();
    ASSERT_EQ(request.questions.size(), want.size());
    for (size_t q = 0; q < want.size(); ++q) {
      CompareQuestion(request, request.questions[q], want[q]);
      ++questions;
    }
  }
  EXPECT_EQ(questions, 136u);
}

TEST_P(KevGolden, EveryAnswerAndUsageFollowsFromTheProbabilities) {
  size_t answered = 0;
  for (const Value& row : rows()) {
    if (row.Find("refused") != nullptr) continue;
    const std::string id = Field(row, "id").string();
    std::vector<std::vector<double>> probabilities;
    for (const Value& question : Field(row, "questions").items()) {
      probabilities.emplace_back();
      for (const Value& p : Field(question, "probabilities").items())
        probabilities.back().push_back(p.number());
    }
    const Value got = KevAnswers(Kev(), Requests().at(id), probabilities);
    EXPECT_EQ(json::PrintCompact(Field(got, "answers")), json::PrintCompact(Field(row, "answers")))
        << id;
    EXPECT_EQ(json::PrintCompact(Field(got, "usage")), json::PrintCompact(Field(row, "usage")))
        << id;
    ++answered;
  }
  EXPECT_EQ(answered, 58u);
}

TEST_P(KevGolden, EveryRefusalNamesItsField) {
  size_t refused = 0;
  for (const Value& row : rows()) {
    const Value* want = row.Find("refused");
    if (want == nullptr) continue;
    const std::string id = Field(row, "id").string();
    SCOPED_TRACE(id);
    ++refused;
    try {
      Kev().Encode(Requests().at(id), {});
      ADD_FAILURE() << "was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kRequest);
      const Value* detail = want->Find("detail");
      const std::string reason = Field(*want, "reason").string();
      if (detail != nullptr) {
        EXPECT_EQ(error.message(), detail->string());
      } else {
        EXPECT_EQ(error.where(), reason.substr(0, reason.find(':')));
      }
    }
  }
  EXPECT_EQ(refused, 11u);
}

INSTANTIATE_TEST_SUITE_P(Oracle, KevGolden,
                         ::testing::Values("kev_tiny_seed1.json", "kev_mid_seed1.json"));

}  // namespace
}  // namespace assay::tests

// Kev's texts with the whole vocabulary: the published ids of the real model, and those of the
// public requests that the makers' code gave. Needs the files that tools/kev_tokenizers.sh makes.
#include <gtest/gtest.h>

#include <algorithm>

#include "families/readout.h"
#include "kev_texts.h"

namespace assay::tests {
namespace {

using json::Value;
using text::SplitPattern;
using text::Tokenizer;

const std::filesystem::path kFolder = std::filesystem::path(ASSAY_KEV_TOKENIZERS) / "all";

KevTexts Load(const std::string& name, SplitPattern split) {
  return KevTexts(Tokenizer::Load(kFolder / name, {split}));
}

class KevVocabulary : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kFolder / "kev/tokenizer.json"))
      GTEST_SKIP() << kFolder << " is not there; tools/kev_tokenizers.sh makes it";
  }
};

struct Ids {
  std::vector<std::vector<int32_t>> lists;  // the state, then the branches
  int64_t input_tokens = 0;
  bool operator==(const Ids&) const = default;
};

Ids IdsOf(const KevTexts& family, const Value& request) {
  const families::EncodedRequest encoded = family.Encode(request, {});
  Ids out{{encoded.trunk_ids}, static_cast<int64_t>(encoded.input_tokens)};
  for (const families::EncodedQuestion& question : encoded.questions)
    out.lists.push_back(question.ids);
  return out;
}

Ids RecordedIds(const Value& row) {
  Ids out{{Integers<int32_t>(Field(row, "state_ids"))},
          Field(Field(row, "usage"), "input_tokens").int64().value()};
  for (const Value& question : Field(row, "questions").items())
    out.lists.push_back(Integers<int32_t>(Field(question, "branch_ids")));
  return out;
}

Value RequestOf(const Value& entry) {
  const Value* raw = entry.Find("raw");
  return raw == nullptr ? Field(entry, "request")
                        : json::Parse(raw->string(), ErrorKind::kRequest, "raw");
}

// Names of the public requests whose ids are not the recorded ones; both refused counts as equal.
std::vector<std::string> Differing(const KevTexts& family) {
  const Value golden = ReadJson(kSource / "tools/oracle/golden/kev_ids_full_vocab.json");
  const Value requests = ReadJson(kSource / "tools/oracle/requests/kev_public.json");
  const std::vector<Value>& rows = Field(golden, "requests").items();
  EXPECT_EQ(rows.size(), Field(requests, "requests").items().size());
  std::vector<std::string> out;
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::string& id = Field(rows[i], "id").string();
    const Value& entry = Field(requests, "requests").items()[i];
    EXPECT_EQ(id, Field(entry, "id").string());
    const Value* refused = rows[i].Find("refused");
    try {
      const Ids ids = IdsOf(family, RequestOf(entry));
      if (refused != nullptr || ids != RecordedIds(rows[i])) out.push_back(id);
    } catch (const Error& error) {
      if (refused == nullptr) out.push_back(id + ": " + error.what());
      const Value* detail = refused == nullptr ? nullptr : refused->Find("detail");
      if (detail != nullptr) {
        EXPECT_EQ(error.message(), detail->string()) << id;
      }
    }
  }
  return out;
}

std::vector<std::string> DifferWithBasePattern() {
  std::vector<std::string> out;
  const Value golden = ReadJson(kSource / "tools/oracle/golden/kev_ids_full_vocab.json");
  for (const Value& id : Field(golden, "differs_with_base_pattern").items())
    out.push_back(id.string());
  return out;
}

const Value& Vectors() {
  static const Value value = ReadJson(kSource / "tests/data/kev/vectors.json");
  return value;
}

// The published ids; an empty answer when all are equal.
std::string DifferingVectors(const KevTexts& family) {
  std::string out;
  for (const Value& vector : Field(Vectors(), "vectors").items()) {
    const Ids ids = IdsOf(family, Field(vector, "request"));
    bool same = ids.input_tokens == Field(vector, "input_tokens").int64();
    const std::vector<Value>& published = Field(vector, "ids").items();
    for (size_t i = 0; i < published.size(); ++i)
      same = same && ids.lists[i] == Integers<int32_t>(published[i]);
    if (!same) out += Field(vector, "name").string() + ' ';
  }
  return out;
}

TEST_F(KevVocabulary, TheKevFileGivesThePublishedIds) {
  const KevTexts family = Load("kev/tokenizer.json", SplitPattern::kAsWritten);
  EXPECT_EQ(Field(Vectors(), "vectors").items().size(), 8u);
  EXPECT_EQ(DifferingVectors(family), "");
  EXPECT_EQ(Differing(family), std::vector<std::string>());
  const Tokenizer& tokenizer = family.texts().rows().tokenizer();
  EXPECT_EQ(tokenizer.vocab_size(), 248077u);
  const Value& text = Field(Vectors(), "text");
  EXPECT_EQ(tokenizer.Encode(Field(text, "text").string()), Integers<int32_t>(Field(text, "ids")));
  const families::kev::Delimiters& found = family.texts().rows().delimiters();
  EXPECT_EQ(found.state, 248060);
  EXPECT_EQ(found.question, 248061);
  EXPECT_EQ(found.open, 248049);
  EXPECT_EQ(found.close, 248050);
  EXPECT_EQ(found.decide, 248062);
}

TEST_F(KevVocabulary, TheBasesFileWithQwen2sPatternGivesTheSame) {
  const KevTexts family = Load("base/tokenizer.json", SplitPattern::kQwen2);
  EXPECT_EQ(DifferingVectors(family), "");
  EXPECT_EQ(Differing(family), std::vector<std::string>());
}

// The trap of spec kev 0.1: the base's own pattern is right on all text without combining marks.
TEST_F(KevVocabulary, TheBasesOwnPatternFailsWhereMarksAre) {
  for (const auto& [file, split] : {std::pair("base/tokenizer.json", SplitPattern::kAsWritten),
                                    std::pair("kev/tokenizer.json", SplitPattern::kQwen35)}) {
    const KevTexts family = Load(file, split);
    EXPECT_EQ(DifferingVectors(family), "devanagari ");
    EXPECT_EQ(Differing(family), DifferWithBasePattern());
  }
}

TEST_F(KevVocabulary, TheTicketsAnswersFollowFromItsScores) {
  const KevTexts family = Load("kev/tokenizer.json", SplitPattern::kAsWritten);
  const Value& vector = Field(Vectors(), "vectors").items().front();
  const double temperature = Field(Vectors(), "temperature").number();
  std::vector<std::vector<double>> probabilities;
  for (const Value& scores : Field(vector, "scores").items()) {
    std::vector<double> logits;
    for (const Value& score : scores.items()) logits.push_back(score.number() / temperature);
    probabilities.push_back(families::Softmax(logits));
  }
  const Value got = KevAnswers(family, Field(vector, "request"), probabilities);
  const Value& want = Field(Vectors(), "ticket");
  EXPECT_EQ(json::PrintCompact(Field(got, "answers")), json::PrintCompact(Field(want, "answers")));
  EXPECT_EQ(json::PrintCompact(Field(got, "usage")), json::PrintCompact(Field(want, "usage")));
}

}  // namespace
}  // namespace assay::tests

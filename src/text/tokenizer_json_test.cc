// What a tokenizer.json may hold: each refusal names the field.
#include "text/tokenizer_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "base/utf8.h"
#include "text/byte_alphabet.h"
#include "text/tokenizer.h"

namespace assay::text {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kSplit =
    R"({"type": "Split", "pattern": {"Regex": "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"}, "behavior": "Isolated", "invert": false})";
constexpr std::string_view kByteLevel =
    R"({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false})";

// The parts of a small file that loads.
struct File {
  std::string version = "\"1.0\"";
  std::string truncation = "null";
  std::string padding = "null";
  std::string added = "[]";
  std::string normalizer = R"({"type": "NFC"})";
  std::string pre_tokenizer =
      fmt::format(R"({{"type": "Sequence", "pretokenizers": [{}, {}]}})", kSplit, kByteLevel);
  std::string post_processor = "null";
  std::string decoder = "null";
  std::string model_fields = R"("type": "BPE")";
  std::string extra_entries;  // after the 256 bytes; ids from 256 on
  std::string merges = R"(["a b"])";
  std::string more;  // more fields of the file

  std::string Text() const {
    std::string vocabulary;
    for (unsigned byte = 0; byte < 256; ++byte) {
      std::string key;
      AppendUtf8(CharOfByte(static_cast<uint8_t>(byte)), key);
      if (key == "\"" || key == "\\") key.insert(0, "\\");
      vocabulary += fmt::format("\"{}\": {}, ", key, byte);
    }
    return fmt::format(
        R"({{"version": {}, "truncation": {}, "padding": {}, "added_tokens": {}, "normalizer": {}, )"
        R"("pre_tokenizer": {}, "post_processor": {}, "decoder": {}, "model": {{{}, "vocab": {{{} "ab": 256{}}}, )"
        R"("merges": {}}}{}}})",
        version, truncation, padding, added, normalizer, pre_tokenizer, post_processor, decoder,
        model_fields, vocabulary, extra_entries, merges, more);
  }
};

std::string TryText(std::string_view text) {
  try {
    Tokenizer::FromJson(text, "tokenizer.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kModel);
    EXPECT_THAT(error.what(), ::testing::StartsWith("tokenizer.json: "));
    return error.what();
  }
  return "accepted";
}

template <typename Edit>
std::string Try(Edit edit) {
  File file;
  edit(file);
  return TryText(file.Text());
}

std::string Added(std::string_view content, int id) {
  return fmt::format(
      R"({{"id": {}, "content": "{}", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}})",
      id, content);
}

TEST(TokenizerJson, AcceptsTheSupportedForms) {
  EXPECT_EQ(Try([](File&) {}), "accepted");
  EXPECT_EQ(Try([](File& f) { f.normalizer = "null"; }), "accepted");
  EXPECT_EQ(Try([](File& f) {
              f.normalizer = R"({"type": "Sequence", "normalizers": [{"type": "NFC"}]})";
            }),
            "accepted");
  EXPECT_EQ(Try([](File& f) { f.pre_tokenizer = kByteLevel; }), "accepted");
  EXPECT_EQ(Try([](File& f) { f.post_processor = kByteLevel; }), "accepted");
  EXPECT_EQ(Try([](File& f) { f.decoder = kByteLevel; }), "accepted");
  EXPECT_EQ(Try([](File& f) { f.merges = R"([["a", "b"]])"; }), "accepted");
  EXPECT_EQ(Try([](File& f) { f.added = "[" + Added("<s>", 257) + "," + Added("ab", 256) + "]"; }),
            "accepted");
  EXPECT_EQ(
      Try([](File& f) {
        f.post_processor =
            R"({"type": "TemplateProcessing", "single": [{"Sequence": {"id": "A", "type_id": 0}}],
                                     "pair": [], "special_tokens": {}})";
      }),
      "accepted");
  EXPECT_EQ(
      Try([](File& f) {
        f.model_fields =
            R"("type": "BPE", "dropout": null, "unk_token": "a", "continuing_subword_prefix": "",
                                  "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false, "ignore_merges": true)";
      }),
      "accepted");
}

TEST(TokenizerJson, MergesMayStandBeforeTheVocabulary) {
  File file;
  file.model_fields = R"("merges": ["a b"], "type": "BPE")";
  std::string text = file.Text();
  text.erase(text.rfind(R"(, "merges": ["a b"])"),
             std::string_view(R"(, "merges": ["a b"])").size());
  EXPECT_EQ(TryText(text), "accepted");
  EXPECT_EQ(Tokenizer::FromJson(text, "t").Encode("ab"), std::vector<int32_t>{256});
}

TEST(TokenizerJson, RefusesWhatChangesTheText) {
  EXPECT_THAT(Try([](File& f) { f.truncation = R"({"max_length": 5})"; }), HasSubstr("truncation"));
  EXPECT_THAT(Try([](File& f) { f.padding = R"({"strategy": "BatchLongest"})"; }),
              HasSubstr("padding"));
  EXPECT_THAT(Try([](File& f) { f.version = "\"2.0\""; }), HasSubstr("version \"2.0\""));
  EXPECT_THAT(Try([](File& f) { f.normalizer = R"({"type": "NFKC"})"; }),
              HasSubstr("normalizer.type \"NFKC\" is not supported"));
  EXPECT_THAT(
      Try([](File& f) {
        f.normalizer =
            R"({"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Lowercase"}]})";
      }),
      HasSubstr("normalizer.normalizers[1].type \"Lowercase\""));
  EXPECT_THAT(Try([](File& f) { f.decoder = R"({"type": "Metaspace"})"; }),
              HasSubstr("decoder.type"));
  EXPECT_THAT(Try([](File& f) { f.more = R"(, "mystery": 1)"; }), HasSubstr("mystery"));
}

TEST(TokenizerJson, RefusesOtherPreTokenizers) {
  const auto sequence = [](std::string_view first, std::string_view second) {
    return Try([&](File& f) {
      f.pre_tokenizer =
          fmt::format(R"({{"type": "Sequence", "pretokenizers": [{}, {}]}})", first, second);
    });
  };
  std::string changed(kSplit);
  changed.replace(changed.find("?i:'s"), 5, "?i:'z");
  EXPECT_THAT(sequence(changed, kByteLevel), HasSubstr("does not know: (?i:'z|'t"));
  std::string with_regex(kByteLevel);
  with_regex.replace(with_regex.find("\"use_regex\": false"), 18, "\"use_regex\": true");
  EXPECT_THAT(sequence(kSplit, R"({"type": "ByteLevel", "add_prefix_space": false})"),
              HasSubstr("pretokenizers[1].use_regex true"));  // what an absent field means
  EXPECT_THAT(sequence(kSplit, with_regex), HasSubstr("pretokenizers[1].use_regex true"));
  std::string with_space(kByteLevel);
  with_space.replace(with_space.find("space\": false"), 13, "space\": true");
  EXPECT_THAT(sequence(kSplit, with_space), HasSubstr("add_prefix_space true"));
  std::string removed(kSplit);
  removed.replace(removed.find("Isolated"), 8, "Removed");
  EXPECT_THAT(sequence(removed, kByteLevel), HasSubstr("behavior \"Removed\""));
  std::string inverted(kSplit);
  inverted.replace(inverted.find("invert\": false"), 14, "invert\": true");
  EXPECT_THAT(sequence(inverted, kByteLevel), HasSubstr("invert true"));
  EXPECT_THAT(sequence(kByteLevel, kSplit), HasSubstr("pretokenizers[0].type \"ByteLevel\""));
  EXPECT_THAT(Try([](File& f) { f.pre_tokenizer = kSplit; }), HasSubstr("pre_tokenizer"));
  EXPECT_THAT(Try([](File& f) { f.pre_tokenizer = R"({"type": "Whitespace"})"; }),
              HasSubstr("\"Whitespace\""));
}

TEST(TokenizerJson, RefusesPostProcessorsThatAddTokens) {
  const std::string bos =
      R"({"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}},
      {"Sequence": {"id": "A", "type_id": 0}}], "pair": [], "special_tokens": {}})";
  EXPECT_THAT(Try([&](File& f) { f.post_processor = bos; }),
              HasSubstr("post_processor.single adds tokens"));
  const std::string eos =
      R"({"type": "TemplateProcessing", "single": [{"Sequence": {"id": "A", "type_id": 0}},
      {"SpecialToken": {"id": "<s>", "type_id": 0}}], "pair": [], "special_tokens": {}})";
  EXPECT_THAT(Try([&](File& f) { f.post_processor = eos; }),
              HasSubstr("post_processor.single adds tokens"));
  EXPECT_THAT(Try([&](File& f) {
                f.post_processor = fmt::format(R"({{"type": "Sequence", "processors": [{}, {}]}})",
                                               kByteLevel, bos);
              }),
              HasSubstr("post_processor.processors[1].single adds tokens"));
  EXPECT_THAT(Try([](File& f) { f.post_processor = R"({"type": "BertProcessing"})"; }),
              HasSubstr("BertProcessing"));
}

TEST(TokenizerJson, RefusesOtherModels) {
  const auto model = [](std::string_view fields) {
    return Try([&](File& f) { f.model_fields = fields; });
  };
  EXPECT_THAT(model(R"("type": "WordPiece")"), HasSubstr("model.type \"WordPiece\""));
  EXPECT_THAT(model(R"("dropout": 0.1, "type": "BPE")"), HasSubstr("model.dropout"));
  EXPECT_THAT(model(R"("continuing_subword_prefix": "##", "type": "BPE")"),
              HasSubstr("continuing_subword_prefix"));
  EXPECT_THAT(model(R"("end_of_word_suffix": "</w>", "type": "BPE")"),
              HasSubstr("end_of_word_suffix"));
  EXPECT_THAT(model(R"("byte_fallback": true, "type": "BPE")"), HasSubstr("byte_fallback"));
  EXPECT_THAT(model(R"("ignore_merges": 1, "type": "BPE")"),
              HasSubstr("ignore_merges is not true or false"));
  EXPECT_THAT(model(R"("mystery": 1, "type": "BPE")"), HasSubstr("model.mystery"));
  EXPECT_THAT(Try([](File& f) {
                f.pre_tokenizer = "null";
                f.model_fields = R"("unk_token": "a", "type": "BPE")";
              }),
              HasSubstr("model.unk_token"));
}

TEST(TokenizerJson, RefusesWrongIds) {
  const auto entry = [](std::string_view text) {
    return Try([&](File& f) { f.extra_entries = fmt::format(", {}", text); });
  };
  EXPECT_THAT(entry(R"("xy": -1)"), HasSubstr("\"xy\" has the id -1"));
  EXPECT_THAT(entry(R"("xy": 4194304)"), HasSubstr("has the id 4194304"));
  EXPECT_THAT(entry(R"("xy": 99999999999999999999999)"),
              HasSubstr("has the id 99999999999999999999999"));
  EXPECT_THAT(entry(R"("xy": 1.5)"), HasSubstr("has the id 1.5"));
  EXPECT_THAT(entry(R"("xy": "7")"), HasSubstr("\"xy\" has a string for an id"));
  EXPECT_THAT(entry(R"("xy": {})"), HasSubstr("\"xy\" has an object for an id"));
  EXPECT_THAT(entry(R"("xy": 7)"), HasSubstr("two vocabulary entries have id 7"));
  EXPECT_THAT(entry(R"("ab": 257)"), HasSubstr("\"ab\" appears twice"));
}

TEST(TokenizerJson, RefusesWrongMerges) {
  const auto merges = [](std::string_view text) { return Try([&](File& f) { f.merges = text; }); };
  EXPECT_THAT(merges(R"(["a b", "ab"])"), HasSubstr("merge 1 is \"ab\""));
  EXPECT_THAT(merges(R"(["a b c"])"), HasSubstr("merge 0 is \"a b c\""));
  EXPECT_THAT(merges(R"([["a", "b"], ["a"]])"), HasSubstr("merge 1 has 1 parts"));
  EXPECT_THAT(merges(R"([["a", "b", "c"]])"), HasSubstr("merge 0 has 3 parts"));
  EXPECT_THAT(merges(R"([["a", 1]])"), HasSubstr("merge 0 holds an integer"));
  EXPECT_THAT(merges(R"([{"a": "b"}])"), HasSubstr("merge 0 holds an object"));
  EXPECT_THAT(merges(R"(["b a"])"), HasSubstr("needs \"ba\", which is not in the vocabulary"));
  EXPECT_THAT(merges("{}"), HasSubstr("model.merges"));
  EXPECT_THAT(merges("[]"), HasSubstr("there are no merges, but the vocabulary has \"ab\""));
}

TEST(TokenizerJson, RefusesAddedTokensThatContradict) {
  const auto added = [](std::string_view list) {
    return Try([&](File& f) { f.added = fmt::format("[{}]", list); });
  };
  EXPECT_THAT(added(Added("ab", 257)),
              HasSubstr("\"ab\" has id 257, but the vocabulary has it as 256"));
  EXPECT_THAT(added(Added("<s>", 256)), HasSubstr("which is another vocabulary entry"));
  EXPECT_THAT(added(Added("<s>", 300)),
              HasSubstr("\"<s>\" has id 300, but by its place it is number 257"));
  EXPECT_THAT(added(Added("<s>", 257) + "," + Added("<s>", 258)),
              HasSubstr("\"<s>\" appears twice"));
  EXPECT_THAT(added(Added("<s>", -1)), HasSubstr("added_tokens[0].id is not a token id"));
  EXPECT_THAT(added(Added("", 257)), HasSubstr("added_tokens[0].content is empty"));
  EXPECT_THAT(added(Added(std::string(1025, 'x'), 257)), HasSubstr("more than 1024 bytes"));
  EXPECT_THAT(added(R"({"id": 257, "content": "<s>"})"), HasSubstr("single_word is missing"));
  EXPECT_THAT(added("7"), HasSubstr("added_tokens[0] is an integer, not an object"));
}

TEST(TokenizerJson, AnAddedTokenMayExplainAVocabularyWithoutMerges) {
  EXPECT_EQ(Try([](File& f) {
              f.merges = "[]";
              f.added = "[" + Added("ab", 256) + "]";
            }),
            "accepted");
}

TEST(TokenizerJson, RefusesDamagedText) {
  const std::string good = File().Text();
  EXPECT_EQ(TryText(good), "accepted");
  for (size_t bytes = 0; bytes < good.size(); bytes += 7) {
    EXPECT_THAT(TryText(good.substr(0, bytes)), HasSubstr("not valid JSON")) << bytes;
  }
  EXPECT_THAT(TryText("\xEF\xBB\xBF" + good), HasSubstr("byte-order mark"));
  EXPECT_THAT(TryText(good + "x"), HasSubstr("not valid JSON"));
  EXPECT_THAT(TryText("[]"), HasSubstr("the file is an array, not an object"));
  EXPECT_THAT(TryText("{}"), HasSubstr("model.vocab is missing"));
  EXPECT_THAT(TryText(std::string(100'000, '[')), HasSubstr("levels"));
  EXPECT_THAT(TryText(R"({"version": "1.0", "version": "1.0"})"),
              HasSubstr("\"version\" appears twice"));
  EXPECT_THAT(TryText(R"({"model": {"vocab": {}, "vocab": {}}})"),
              HasSubstr("\"vocab\" appears twice"));
  EXPECT_THAT(TryText(R"({"model": {"merges": [], "merges": []}})"),
              HasSubstr("\"merges\" appears twice"));
  EXPECT_THAT(TryText(R"({"model": []})"), HasSubstr("model.vocab is missing"));
}

}  // namespace
}  // namespace assay::text

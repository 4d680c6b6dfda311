#include "text/tokenizer_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/json.h"
#include "text/tokenizer.h"

namespace assay::text {
namespace {

const std::filesystem::path kFile = std::filesystem::path(ASSAY_TEST_DATA) / "kev/tokenizer.json";

json::Value KevFile() {
  return json::Parse(ReadFile(kFile, ErrorKind::kFile, 1 << 24), ErrorKind::kFile, "kev");
}

// The file without its added tokens `from` up to `to`, and the list that still has them all.
std::pair<std::string, std::string> Parted(size_t from, size_t to) {
  json::Value file = KevFile();
  json::Value list = json::Value::Object();
  for (auto& [name, value] : file.members()) {
    if (name != "added_tokens") continue;
    std::vector<json::Value>& tokens = value.items();
    for (const json::Value& token : tokens) {
      json::Value entry = json::Value::Object();
      for (const auto& [field, flag] : token.members()) {
        if (field != "id") entry.Add(field, flag);
      }
      list.Add(token.Find("id")->digits(), std::move(entry));
    }
    tokens.erase(tokens.begin() + static_cast<ptrdiff_t>(from),
                 tokens.begin() + static_cast<ptrdiff_t>(to));
  }
  json::Value config = json::Value::Object();
  config.Add("chat_template", json::Value::String("anything"));
  config.Add("added_tokens_decoder", std::move(list));
  return {json::PrintCompact(file), json::PrintCompact(config)};
}

std::string Refusal(std::string_view config) {
  try {
    std::vector<AddedToken> tokens{{"<a>", 7}, {"<b>", 8}};
    AddListedTokens(ReadAddedTokensDecoder(config, "tokenizer_config.json"), tokens,
                    "tokenizer_config.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kModel);
    return error.what();
  }
  return "accepted";
}

TEST(TokenizerConfig, ListedTokensFillTheGapsOfTheFile) {
  const Tokenizer whole = Tokenizer::Load(kFile);
  const std::string text = "<think>a</think> <tool_response> <|fim_suffix|><tts_pad><|audio_pad|>";
  for (const auto& [from, to] : {std::pair(22, 26), std::pair(26, 33), std::pair(0, 33)}) {
    const auto [file, config] = Parted(static_cast<size_t>(from), static_cast<size_t>(to));
    TokenizerOptions options;
    options.config = config;
    const Tokenizer filled = Tokenizer::FromJson(file, "tokenizer.json", options);
    EXPECT_EQ(filled.Encode(text), whole.Encode(text)) << from;
    EXPECT_EQ(filled.vocab_size(), whole.vocab_size());
  }
  const auto [file, config] = Parted(26, 33);
  EXPECT_NE(Tokenizer::FromJson(file, "tokenizer.json").Encode(text), whole.Encode(text));
}

TEST(TokenizerConfig, AListThatSaysNothingNewChangesNothing) {
  TokenizerOptions options;
  options.config = Parted(0, 0).second;
  const Tokenizer whole = Tokenizer::Load(kFile);
  EXPECT_EQ(Tokenizer::Load(kFile, options).Encode("<think> x"), whole.Encode("<think> x"));
  options.config = "{}";
  EXPECT_EQ(Tokenizer::Load(kFile, options).vocab_size(), whole.vocab_size());
}

TEST(TokenizerConfig, AContradictionIsRefused) {
  EXPECT_EQ(Refusal(R"({"added_tokens_decoder":{"7":{"content":"<a>"},"9":{"content":"<c>"}}})"),
            "accepted");
  for (const char* config : {R"({"added_tokens_decoder":{"9":{"content":"<a>"}}})",
                             R"({"added_tokens_decoder":{"7":{"content":"<c>"}}})"}) {
    EXPECT_THAT(Refusal(config), ::testing::HasSubstr("tokenizer.json says otherwise")) << config;
  }
}

TEST(TokenizerConfig, WhatIsNoTokenIsRefused) {
  for (const char* config :
       {"[]", "{", R"({"added_tokens_decoder":[]})",
        R"({"added_tokens_decoder":{"x":{"content":"a"}}})",
        R"({"added_tokens_decoder":{"-1":{"content":"a"}}})",
        R"({"added_tokens_decoder":{"99999999999":{"content":"a"}}})",
        R"({"added_tokens_decoder":{"9":{}}})", R"({"added_tokens_decoder":{"9":7}})",
        R"({"added_tokens_decoder":{"9":{"content":""}}})",
        R"({"added_tokens_decoder":{"9":{"content":"a","lstrip":1}}})"}) {
    EXPECT_NE(Refusal(config), "accepted") << config;
  }
}

}  // namespace
}  // namespace assay::text

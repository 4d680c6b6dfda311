// Text to token ids and back, as a tokenizer.json says; the ids are those of the tokenizers package
// 0.23.3, encode(text, add_special_tokens=True). Rules: spec d1 3, spec kev 3.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/error.h"

namespace assay::text {

// Whose split pattern is used. A Qwen3.5 base's file has its own, and models trained with Qwen2's
// read that file with Qwen2's (spec kev 0.1, 3).
enum class SplitPattern { kAsWritten, kQwen2, kQwen35 };

struct TokenizerOptions {
  // Another one than kAsWritten: the file must have one of the two Qwen patterns, since the two are
  // the only ones of which it is known what the exchange means.
  SplitPattern split = SplitPattern::kAsWritten;
  // The text of the tokenizer_config.json beside the file, or nothing. Added tokens that only it
  // lists are added, as transformers does.
  std::string config = {};
};

// Immutable; one object may be used by any number of threads at a time. Copies share their tables.
class Tokenizer {
 public:
  // Reads a tokenizer.json. Throws Error(kModel) naming the file and what in it is damaged,
  // contradictory or not supported; nothing unsupported is skipped.
  static Tokenizer Load(const std::filesystem::path& path, const TokenizerOptions& options = {});
  // The same for text in memory; `name` is its name in messages.
  static Tokenizer FromJson(std::string_view json, std::string_view name,
                            const TokenizerOptions& options = {});

  // The ids of a text. Added tokens (control tokens among them) are found wherever their text
  // stands, in user text too; families that must not have that escape the text first. Nothing is
  // put before or after. Throws Error(kRequest) when `utf8` is not UTF-8.
  std::vector<int32_t> Encode(std::string_view utf8) const;

  // The id of an added token, or else of a vocabulary entry, with exactly this text as the file
  // writes it (byte-level entries in the byte alphabet: a space is U+0120).
  std::optional<int32_t> TokenId(std::string_view content) const;

  // The bytes that a token stands for; may be a part of a character. Empty for an id without token.
  std::string_view TokenBytes(int32_t id) const;
  // The text of `ids`, special tokens included. Ids without a token add nothing; bytes that do not
  // form UTF-8 become U+FFFD, one for each longest start of a character.
  std::string Decode(std::span<const int32_t> ids) const;

  // One more than the highest id of vocabulary and added tokens. A model must have at least as many
  // rows in its embedding table.
  size_t vocab_size() const;

 private:
  struct Tables;
  explicit Tokenizer(std::shared_ptr<const Tables> tables) : tables_(std::move(tables)) {}

  std::shared_ptr<const Tables> tables_;
};

}  // namespace assay::text

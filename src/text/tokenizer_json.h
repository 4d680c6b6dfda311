// Reading tokenizer.json (format "1.0" of the tokenizers package) into plain data.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "text/added_tokens.h"
#include "text/bpe.h"
#include "text/pretokenizer.h"

namespace assay::text {

// Everything of the file that decides ids.
struct TokenizerSource {
  BpeSource bpe;
  bool nfc = false;
  const SplitRules* split = nullptr;  // null: a text is one piece
  std::vector<AddedToken> added;      // in file order, ids and flags as written
};

// Highest id that a file may use; bounds the memory that one wrong number can ask for.
inline constexpr int64_t kMaxTokenId = (int64_t{1} << 22) - 1;
// Longest added token, in bytes; bounds the time that one place of a text can cost.
inline constexpr size_t kMaxAddedTokenBytes = 1024;

// Reads `json`; `file` is its name in messages. Throws Error(kModel, file) for malformed JSON, a
// byte-order mark, a field or key that appears twice, and everything that this engine does not
// do: fields that it does not know, another model type, dropout, unknown-token rules, affixes,
// byte fallback, another normalizer than NFC, a split pattern that is not on the list, a
// post-processor that adds tokens, truncation, padding. Nothing is skipped over.
TokenizerSource ReadTokenizerJson(std::string_view json, std::string_view file);

}  // namespace assay::text

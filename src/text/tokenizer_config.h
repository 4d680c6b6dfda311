// The added tokens that a tokenizer_config.json lists. transformers puts those on top of what
// tokenizer.json holds, and a published Qwen3.5 base has some of its tokens only there (spec kev
// 3).
#pragma once

#include <string_view>
#include <vector>

#include "text/added_tokens.h"

namespace assay::text {

// The member added_tokens_decoder of the file, in its order; empty without one. Other members are
// not looked at. Throws Error(kModel, file) when the text is not a JSON object or an entry is not a
// token.
std::vector<AddedToken> ReadAddedTokensDecoder(std::string_view json, std::string_view file);

// Adds those of `listed` whose text `tokens` lacks; all are in order of their ids then, as the
// reference numbers them. Throws Error(kModel, file) when a text has two ids or an id two texts.
// `file` is the name of the list in messages.
void AddListedTokens(const std::vector<AddedToken>& listed, std::vector<AddedToken>& tokens,
                     std::string_view file);

}  // namespace assay::text

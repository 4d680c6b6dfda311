#include "families/kev/rows.h"

#include <fmt/format.h>

#include "base/sizes.h"
#include "families/kev/render.h"

namespace assay::families::kev {

Delimiters FindDelimiters(const text::Tokenizer& tokenizer, const std::string& file) {
  const auto find = [&](std::string_view token) {
    const std::vector<int32_t> ids = tokenizer.Encode(token);
    if (ids.size() == 1 && tokenizer.TokenId(token) == ids.front()) return ids.front();
    throw Error(ErrorKind::kModel, file, fmt::format("'{}' is not one token", token),
                "the tokenizer of a Kev checkpoint or of its Qwen3.5 base");
  };
  return {find("<|fim_prefix|>"), find("<|fim_middle|>"), find("<|box_start|>"),
          find("<|box_end|>"), find("<|fim_suffix|>")};
}

RowEncoder::RowEncoder(text::Tokenizer tokenizer, Limits limits, const std::string& file)
    : tokenizer_(std::move(tokenizer)),
      limits_(limits),
      delimiters_(FindDelimiters(tokenizer_, file)) {}

std::vector<int32_t> RowEncoder::Text(const std::string& text) const {
  return tokenizer_.Encode(Escape(text));
}

// Both messages are the maker's server's, to the letter: clients look for them.
std::vector<int32_t> RowEncoder::State(const std::string& text) const {
  std::vector<int32_t> ids = Text(text);
  ids.insert(ids.begin(), delimiters_.state);
  if (ids.size() <= limits_.state_tokens) return ids;
  const std::string limit = Grouped(limits_.state_tokens);
  throw Error(ErrorKind::kRequest, "state",
              fmt::format("state is {} tokens, over the {}-token limit (the <state> token "
                          "included): shorten the document or split it across requests; or start "
                          "the server with KEV_TRUNCATE_STATES=1 to read only its first {} tokens "
                          "(responses then say truncated: true)",
                          Grouped(ids.size()), limit, limit));
}

Branch RowEncoder::BranchOf(const Question& question, size_t state_tokens) const {
  Branch out;
  const auto append = [&](const std::string& text) {
    const std::vector<int32_t> ids = Text(text);
    out.ids.insert(out.ids.end(), ids.begin(), ids.end());
  };
  out.ids.push_back(delimiters_.question);
  append(question.instructions);
  for (const std::string& option : question.options) {
    out.ids.push_back(delimiters_.open);
    append(option);
    out.marks.push_back(out.ids.size());
    out.ids.push_back(delimiters_.close);
  }
  out.decide = out.ids.size();
  out.ids.push_back(delimiters_.decide);
  if (SaturatingSum(state_tokens, out.ids.size()) <= limits_.row_tokens) return out;
  throw Error(ErrorKind::kRequest, "questions." + question.name,
              fmt::format("branch too long: {} tokens with a {}-token state (row limit {})",
                          out.ids.size(), state_tokens, limits_.row_tokens));
}

}  // namespace assay::families::kev

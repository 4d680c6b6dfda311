#include "text/added_tokens.h"

#include <algorithm>

#include "base/check.h"
#include "text/unicode_tables.h"
#include "text/utf8_fast.h"

namespace assay::text {

AddedTokenMatcher::AddedTokenMatcher(std::vector<AddedToken> tokens,
                                     std::vector<std::string> contents) {
  for (size_t i = 0; i < tokens.size(); ++i) {
    ASSAY_CHECK(!contents[i].empty());
    first_bytes_.set(static_cast<unsigned char>(contents[i][0]));
    patterns_.push_back({std::move(contents[i]), std::move(tokens[i])});
  }
  std::sort(patterns_.begin(), patterns_.end(),
            [](const Pattern& a, const Pattern& b) { return a.content < b.content; });
}

// Narrows the range of patterns that agree with the text, byte by byte. A pattern that ends there
// sorts first in its range.
const AddedTokenMatcher::Pattern* AddedTokenMatcher::LongestAt(std::string_view text,
                                                               size_t at) const {
  auto low = patterns_.begin();
  auto high = patterns_.end();
  const Pattern* longest = nullptr;
  for (size_t depth = 0;; ++depth) {
    if (low != high && low->content.size() == depth) {
      longest = &*low;
      ++low;
    }
    if (low == high || at + depth >= text.size()) return longest;
    const auto byte = static_cast<unsigned char>(text[at + depth]);
    const auto at_depth = [depth](const Pattern& pattern) {
      return static_cast<unsigned char>(pattern.content[depth]);
    };
    low = std::lower_bound(low, high, byte, [&](const Pattern& pattern, unsigned char wanted) {
      return at_depth(pattern) < wanted;
    });
    high = std::upper_bound(low, high, byte, [&](unsigned char wanted, const Pattern& pattern) {
      return wanted < at_depth(pattern);
    });
  }
}

bool AddedTokenMatcher::StandsAlone(std::string_view text, size_t begin, size_t end) {
  const bool word_before = begin > 0 && (ClassOf(ReadValidBefore(text, begin).code) & kWord) != 0;
  const bool word_after = end < text.size() && (ClassOf(ReadValid(text, end).code) & kWord) != 0;
  return !word_before && !word_after;
}

void AddedTokenMatcher::Split(std::string_view text, std::vector<TextPart>& parts) const {
  size_t done = 0;  // parts cover the text up to here
  size_t at = 0;
  while (at < text.size()) {
    if (!first_bytes_[static_cast<unsigned char>(text[at])]) {
      ++at;
      continue;
    }
    const Pattern* pattern = LongestAt(text, at);
    if (pattern == nullptr) {
      ++at;
      continue;
    }
    size_t begin = at;
    size_t end = at + pattern->content.size();
    at = end;
    const AddedToken& token = pattern->token;
    if (token.single_word && !StandsAlone(text, begin, end)) continue;
    if (token.lstrip) {
      while (begin > done) {
        const ValidChar before = ReadValidBefore(text, begin);
        if ((ClassOf(before.code) & kSpace) == 0) break;
        begin -= before.bytes;
      }
      begin = std::min(std::max(begin, done), end);
    }
    if (token.rstrip) {
      while (end < text.size()) {
        const ValidChar after = ReadValid(text, end);
        if ((ClassOf(after.code) & kSpace) == 0) break;
        end += after.bytes;
      }
    }
    if (done < begin) parts.push_back({done, begin, TextPart::kText});
    parts.push_back({begin, end, token.id});
    // Where the token lies in white space that an earlier one took, this steps back: the reference
    // does so too.
    done = end;
  }
  if (done < text.size()) parts.push_back({done, text.size(), TextPart::kText});
}

}  // namespace assay::text

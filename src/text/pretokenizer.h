// Splitting text into the pieces that BPE works on. A tokenizer.json gives the split as a regular
// expression; each expression that a supported family uses has its own row here and one scanner
// runs them all, in one pass and without a regex engine. Any other expression is unknown: a
// near-match would give silently wrong ids.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace assay::text {

// What tells the known patterns apart. Alternatives are tried in the order of the fields.
struct SplitRules {
  std::string_view pattern;  // exactly as tokenizer.json has it
  bool any_case;             // 's 't 're 've 'm 'll 'd: in capitals too, and U+017F counts as s
  bool any_lead;             // letters take one leading character that is not CR, LF, a letter or
                             // a number; otherwise only a space
  uint8_t letters;           // kLetter, or kLetter | kMark
  bool lead_numbers;         // numbers take one leading space
  size_t max_numbers;        // characters in a piece of numbers
  bool newlines;             // symbols take the CR and LF that follow; a run of white space is cut
                             // after its last CR or LF
};

// The rules of `pattern` (spec d1 3.1, spec kev 3), or null when it is not a known one.
const SplitRules* FindSplitRules(std::string_view pattern);
// The rows of Qwen2's pattern, and of Qwen3.5's, which differs in that marks belong to the letters
// (spec kev 0.1).
const SplitRules& Qwen2SplitRules();
const SplitRules& Qwen35SplitRules();
// The pattern that a ByteLevel pre-tokenizer with use_regex brings along (GPT-2's).
const SplitRules& ByteLevelSplitRules();

// The end of the piece that starts at `begin`, where `text` is valid UTF-8 and begin < text.size().
// Cutting piece after piece from 0 costs time linear in text.size(): no character is looked at more
// than a constant number of times, and nothing recurses.
size_t PieceEnd(const SplitRules& rules, std::string_view text, size_t begin);

}  // namespace assay::text

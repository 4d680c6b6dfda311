#include "text/pretokenizer.h"

#include "text/unicode_tables.h"
#include "text/utf8_fast.h"

namespace assay::text {
namespace {

constexpr size_t kNoLimit = ~size_t{0};

constexpr size_t kQwen2 = 2;
constexpr size_t kQwen35 = 3;
constexpr SplitRules kKnown[] = {
    // d1 (LFM2.5).
    {R"re('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s)re",
     true, true, kLetter, false, 3, true},
    // Llama 3: the same pieces as d1's.
    {R"re((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)re",
     true, true, kLetter, false, 3, true},
    // Qwen2, and so Kev.
    {R"re((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)re",
     true, true, kLetter, false, 1, true},
    // Qwen3.5: marks belong to the letters.
    {R"re((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)re",
     true, true, kLetter | kMark, false, 1, true},
};

constexpr SplitRules kByteLevel = {
    R"re('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)re",
    false,
    false,
    kLetter,
    true,
    kNoLimit,
    false};

struct Char {
  uint8_t flags;
  size_t bytes;
};

inline Char CharAt(std::string_view text, size_t at) {
  const ValidChar next = ReadValid(text, at);
  return {ClassOf(next.code), next.bytes};
}

inline bool IsNewline(char c) { return c == '\n' || c == '\r'; }

// The end of the run of characters with any of `flags`, at most `limit` characters long.
inline size_t RunEnd(std::string_view text, size_t at, uint8_t flags, size_t limit = kNoLimit) {
  for (; limit > 0 && at < text.size(); --limit) {
    const Char next = CharAt(text, at);
    if ((next.flags & flags) == 0) break;
    at += next.bytes;
  }
  return at;
}

// The same for characters with none of `flags`.
inline size_t RunEndWithout(std::string_view text, size_t at, uint8_t flags) {
  while (at < text.size()) {
    const Char next = CharAt(text, at);
    if ((next.flags & flags) != 0) break;
    at += next.bytes;
  }
  return at;
}

// The letter at `at` in lower case when it matters for contractions, else 0. U+017F (long s) is the
// only character outside ASCII that folds to one of these letters.
char ContractionLetter(std::string_view text, size_t at, bool any_case, size_t& bytes) {
  bytes = 1;
  if (at >= text.size()) return 0;
  const char c = text[at];
  if (c >= 'a' && c <= 'z') return c;
  if (any_case && c >= 'A' && c <= 'Z') return static_cast<char>(c - 'A' + 'a');
  if (any_case && text.substr(at, 2) == "\u017F") {
    bytes = 2;
    return 's';
  }
  return 0;
}

// The end of a contraction at `begin`, or `begin`.
size_t ContractionEnd(const SplitRules& rules, std::string_view text, size_t begin) {
  if (text[begin] != '\'') return begin;
  size_t first_bytes = 0;
  size_t second_bytes = 0;
  const char first = ContractionLetter(text, begin + 1, rules.any_case, first_bytes);
  const size_t one = begin + 1 + first_bytes;
  if (first == 's' || first == 'd' || first == 'm' || first == 't') return one;
  const char second = ContractionLetter(text, one, rules.any_case, second_bytes);
  const bool two = (first == 'l' && second == 'l') || (first == 'v' && second == 'e') ||
                   (first == 'r' && second == 'e');
  return two ? one + second_bytes : begin;
}

size_t LettersEnd(const SplitRules& rules, std::string_view text, size_t begin, Char first) {
  const bool lead = rules.any_lead
                        ? (first.flags & (kLetter | kNumber)) == 0 && !IsNewline(text[begin])
                        : text[begin] == ' ';
  if (lead) {
    const size_t start = begin + first.bytes;
    const size_t end = RunEnd(text, start, rules.letters);
    if (end > start) return end;
  }
  return RunEnd(text, begin, rules.letters);
}

size_t NumbersEnd(const SplitRules& rules, std::string_view text, size_t begin) {
  const size_t start = rules.lead_numbers && text[begin] == ' ' ? begin + 1 : begin;
  const size_t end = RunEnd(text, start, kNumber, rules.max_numbers);
  return end > start ? end : begin;
}

size_t SymbolsEnd(const SplitRules& rules, std::string_view text, size_t begin) {
  const size_t start = text[begin] == ' ' ? begin + 1 : begin;
  size_t end = RunEndWithout(text, start, rules.letters | kNumber | kSpace);
  if (end == start) return begin;
  while (rules.newlines && end < text.size() && IsNewline(text[end])) ++end;
  return end;
}

// White space that nothing else wanted. The run ends after its last line break if it has one;
// otherwise its last character is left for what follows, unless that is the end of the text or
// there is no other character to take.
size_t SpacesEnd(const SplitRules& rules, std::string_view text, size_t begin) {
  size_t end = begin;
  size_t last = begin;        // where the last character of the run starts
  size_t after_line = begin;  // just past the last line break of the run
  while (end < text.size()) {
    const Char next = CharAt(text, end);
    if ((next.flags & kSpace) == 0) break;
    last = end;
    end += next.bytes;
    if (IsNewline(text[last])) after_line = end;
  }
  if (rules.newlines && after_line > begin) return after_line;
  return end == text.size() || last == begin ? end : last;
}

}  // namespace

const SplitRules* FindSplitRules(std::string_view pattern) {
  for (const SplitRules& rules : kKnown) {
    if (rules.pattern == pattern) return &rules;
  }
  return nullptr;
}

const SplitRules& Qwen2SplitRules() { return kKnown[kQwen2]; }
const SplitRules& Qwen35SplitRules() { return kKnown[kQwen35]; }

const SplitRules& ByteLevelSplitRules() { return kByteLevel; }

size_t PieceEnd(const SplitRules& rules, std::string_view text, size_t begin) {
  size_t end = ContractionEnd(rules, text, begin);
  if (end > begin) return end;
  end = LettersEnd(rules, text, begin, CharAt(text, begin));
  if (end > begin) return end;
  end = NumbersEnd(rules, text, begin);
  if (end > begin) return end;
  end = SymbolsEnd(rules, text, begin);
  if (end > begin) return end;
  return SpacesEnd(rules, text, begin);
}

}  // namespace assay::text

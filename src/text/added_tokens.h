// Added tokens: texts that are cut out of the input whole, before anything else looks at it.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::text {

struct AddedToken {
  std::string content;
  int32_t id = 0;
  bool single_word = false;  // not when a word character stands beside it
  bool lstrip = false;       // takes the white space before it
  bool rstrip = false;       // takes the white space after it
  bool normalized = false;   // matched in the normalized text, by its normalized content
  bool special = false;      // changes nothing here: special or not, it is found in every text
};

// A part of a text: an added token, or what stands between two.
struct TextPart {
  size_t begin = 0;
  size_t end = 0;
  int32_t id = kText;

  static constexpr int32_t kText = -1;
  bool operator==(const TextPart&) const = default;
};

// Finds added tokens in texts. Immutable after construction.
class AddedTokenMatcher {
 public:
  // `contents[i]` is what `tokens[i]` looks like in the texts to be split: not empty, all
  // different.
  AddedTokenMatcher(std::vector<AddedToken> tokens, std::vector<std::string> contents);

  // Appends the parts of `text` (valid UTF-8) in order: the leftmost token, the longest at that
  // place, then on from its end. This and the flags are as in AddedVocabulary::find_matches of the
  // tokenizers package 0.23, also where tokens with rstrip or lstrip overlap. Time is linear in the
  // text, times the length of the longest token at worst.
  void Split(std::string_view text, std::vector<TextPart>& parts) const;

 private:
  struct Pattern {
    std::string content;
    AddedToken token;
  };
  // The longest pattern that text[at...] starts with, or null.
  const Pattern* LongestAt(std::string_view text, size_t at) const;
  static bool StandsAlone(std::string_view text, size_t begin, size_t end);

  std::vector<Pattern> patterns_;  // by content
  std::bitset<256> first_bytes_;
};

}  // namespace assay::text

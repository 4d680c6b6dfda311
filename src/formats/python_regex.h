// Regular expressions of Python's `re`, the part that names of modules need: peft matches rank and
// alpha patterns with it. The pattern is hostile input, so it becomes a set of states that are
// followed all at once: no pattern takes more steps than states times bytes, and none recurses at
// matching.
//
// Read: literals, ., [...], (...), (?:...), |, * + ? {m,n} and their lazy forms (which match the
// same texts), ^ $ \A \Z \b \B, \d \D \w \W \s \S, escaped punctuation, \n \t \r \f \v \a.
// Everything else of Python (look-around, back references, named groups, flags, possessive forms,
// bytes past ASCII) is refused by name, as is what Python itself refuses.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace assay::formats {

inline constexpr size_t kMaxRegexStates = 5000;
inline constexpr size_t kMaxRegexDepth = 50;

class PythonRegex {
 public:
  // Throws Error(kModel, where). `where` is the place of the pattern in its file.
  PythonRegex(std::string_view pattern, std::string_view where);

  // bool(re.match(pattern, text)): from the start of the text, not necessarily to its end. `steps`
  // grows by the work done.
  bool MatchesStart(std::string_view text, uint64_t& steps) const;

  size_t states() const { return states_.size(); }

  enum class Kind : uint8_t {
    kByte,   // takes one byte of `set`, then `next`
    kSplit,  // `next` or `other`
    kStart,
    kEnd,  // at the end, or before a line feed at the end
    kAbsoluteEnd,
    kWordEdge,
    kNoWordEdge,
    kMatch,
  };
  struct State {
    Kind kind = Kind::kMatch;
    uint32_t set = 0;
    uint32_t next = 0;
    uint32_t other = 0;
  };
  using ByteSet = std::bitset<256>;

 private:
  std::vector<State> states_;
  std::vector<ByteSet> sets_;
  uint32_t start_ = 0;
};

}  // namespace assay::formats

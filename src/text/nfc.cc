#include "text/nfc.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/utf8.h"
#include "text/unicode_tables.h"
#include "text/utf8_fast.h"

namespace assay::text {
namespace {

// Hangul syllables are computed (The Unicode Standard, 3.12).
constexpr char32_t kSyllables = 0xAC00, kLeads = 0x1100, kVowels = 0x1161, kTails = 0x11A7;
constexpr char32_t kLeadCount = 19, kVowelCount = 21, kTailCount = 28;
constexpr char32_t kSyllableCount = kLeadCount * kVowelCount * kTailCount;

// Runs of marks up to this length are sorted by insertion.
constexpr size_t kShortRun = 16;

struct Mark {
  char32_t code;
  uint8_t combining_class;
};

// True when text may be cut before this character: nothing left of it changes with it.
bool IsStable(tables::NfcKind kind) { return kind.combining_class == 0 && !kind.unstable; }

void AppendDecomposed(char32_t code, std::vector<Mark>& out) {
  if (code >= kSyllables && code < kSyllables + kSyllableCount) {
    const char32_t index = code - kSyllables;
    out.push_back({kLeads + index / (kVowelCount * kTailCount), 0});
    out.push_back({kVowels + index / kTailCount % kVowelCount, 0});
    if (index % kTailCount != 0) out.push_back({kTails + index % kTailCount, 0});
    return;
  }
  const auto* end = tables::kDecompositions + tables::kDecompositionCount;
  const auto* found = std::lower_bound(
      tables::kDecompositions, end, code,
      [](const tables::Decomposition& entry, char32_t wanted) { return entry.code < wanted; });
  if (found == end || found->code != code) {
    out.push_back({code, NfcKindOf(code).combining_class});
    return;
  }
  for (size_t i = 0; i < found->count; ++i) {
    const char32_t part = tables::kDecompositionPool[found->first + i];
    out.push_back({part, NfcKindOf(part).combining_class});
  }
}

// Sorts by combining class, keeping the order inside a class.
void SortMarks(std::span<Mark> marks, std::vector<Mark>& buffer) {
  if (marks.size() <= kShortRun) {
    for (size_t i = 1; i < marks.size(); ++i) {
      const Mark mark = marks[i];
      size_t to = i;
      for (; to > 0 && marks[to - 1].combining_class > mark.combining_class; --to) {
        marks[to] = marks[to - 1];
      }
      marks[to] = mark;
    }
    return;
  }
  std::array<size_t, 257> start{};
  for (const Mark& mark : marks) ++start[mark.combining_class + 1];
  for (size_t i = 1; i < start.size(); ++i) start[i] += start[i - 1];
  buffer.assign(marks.begin(), marks.end());
  for (const Mark& mark : buffer) marks[start[mark.combining_class]++] = mark;
}

void SortRuns(std::vector<Mark>& marks, std::vector<Mark>& buffer) {
  for (size_t at = 0; at < marks.size();) {
    size_t end = at;
    while (end < marks.size() && marks[end].combining_class != 0) ++end;
    SortMarks(std::span(marks).subspan(at, end - at), buffer);
    at = std::max(end, at + 1);
  }
}

// The character that `first` and `second` compose to, or 0.
char32_t Compose(char32_t first, char32_t second) {
  if (first >= kLeads && first < kLeads + kLeadCount && second >= kVowels &&
      second < kVowels + kVowelCount) {
    return kSyllables + ((first - kLeads) * kVowelCount + (second - kVowels)) * kTailCount;
  }
  if (first >= kSyllables && first < kSyllables + kSyllableCount &&
      (first - kSyllables) % kTailCount == 0 && second > kTails && second < kTails + kTailCount) {
    return first + (second - kTails);
  }
  const auto* end = tables::kCompositions + tables::kCompositionCount;
  const auto* found =
      std::lower_bound(tables::kCompositions, end, std::pair(first, second),
                       [](const tables::Composition& entry, std::pair<char32_t, char32_t> wanted) {
                         return std::pair(entry.first, entry.second) < wanted;
                       });
  const bool same = found != end && found->first == first && found->second == second;
  return same ? found->result : 0;
}

// Composes in place. A mark joins the last starter when no kept mark between them has its class or
// a higher one.
void ComposeAll(std::vector<Mark>& marks) {
  constexpr size_t kNone = ~size_t{0};
  size_t starter = kNone;
  int last_class = -1;  // of the last mark kept since the starter; -1: none
  size_t kept = 0;
  for (const Mark mark : marks) {
    if (starter != kNone && last_class < mark.combining_class) {
      const char32_t joined = Compose(marks[starter].code, mark.code);
      if (joined != 0) {
        marks[starter].code = joined;
        continue;
      }
    }
    if (mark.combining_class == 0) {
      starter = kept;
      last_class = -1;
    } else {
      last_class = mark.combining_class;
    }
    marks[kept++] = mark;
  }
  marks.resize(kept);
}

class Normalizer {
 public:
  Normalizer(std::string_view text, std::string& out) : text_(text), out_(out) {}

  // From the first change on; text[0, from) is already as it should be and ends before a stable
  // character.
  void Run(size_t from) {
    out_.assign(text_, 0, from);
    size_t copied = from;
    size_t last = from;  // start of the character before `at`
    for (size_t at = from; at < text_.size();) {
      const ValidChar next = ReadValid(text_, at);
      if (IsStable(NfcKindOf(next.code))) {
        last = at;
        at += next.bytes;
        continue;
      }
      out_.append(text_, copied, last - copied);
      at = Chunk(last);
      copied = last = at;
    }
    out_.append(text_, copied);
  }

 private:
  // Normalizes from `begin` up to the next stable character; returns where that is.
  size_t Chunk(size_t begin) {
    marks_.clear();
    size_t at = begin;
    while (at < text_.size()) {
      const ValidChar next = ReadValid(text_, at);
      if (at > begin && IsStable(NfcKindOf(next.code))) break;
      AppendDecomposed(next.code, marks_);
      at += next.bytes;
    }
    SortRuns(marks_, buffer_);
    ComposeAll(marks_);
    for (const Mark& mark : marks_) AppendUtf8(mark.code, out_);
    return at;
  }

  std::string_view text_;
  std::string& out_;
  std::vector<Mark> marks_;
  std::vector<Mark> buffer_;
};

}  // namespace

std::string_view ToNfc(std::string_view utf8, std::string& storage) {
  size_t last = 0;
  for (size_t at = 0; at < utf8.size();) {
    // Nothing below U+0300 (first byte 0xCC) joins or moves.
    if (static_cast<unsigned char>(utf8[at]) < 0xCC) {
      last = at;
      at += static_cast<unsigned char>(utf8[at]) < 0x80 ? 1 : 2;
      continue;
    }
    const ValidChar next = ReadValid(utf8, at);
    if (!IsStable(NfcKindOf(next.code))) {
      Normalizer(utf8, storage).Run(last);
      return storage;
    }
    last = at;
    at += next.bytes;
  }
  return utf8;
}

}  // namespace assay::text

#include "formats/python_regex.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "assay/error.h"

namespace assay::formats {
namespace {

using Kind = PythonRegex::Kind;
using State = PythonRegex::State;
using ByteSet = PythonRegex::ByteSet;

constexpr uint32_t kMaxRepeat = 1000;
constexpr uint32_t kNoLimit = UINT32_MAX;

bool IsWord(unsigned char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// \d, \w and \s over ASCII.
ByteSet ClassSet(char lower) {
  ByteSet set;
  for (unsigned c = 0; c < 128; ++c) {
    const auto byte = static_cast<char>(c);
    const bool space = (c >= 9 && c <= 13) || c == ' ' || (c >= 28 && c <= 31);
    set[c] = lower == 'd'   ? IsDigit(byte)
             : lower == 'w' ? IsWord(static_cast<unsigned char>(c))
                            : space;
  }
  return set;
}

// A parsed pattern; children by index, so that nothing deep is freed recursively.
struct Node {
  enum class Kind { kByte, kSequence, kEither, kRepeat, kAssert };
  Kind kind = Kind::kSequence;
  ByteSet set = {};                  // kByte
  PythonRegex::Kind assertion = {};  // kAssert
  uint32_t least = 0;                // kRepeat
  uint32_t most = 0;                 // kRepeat; kNoLimit
  std::vector<uint32_t> children = {};
};

class Parser {
 public:
  Parser(std::string_view pattern, std::string_view where) : pattern_(pattern), where_(where) {}

  uint32_t Parse() {
    if (pattern_.size() > kMaxRegexStates) Refuse("is too long");
    for (const char c : pattern_) {
      if (static_cast<unsigned char>(c) >= 128) Refuse("has a character past ASCII");
    }
    const uint32_t root = Either(0);
    if (!AtEnd()) Refuse("has a ) without a (");
    return root;
  }

  const std::vector<Node>& nodes() const { return nodes_; }

  [[noreturn]] void Refuse(std::string_view problem) const {
    throw Error(ErrorKind::kModel, where_,
                fmt::format("the pattern '{}' {}", OneLine(pattern_, 100), problem),
                "a regular expression of literals, classes, groups and repeats");
  }

 private:
  bool AtEnd() const { return at_ == pattern_.size(); }
  char Peek() const { return pattern_[at_]; }
  bool Accept(char c) {
    if (AtEnd() || Peek() != c) return false;
    ++at_;
    return true;
  }

  uint32_t Add(Node node) {
    nodes_.push_back(std::move(node));
    return static_cast<uint32_t>(nodes_.size() - 1);
  }

  uint32_t Either(size_t depth) {
    if (depth > kMaxRegexDepth) Refuse("has groups too deep in each other");
    Node node{.kind = Node::Kind::kEither};
    node.children.push_back(Sequence(depth));
    while (Accept('|')) node.children.push_back(Sequence(depth));
    return Add(std::move(node));
  }

  uint32_t Sequence(size_t depth) {
    Node node{.kind = Node::Kind::kSequence};
    while (!AtEnd() && Peek() != '|' && Peek() != ')') {
      const uint32_t atom = Atom(depth);
      node.children.push_back(Repeated(atom));
    }
    return Add(std::move(node));
  }

  uint32_t Atom(size_t depth) {
    const char c = pattern_[at_++];
    switch (c) {
      case '.': {
        ByteSet set;
        set.set();
        set.reset('\n');
        return Bytes(set);
      }
      case '^': return Assertion(Kind::kStart);
      case '$': return Assertion(Kind::kEnd);
      case '(': return Group(depth);
      case '[': return Class();
      case '\\': return Escape();
      case '*':
      case '+':
      case '?': Refuse(fmt::format("has a {} with nothing to repeat", c));
      case '{': return Brace();
      default: return Byte(c);
    }
  }

  uint32_t Brace() {
    --at_;
    uint32_t least = 0;
    uint32_t most = 0;
    if (AcceptCounts(least, most)) Refuse("has a {} with nothing to repeat");
    ++at_;
    return Byte('{');
  }

  uint32_t Bytes(const ByteSet& set) { return Add({.kind = Node::Kind::kByte, .set = set}); }
  uint32_t Byte(char c) { return Bytes(ByteSet().set(static_cast<unsigned char>(c))); }
  uint32_t Assertion(Kind kind) { return Add({.kind = Node::Kind::kAssert, .assertion = kind}); }

  uint32_t Group(size_t depth) {
    if (Accept('?') && !Accept(':')) Refuse("has a group of the form (?, which is not supported");
    const uint32_t inner = Either(depth + 1);
    if (!Accept(')')) Refuse("has a ( without a )");
    return inner;
  }

  // The one byte that an escape stands for, in and out of a class.
  char EscapedByte(char c) const {
    constexpr std::string_view kLetters = "ntrfva";
    constexpr std::string_view kBytes = "\n\t\r\f\v\a";
    if (const size_t i = kLetters.find(c); i != std::string_view::npos) return kBytes[i];
    if (IsWord(static_cast<unsigned char>(c)) && c != '_') {
      Refuse(fmt::format("has \\{}, which is not supported", c));
    }
    return c;
  }

  char EscapeLetter() {
    if (AtEnd()) Refuse("ends in a backslash");
    return pattern_[at_++];
  }

  static std::optional<ByteSet> EscapedSet(char c) {
    if (c == 'd' || c == 'w' || c == 's') return ClassSet(c);
    if (c == 'D' || c == 'W' || c == 'S') return ~ClassSet(static_cast<char>(c - 'A' + 'a'));
    return std::nullopt;
  }

  uint32_t Escape() {
    const char c = EscapeLetter();
    if (const auto set = EscapedSet(c)) return Bytes(*set);
    if (c == 'A') return Assertion(Kind::kStart);
    if (c == 'Z') return Assertion(Kind::kAbsoluteEnd);
    if (c == 'b') return Assertion(Kind::kWordEdge);
    if (c == 'B') return Assertion(Kind::kNoWordEdge);
    return Byte(EscapedByte(c));
  }

  // What stands in a class at `at_`: one byte, or a set as \w is.
  std::optional<ByteSet> ClassItem(char& byte) {
    if (AtEnd()) Refuse("has a [ without a ]");
    const char c = pattern_[at_++];
    if (c != '\\') {
      byte = c;
      return std::nullopt;
    }
    const char letter = EscapeLetter();
    if (const auto set = EscapedSet(letter)) return set;
    byte = letter == 'b' ? '\b' : EscapedByte(letter);
    return std::nullopt;
  }

  uint32_t Class() {
    const bool inverted = Accept('^');
    ByteSet set;
    for (bool first = true; first || AtEnd() || Peek() != ']'; first = false) {
      char low = 0;
      if (const auto item = ClassItem(low)) {
        set |= *item;
        if (at_ + 1 < pattern_.size() && Peek() == '-' && pattern_[at_ + 1] != ']') {
          Refuse("has a range of classes");
        }
        continue;
      }
      char high = low;
      if (at_ + 1 < pattern_.size() && Peek() == '-' && pattern_[at_ + 1] != ']') {
        ++at_;
        if (ClassItem(high) || high < low) Refuse("has a range that goes down");
      }
      for (auto c = static_cast<unsigned char>(low); c <= static_cast<unsigned char>(high); ++c) {
        set.set(c);
      }
    }
    ++at_;
    return Bytes(inverted ? ~set : set);
  }

  // The number at `at_`, if digits stand there.
  std::optional<uint32_t> Number() {
    if (AtEnd() || !IsDigit(Peek())) return std::nullopt;
    uint32_t value = 0;
    while (!AtEnd() && IsDigit(Peek())) {
      value = value * 10 + static_cast<uint32_t>(pattern_[at_++] - '0');
      if (value > kMaxRepeat) Refuse(fmt::format("repeats more than {} times", kMaxRepeat));
    }
    return value;
  }

  // {m}, {m,}, {,n}, {m,n}; a { of another form is a literal, as in Python.
  bool AcceptCounts(uint32_t& least, uint32_t& most) {
    const size_t before = at_;
    if (!Accept('{')) return false;
    if (AtEnd() || Peek() == '}') {
      at_ = before;
      return false;
    }
    const auto low = Number();
    least = low.value_or(0);
    if (Accept(',')) {
      most = Number().value_or(kNoLimit);
    } else {
      most = low.value_or(kNoLimit);
    }
    if (!Accept('}')) {
      at_ = before;
      return false;
    }
    if (most < least) Refuse("has a {} with its ends the wrong way round");
    return true;
  }

  bool AcceptRepeat(uint32_t& least, uint32_t& most) {
    least = 0;
    most = kNoLimit;
    if (Accept('*')) return true;
    if (Accept('+')) {
      least = 1;
      return true;
    }
    if (Accept('?')) {
      most = 1;
      return true;
    }
    return AcceptCounts(least, most);
  }

  uint32_t Repeated(uint32_t atom) {
    Node node{.kind = Node::Kind::kRepeat};
    if (!AcceptRepeat(node.least, node.most)) return atom;
    if (nodes_[atom].kind == Node::Kind::kAssert) Refuse("repeats an anchor");
    if (Accept('+')) Refuse("has a possessive repeat, which is not supported");
    Accept('?');  // lazy: another way to the same texts
    uint32_t least = 0;
    uint32_t most = 0;
    if (AcceptRepeat(least, most)) Refuse("repeats a repeat");
    node.children.push_back(atom);
    return Add(std::move(node));
  }

  std::string_view pattern_;
  std::string_view where_;
  size_t at_ = 0;
  std::vector<Node> nodes_;
};

// Makes the states from the end to the start: each part is told where to go on.
class Emitter {
 public:
  Emitter(const Parser& parser, std::vector<State>& states, std::vector<ByteSet>& sets)
      : parser_(parser), states_(states), sets_(sets) {}

  uint32_t Add(const State& state) {
    if (states_.size() >= kMaxRegexStates) {
      parser_.Refuse(fmt::format("needs more than {} states", kMaxRegexStates));
    }
    states_.push_back(state);
    return static_cast<uint32_t>(states_.size() - 1);
  }

  // The state where `node` begins, with `next` after it.
  uint32_t Emit(uint32_t node_index, uint32_t next) {
    // Repeats of nothing make no state, but take their time.
    if (++emitted_ > 10 * kMaxRegexStates) parser_.Refuse("repeats too much");
    const Node& node = parser_.nodes()[node_index];
    switch (node.kind) {
      case Node::Kind::kByte:
        sets_.push_back(node.set);
        return Add({Kind::kByte, static_cast<uint32_t>(sets_.size() - 1), next, 0});
      case Node::Kind::kAssert: return Add({node.assertion, 0, next, 0});
      case Node::Kind::kSequence:
        for (size_t i = node.children.size(); i-- > 0;) next = Emit(node.children[i], next);
        return next;
      case Node::Kind::kEither: {
        uint32_t start = Emit(node.children.back(), next);
        for (size_t i = node.children.size() - 1; i-- > 0;) {
          start = Add({Kind::kSplit, 0, Emit(node.children[i], next), start});
        }
        return start;
      }
      case Node::Kind::kRepeat: return EmitRepeat(node, next);
    }
    return next;
  }

 private:
  uint32_t EmitRepeat(const Node& node, uint32_t next) {
    uint32_t start = next;
    if (node.most == kNoLimit) {
      start = Add({Kind::kSplit, 0, next, next});
      const uint32_t body = Emit(node.children[0], start);
      states_[start].next = body;
    } else {
      for (uint32_t i = node.least; i < node.most; ++i) {
        start = Add({Kind::kSplit, 0, Emit(node.children[0], start), next});
      }
    }
    for (uint32_t i = 0; i < node.least; ++i) start = Emit(node.children[0], start);
    return start;
  }

  const Parser& parser_;
  std::vector<State>& states_;
  std::vector<ByteSet>& sets_;
  size_t emitted_ = 0;
};

bool Holds(Kind assertion, std::string_view text, size_t at) {
  const auto word = [&](size_t i) {
    return i < text.size() && IsWord(static_cast<unsigned char>(text[i]));
  };
  const bool edge = (at > 0 && word(at - 1)) != word(at);
  switch (assertion) {
    case Kind::kStart: return at == 0;
    case Kind::kEnd: return at == text.size() || (at + 1 == text.size() && text[at] == '\n');
    case Kind::kAbsoluteEnd: return at == text.size();
    case Kind::kWordEdge: return edge;
    // Python before 3.14 finds no place in an empty text that is none of a word's edges.
    case Kind::kNoWordEdge: return !edge && !text.empty();
    default: return false;
  }
}

}  // namespace

PythonRegex::PythonRegex(std::string_view pattern, std::string_view where) {
  Parser parser(pattern, where);
  const uint32_t root = parser.Parse();
  Emitter emitter(parser, states_, sets_);
  const uint32_t match = emitter.Add({Kind::kMatch, 0, 0, 0});
  start_ = emitter.Emit(root, match);
}

bool PythonRegex::MatchesStart(std::string_view text, uint64_t& steps) const {
  std::vector<uint32_t> now = {start_};
  std::vector<uint32_t> later;
  std::vector<size_t> seen(states_.size(), 0);  // 1 + the place where a state was last entered
  for (size_t at = 0; !now.empty(); ++at) {
    // `now` grows while it is walked: states that take no byte put their successors behind.
    const auto enter = [&](uint32_t state) {
      if (std::exchange(seen[state], at + 1) != at + 1) now.push_back(state);
    };
    for (const uint32_t state : now) seen[state] = at + 1;
    for (size_t i = 0; i < now.size(); ++i) {
      ++steps;
      const State& state = states_[now[i]];
      switch (state.kind) {
        case Kind::kMatch: return true;
        case Kind::kSplit:
          enter(state.next);
          enter(state.other);
          break;
        case Kind::kByte:
          if (at < text.size() && sets_[state.set][static_cast<unsigned char>(text[at])]) {
            later.push_back(state.next);
          }
          break;
        default:
          if (Holds(state.kind, text, at)) enter(state.next);
      }
    }
    std::sort(later.begin(), later.end());
    later.erase(std::unique(later.begin(), later.end()), later.end());
    now.swap(later);
    later.clear();
  }
  return false;
}

}  // namespace assay::formats

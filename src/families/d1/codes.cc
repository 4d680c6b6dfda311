#include "families/d1/codes.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.h"
#include "text/unicode_tables.h"

namespace assay::families::d1 {
namespace {

constexpr size_t kLetters = 26;

std::string Letter(char first, size_t i) { return std::string(1, static_cast<char>(first + i)); }

std::vector<std::string> Pairs() {
  std::vector<std::string> out;
  for (size_t i = 0; i < kLetters; ++i) {
    for (size_t j = 0; j < kLetters; ++j) out.push_back(Letter('A', i) + Letter('A', j));
  }
  return out;
}

// The order in which free codes are looked for: A..Z, 00..99, a..z, #0..#199, AA..ZZ.
std::vector<std::string> Pool() {
  std::vector<std::string> out;
  for (size_t i = 0; i < kLetters; ++i) out.push_back(Letter('A', i));
  for (size_t i = 0; i < 100; ++i) out.push_back(fmt::format("{:02d}", i));
  for (size_t i = 0; i < kLetters; ++i) out.push_back(Letter('a', i));
  for (size_t i = 0; i < 200; ++i) out.push_back(fmt::format("#{}", i));
  for (std::string& pair : Pairs()) out.push_back(std::move(pair));
  return out;
}

const std::vector<std::string>& YesWords() {
  static const std::vector<std::string> words = {"yes", "Yes", "YES"};
  return words;
}

const std::vector<std::string>& NoWords() {
  static const std::vector<std::string> words = {"no", "No", "NO"};
  return words;
}

// Every text that may be an option's token, without the forms that start with a space.
std::vector<std::string> Candidates() {
  std::vector<std::string> out = Pool();
  for (size_t i = 0; i < 10; ++i) out.push_back(fmt::format("{}", i));
  for (size_t i = 100; i < 1000; ++i) out.push_back(fmt::format("{}", i));
  return out;
}

bool IsOneLetter(std::string_view text) {
  if (text.empty()) return false;
  const Utf8Char first = DecodeUtf8(text, 0);
  return first.valid && first.bytes == text.size() && text::IsAlphabetic(first.code);
}

std::vector<std::string> WantedCodes(const std::vector<Choice>& choices) {
  std::vector<std::string> bare;
  for (const Choice& choice : choices) bare.emplace_back(text::StripPython(choice.label));
  if (std::all_of(bare.begin(), bare.end(), IsOneLetter)) return bare;
  std::vector<std::string> out;
  for (size_t i = 0; i < choices.size(); ++i) {
    out.push_back(choices.size() <= kLetters ? Letter('A', i) : fmt::format("{:02d}", i));
  }
  return out;
}

void AddOnce(std::optional<int32_t> id, std::vector<int32_t>& group) {
  if (id && std::find(group.begin(), group.end(), *id) == group.end()) group.push_back(*id);
}

}  // namespace

CodeTable::CodeTable(Encode encode) : encode_(std::move(encode)), pool_(Pool()) {
  const auto learn = [&](const std::string& text) {
    const std::optional<int32_t> id = OneToken(text);
    known_.emplace(text, id);
    if (id) table_.insert(*id);
  };
  for (const std::string& text : Candidates()) {
    learn(text);
    learn(" " + text);
  }
  for (const auto& words : {YesWords(), NoWords()}) {
    for (const std::string& word : words) learn(word);
  }
}

std::optional<int32_t> CodeTable::OneToken(const std::string& text) const {
  const auto found = known_.find(text);
  if (found != known_.end()) return found->second;
  const std::vector<int32_t> ids = encode_(text);
  return ids.size() == 1 ? std::optional(ids[0]) : std::nullopt;
}

void CodeTable::AddAliases(const std::vector<std::string>& wanted, const std::string& where,
                           OptionCodes& out) const {
  std::unordered_set<int32_t> taken;
  for (const std::string& want : wanted) {
    const auto free = [&](const std::string& code) {
      const std::optional<int32_t> id = OneToken(code);
      return id && !taken.contains(*id);
    };
    const auto pooled = free(want) ? pool_.end() : std::find_if(pool_.begin(), pool_.end(), free);
    if (pooled == pool_.end() && !free(want)) {
      throw Error(
          ErrorKind::kRequest, where + ".criteria",
          fmt::format("has {} options, and only {} one-token option codes are left for them",
                      wanted.size(), taken.size()),
          "ask with fewer options");
    }
    const std::string& code = pooled == pool_.end() ? want : *pooled;
    const std::optional<int32_t> id = OneToken(code);
    taken.insert(*id);
    out.codes.push_back(code);
    out.groups.push_back({*id});
    AddOnce(OneToken(" " + code), out.groups.back());
  }
}

OptionCodes CodeTable::CodesFor(const Question& question, const std::string& where) const {
  OptionCodes out;
  switch (question.kind) {
    case Kind::kChoice:
      for (const Choice& choice : question.choices) out.keys.push_back(choice.label);
      AddAliases(WantedCodes(question.choices), where, out);
      break;
    case Kind::kNoul:
      out.codes = out.keys = {"yes", "no"};
      out.groups.resize(2);
      for (const std::string& word : YesWords()) AddOnce(OneToken(word), out.groups[0]);
      for (const std::string& word : NoWords()) AddOnce(OneToken(word), out.groups[1]);
      break;
    case Kind::kScore:
      for (size_t i = 0; i < question.levels.size(); ++i) {
        out.codes.push_back(fmt::format("{}", i));
        out.groups.emplace_back();
        AddOnce(OneToken(out.codes.back()), out.groups.back());
      }
      out.keys = out.codes;
      break;
  }
  for (size_t i = 0; i < out.groups.size(); ++i) {
    if (out.groups[i].empty()) {
      throw Error(ErrorKind::kRequest, where,
                  fmt::format("option '{}' has no one-token form", out.codes[i]),
                  "this tokenizer cannot answer this kind of question");
    }
    for (const int32_t id : out.groups[i]) {
      if (table_.contains(id)) continue;
      throw Error(ErrorKind::kRequest, where + ".criteria",
                  fmt::format("the one-letter label '{}' is outside the option table", out.keys[i]),
                  "use the letters A to Z as labels, or labels of more than one letter");
    }
  }
  return out;
}

}  // namespace assay::families::d1

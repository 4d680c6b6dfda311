#include "text/tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_set>

#include "base/file.h"
#include "base/utf8.h"
#include "text/added_tokens.h"
#include "text/bpe.h"
#include "text/nfc.h"
#include "text/pretokenizer.h"
#include "text/tokenizer_config.h"
#include "text/tokenizer_json.h"

namespace assay::text {
namespace {

constexpr std::string_view kReplacement = "\uFFFD";

[[noreturn]] void Refuse(std::string_view file, const std::string& message, std::string_view hint) {
  throw Error(ErrorKind::kModel, file, message, hint);
}

// The reference numbers added tokens itself and does not read their ids: a token of the vocabulary
// keeps its id, the others follow the vocabulary in file order. A file that says otherwise has two
// meanings.
void CheckAddedIds(const std::vector<AddedToken>& added, const Bpe& bpe, std::string_view file) {
  std::unordered_set<std::string_view> seen;
  auto next = static_cast<int64_t>(bpe.entries());
  for (const AddedToken& token : added) {
    if (!seen.insert(token.content).second) {
      Refuse(file, fmt::format("added token \"{}\" appears twice", token.content), "");
    }
    const std::optional<uint32_t> in_vocabulary = bpe.Find(token.content);
    if (in_vocabulary && *in_vocabulary != static_cast<uint32_t>(token.id)) {
      Refuse(file,
             fmt::format("added token \"{}\" has id {}, but the vocabulary has it as {}",
                         token.content, token.id, *in_vocabulary),
             "vocabulary and added tokens must come from the same model");
    }
    if (in_vocabulary) continue;
    if (bpe.Has(static_cast<uint32_t>(token.id))) {
      Refuse(file,
             fmt::format("added token \"{}\" has id {}, which is another vocabulary entry",
                         token.content, token.id),
             "vocabulary and added tokens must come from the same model");
    }
    if (token.id != next) {
      Refuse(file,
             fmt::format("added token \"{}\" has id {}, but by its place it is number {}",
                         token.content, token.id, next),
             "added tokens outside the vocabulary follow it without a gap, in order");
    }
    ++next;
  }
}

// A vocabulary with longer entries and no merge can only give single bytes: the sign of a file
// whose merges were lost on the way.
void CheckMergesThere(const BpeSource& source, const std::vector<AddedToken>& added,
                      std::string_view file) {
  if (!source.merges.empty() || source.ignore_merges) return;
  std::unordered_set<std::string_view> control;
  for (const AddedToken& token : added) control.insert(token.content);
  for (const BpeSource::Entry& entry : source.vocabulary) {
    const std::string_view text = source.TextOf(entry.text);
    const bool one_symbol = text.empty() || DecodeUtf8(text, 0).bytes == text.size();
    if (!one_symbol && !control.contains(text)) {
      Refuse(file, fmt::format("there are no merges, but the vocabulary has \"{}\"", text),
             "the merges are missing; download the file again");
    }
  }
}

void CheckUtf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const Utf8Char next = DecodeUtf8(text, at);
    if (!next.valid) {
      throw Error(ErrorKind::kRequest, "text", fmt::format("byte {} is not UTF-8", at),
                  "send text as UTF-8");
    }
    at += next.bytes;
  }
}

// How many bytes at `at` form the start of a character and no more, where no whole character
// starts; at least 1 (The Unicode Standard, 3.9: substitution of maximal subparts).
size_t BrokenBytes(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[at + i]); };
  size_t wanted = 0;
  unsigned low = 0x80;
  unsigned high = 0xBF;
  if (byte(0) >= 0xC2 && byte(0) <= 0xDF) wanted = 2;
  if (byte(0) >= 0xE0 && byte(0) <= 0xEF) wanted = 3;
  if (byte(0) >= 0xF0 && byte(0) <= 0xF4) wanted = 4;
  if (byte(0) == 0xE0) low = 0xA0;
  if (byte(0) == 0xED) high = 0x9F;
  if (byte(0) == 0xF0) low = 0x90;
  if (byte(0) == 0xF4) high = 0x8F;
  size_t have = 1;
  while (have < wanted && at + have < text.size() && byte(have) >= low && byte(have) <= high) {
    ++have;
    low = 0x80;
    high = 0xBF;
  }
  return have;
}

std::string ReplaceBroken(const std::string& bytes) {
  std::string out;
  for (size_t at = 0; at < bytes.size();) {
    const Utf8Char next = DecodeUtf8(bytes, at);
    if (next.valid) {
      out.append(bytes, at, next.bytes);
      at += next.bytes;
    } else {
      out += kReplacement;
      at += BrokenBytes(bytes, at);
    }
  }
  return out;
}

// The added tokens that are matched in the text as given, or those matched in the normalized text.
AddedTokenMatcher MakeMatcher(const TokenizerSource& source, bool normalized,
                              std::string_view file) {
  std::vector<AddedToken> tokens;
  std::vector<std::string> contents;
  std::unordered_set<std::string> seen;
  std::string storage;
  for (const AddedToken& token : source.added) {
    if (token.normalized != normalized) continue;
    tokens.push_back(token);
    contents.emplace_back(normalized && source.nfc ? ToNfc(token.content, storage)
                                                   : std::string_view(token.content));
    if (!seen.insert(contents.back()).second) {
      Refuse(file, fmt::format("added token \"{}\" appears twice", token.content), "");
    }
  }
  return {std::move(tokens), std::move(contents)};
}

const SplitRules* SplitOf(const TokenizerSource& source, SplitPattern wanted,
                          std::string_view file) {
  if (wanted == SplitPattern::kAsWritten) return source.split;
  if (source.split != &Qwen2SplitRules() && source.split != &Qwen35SplitRules()) {
    Refuse(file, "its split pattern is neither Qwen2's nor Qwen3.5's, so it cannot be exchanged",
           "the tokenizer.json of a Qwen3.5 base");
  }
  return wanted == SplitPattern::kQwen2 ? &Qwen2SplitRules() : &Qwen35SplitRules();
}

}  // namespace

struct Tokenizer::Tables {
  Tables(const TokenizerSource& source, std::string_view file)
      : bpe(source.bpe, file),
        nfc(source.nfc),
        split(source.split),
        in_text(MakeMatcher(source, false, file)),
        in_normalized(MakeMatcher(source, true, file)) {
    CheckAddedIds(source.added, bpe, file);
    CheckMergesThere(source.bpe, source.added, file);
    id_count = bpe.id_count();
    for (const AddedToken& token : source.added) {
      added_ids.emplace(token.content, token.id);
      added_texts.emplace(token.id, token.content);
      id_count = std::max(id_count, static_cast<size_t>(token.id) + 1);
    }
  }

  Bpe bpe;
  bool nfc;
  const SplitRules* split;
  AddedTokenMatcher in_text;
  AddedTokenMatcher in_normalized;
  std::map<std::string, int32_t, std::less<>> added_ids;
  std::map<int32_t, std::string> added_texts;
  size_t id_count = 0;
};

namespace {

// One call of Encode(): the text goes through added tokens, NFC, added tokens again, the split,
// BPE.
template <typename Tables>
class Encoder {
 public:
  explicit Encoder(const Tables& tables) : tables_(tables) {}

  std::vector<int32_t> Run(std::string_view text) {
    CheckUtf8(text);
    ids_.reserve(text.size() / 3 + 1);
    std::vector<TextPart> parts;
    std::vector<TextPart> inner;
    tables_.in_text.Split(text, parts);
    for (const TextPart& part : parts) {
      if (part.id != TextPart::kText) {
        ids_.push_back(part.id);
        continue;
      }
      std::string_view raw = text.substr(part.begin, part.end - part.begin);
      if (tables_.nfc) raw = ToNfc(raw, normalized_);
      inner.clear();
      tables_.in_normalized.Split(raw, inner);
      for (const TextPart& piece : inner) {
        if (piece.id != TextPart::kText) {
          ids_.push_back(piece.id);
        } else {
          Pieces(raw.substr(piece.begin, piece.end - piece.begin));
        }
      }
    }
    return std::move(ids_);
  }

 private:
  void Pieces(std::string_view text) {
    for (size_t at = 0; at < text.size();) {
      const size_t end =
          tables_.split == nullptr ? text.size() : PieceEnd(*tables_.split, text, at);
      tables_.bpe.Encode(text.substr(at, end - at), scratch_, ids_);
      at = end;
    }
  }

  const Tables& tables_;
  Bpe::Scratch scratch_;
  std::string normalized_;
  std::vector<int32_t> ids_;
};

}  // namespace

Tokenizer Tokenizer::FromJson(std::string_view json, std::string_view name,
                              const TokenizerOptions& options) {
  TokenizerSource source = ReadTokenizerJson(json, name);
  source.split = SplitOf(source, options.split, name);
  if (!options.config.empty()) {
    constexpr std::string_view kConfig = "tokenizer_config.json";
    AddListedTokens(ReadAddedTokensDecoder(options.config, kConfig), source.added, kConfig);
  }
  return Tokenizer(std::make_shared<const Tables>(source, name));
}

Tokenizer Tokenizer::Load(const std::filesystem::path& path, const TokenizerOptions& options) {
  const MappedFile file(path, ErrorKind::kModel);
  return FromJson(file.text(), path.filename().string(), options);
}

std::vector<int32_t> Tokenizer::Encode(std::string_view utf8) const {
  return Encoder<Tables>(*tables_).Run(utf8);
}

std::optional<int32_t> Tokenizer::TokenId(std::string_view content) const {
  const auto added = tables_->added_ids.find(content);
  if (added != tables_->added_ids.end()) return added->second;
  if (!IsUtf8(content)) return std::nullopt;
  const std::optional<uint32_t> entry = tables_->bpe.Find(content);
  return entry ? std::optional(static_cast<int32_t>(*entry)) : std::nullopt;
}

std::string_view Tokenizer::TokenBytes(int32_t id) const {
  const auto added = tables_->added_texts.find(id);
  if (added != tables_->added_texts.end()) return added->second;
  if (id < 0 || !tables_->bpe.Has(static_cast<uint32_t>(id))) return {};
  return tables_->bpe.BytesOf(static_cast<uint32_t>(id));
}

std::string Tokenizer::Decode(std::span<const int32_t> ids) const {
  std::string bytes;
  for (const int32_t id : ids) bytes += TokenBytes(id);
  return ReplaceBroken(bytes);
}

size_t Tokenizer::vocab_size() const { return tables_->id_count; }

}  // namespace assay::text

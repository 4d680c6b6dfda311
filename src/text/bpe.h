// Byte-pair encoding by rank: the model part of a tokenizer.json.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/error.h"
#include "text/token_tables.h"

namespace assay::text {

// Vocabulary and merges as a file has them. The texts lie end to end in `texts`.
struct BpeSource {
  struct Span {
    uint32_t first = 0;
    uint32_t bytes = 0;
  };
  struct Entry {
    Span text;
    uint32_t id = 0;
  };
  struct Pair {
    Span left;
    Span right;
  };

  std::string_view TextOf(Span span) const {
    return std::string_view(texts).substr(span.first, span.bytes);
  }

  std::string texts;  // valid UTF-8
  std::vector<Entry> vocabulary;
  std::vector<Pair> merges;  // by rank
  // Texts are in the byte alphabet and the model works on bytes; otherwise on characters.
  bool byte_level = true;
  // A piece that is a vocabulary entry is that token, whatever the merges make of it (d1).
  bool ignore_merges = false;
};

// Immutable; one object may be used by any number of threads at a time.
class Bpe {
 public:
  // Memory that Encode() reuses from piece to piece; one per thread.
  struct Scratch {
    std::vector<uint32_t> ids, next, previous;
    std::vector<Merge> merges;  // of the symbol at an index with the one after it
    std::vector<uint64_t> queue;
  };

  // Throws Error(kModel, file) for an id or a text that appears twice, a merge whose parts or
  // result are no tokens (it is named), and a byte-level vocabulary that lacks a byte of UTF-8
  // text.
  Bpe(const BpeSource& source, std::string_view file);

  // Appends the ids of one piece. Pieces of any length: time grows as n log n. Throws
  // Error(kRequest) in a model that works on characters when one is no token, and for a piece of
  // 4 GiB.
  void Encode(std::string_view piece, Scratch& scratch, std::vector<int32_t>& out) const;

  // The id of a vocabulary entry, written as in the file.
  std::optional<uint32_t> Find(std::string_view entry) const;
  bool Has(uint32_t id) const { return tokens_.Has(id) || foreign_texts_.contains(id); }
  // The bytes of a token (its text where a byte-level vocabulary has an entry in other characters);
  // Has(id) must hold.
  std::string_view BytesOf(uint32_t id) const;
  size_t entries() const { return entries_; }
  // One more than the highest id.
  size_t id_count() const { return id_count_; }

 private:
  void AddVocabulary(const BpeSource& source, std::string_view file);
  void AddMerges(const BpeSource& source, std::string_view file);
  void FindBytes(std::string_view file);
  void StartSymbols(std::string_view piece, Scratch& scratch) const;
  void MergeShort(Scratch& scratch) const;
  void MergeLong(Scratch& scratch) const;

  bool byte_level_;
  bool ignore_merges_;
  size_t entries_ = 0;
  size_t id_count_ = 0;
  TokenTable tokens_;  // by bytes
  MergeTable merges_;
  std::array<uint32_t, 256> byte_ids_{};
  // Entries of a byte-level vocabulary that are not in the byte alphabet: no text leads to them,
  // but they can be asked for.
  std::map<std::string, uint32_t, std::less<>> foreign_;
  std::map<uint32_t, std::string> foreign_texts_;
};

}  // namespace assay::text

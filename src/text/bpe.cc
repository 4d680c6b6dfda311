#include "text/bpe.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "text/byte_alphabet.h"
#include "text/utf8_fast.h"

namespace assay::text {
namespace {

// Pieces of up to this many symbols look through all pairs for the best one; longer ones use a
// heap.
constexpr size_t kShortPiece = 64;

[[noreturn]] void Refuse(std::string_view file, std::string_view message, std::string_view hint) {
  throw Error(ErrorKind::kModel, file, message, hint);
}

constexpr std::string_view kDamaged = "the file is damaged; download it again";

// Bytes that no UTF-8 text holds: C0, C1 and F5 to FF.
bool IsUtf8Byte(unsigned byte) { return byte < 0xC0 || (byte > 0xC1 && byte < 0xF5); }

}  // namespace

Bpe::Bpe(const BpeSource& source, std::string_view file)
    : byte_level_(source.byte_level), ignore_merges_(source.ignore_merges) {
  AddVocabulary(source, file);
  AddMerges(source, file);
  if (byte_level_) FindBytes(file);
}

void Bpe::AddVocabulary(const BpeSource& source, std::string_view file) {
  tokens_.Reserve(source.vocabulary.size(), source.texts.size());
  entries_ = source.vocabulary.size();
  std::string bytes;
  for (const BpeSource::Entry& entry : source.vocabulary) {
    const std::string_view text = source.TextOf(entry.text);
    if (Has(entry.id)) {
      Refuse(file, fmt::format("two vocabulary entries have id {}; one is \"{}\"", entry.id, text),
             kDamaged);
    }
    id_count_ = std::max<size_t>(id_count_, size_t{entry.id} + 1);
    if (byte_level_ && !BytesOfChars(text, bytes)) {
      if (!foreign_.emplace(text, entry.id).second) {
        Refuse(file, fmt::format("vocabulary entry \"{}\" appears twice", text), kDamaged);
      }
      foreign_texts_.emplace(entry.id, text);
      continue;
    }
    if (tokens_.Add(byte_level_ ? std::string_view(bytes) : text, entry.id) != kNoToken) {
      Refuse(file, fmt::format("vocabulary entry \"{}\" appears twice", text), kDamaged);
    }
  }
}

void Bpe::AddMerges(const BpeSource& source, std::string_view file) {
  merges_.Reserve(source.merges.size());
  std::string joined;
  for (size_t rank = 0; rank < source.merges.size(); ++rank) {
    const std::string_view left = source.TextOf(source.merges[rank].left);
    const std::string_view right = source.TextOf(source.merges[rank].right);
    const auto refuse = [&](std::string_view missing) {
      Refuse(
          file,
          fmt::format("merge {} (\"{}\" and \"{}\") needs \"{}\", which is not in the vocabulary",
                      rank, left, right, missing),
          "vocabulary and merges must come from the same model");
    };
    const std::optional<uint32_t> left_id = Find(left);
    if (!left_id) refuse(left);
    const std::optional<uint32_t> right_id = Find(right);
    if (!right_id) refuse(right);
    joined.assign(left).append(right);
    const std::optional<uint32_t> result = Find(joined);
    if (!result) refuse(joined);
    // A pair that comes twice has its last rank, as in the reference.
    merges_.Set(*left_id, *right_id, {static_cast<uint32_t>(rank), *result});
  }
}

void Bpe::FindBytes(std::string_view file) {
  for (unsigned byte = 0; byte < 256; ++byte) {
    const char text = static_cast<char>(byte);
    byte_ids_[byte] = tokens_.Find({&text, 1});
    if (byte_ids_[byte] == kNoToken && IsUtf8Byte(byte)) {
      // The reference would drop such bytes from the text without a word.
      Refuse(file, fmt::format("the vocabulary has no token for byte 0x{:02X}", byte),
             "a byte-level vocabulary needs all bytes of UTF-8 text");
    }
  }
}

std::optional<uint32_t> Bpe::Find(std::string_view entry) const {
  uint32_t id = kNoToken;
  if (!byte_level_) {
    id = tokens_.Find(entry);
  } else if (std::string bytes; BytesOfChars(entry, bytes)) {
    id = tokens_.Find(bytes);
  } else if (const auto found = foreign_.find(entry); found != foreign_.end()) {
    id = found->second;
  }
  return id == kNoToken ? std::nullopt : std::optional(id);
}

std::string_view Bpe::BytesOf(uint32_t id) const {
  if (tokens_.Has(id)) return tokens_.TextOf(id);
  return foreign_texts_.at(id);
}

void Bpe::Encode(std::string_view piece, Scratch& scratch, std::vector<int32_t>& out) const {
  if (piece.size() >= std::numeric_limits<uint32_t>::max()) {
    throw Error(ErrorKind::kRequest, "text", "one word of 4 GiB", "send a shorter text");
  }
  if (ignore_merges_) {
    const uint32_t whole = tokens_.Find(piece);
    if (whole != kNoToken) {
      out.push_back(static_cast<int32_t>(whole));
      return;
    }
  }
  StartSymbols(piece, scratch);
  if (scratch.ids.size() <= kShortPiece) {
    MergeShort(scratch);
  } else {
    MergeLong(scratch);
  }
  out.insert(out.end(), scratch.ids.begin(), scratch.ids.end());
}

void Bpe::StartSymbols(std::string_view piece, Scratch& scratch) const {
  scratch.ids.clear();
  if (byte_level_) {
    for (const char byte : piece) {
      scratch.ids.push_back(byte_ids_[static_cast<unsigned char>(byte)]);
    }
    return;
  }
  for (size_t at = 0; at < piece.size();) {
    const size_t bytes = ReadValid(piece, at).bytes;
    const uint32_t id = tokens_.Find(piece.substr(at, bytes));
    if (id == kNoToken) {
      throw Error(ErrorKind::kRequest, "text",
                  fmt::format("the vocabulary has no token for \"{}\"", piece.substr(at, bytes)),
                  "this model does not know the character");
    }
    scratch.ids.push_back(id);
    at += bytes;
  }
}

// merges[i] is the merge of ids[i] and ids[i + 1]; the lowest rank goes first, leftmost among
// equals.
void Bpe::MergeShort(Scratch& scratch) const {
  std::vector<uint32_t>& ids = scratch.ids;
  std::vector<Merge>& merges = scratch.merges;
  merges.clear();
  for (size_t i = 0; i + 1 < ids.size(); ++i) merges.push_back(merges_.Find(ids[i], ids[i + 1]));
  while (!merges.empty()) {
    size_t best = 0;
    for (size_t i = 1; i < merges.size(); ++i) {
      if (merges[i].rank < merges[best].rank) best = i;
    }
    if (merges[best].rank == kNoToken) return;
    ids[best] = merges[best].result;
    ids.erase(ids.begin() + static_cast<ptrdiff_t>(best) + 1);
    merges.erase(merges.begin() + static_cast<ptrdiff_t>(best));
    if (best < merges.size()) merges[best] = merges_.Find(ids[best], ids[best + 1]);
    if (best > 0) merges[best - 1] = merges_.Find(ids[best - 1], ids[best]);
  }
}

// The same over a linked list, with a heap of (rank, index). An entry of the heap counts while the
// pair at its index still has its rank.
void Bpe::MergeLong(Scratch& scratch) const {
  std::vector<uint32_t>& ids = scratch.ids;
  const auto count = static_cast<uint32_t>(ids.size());
  auto& [unused, next, previous, merges, queue] = scratch;
  next.resize(count);
  previous.resize(count);
  merges.assign(count, Merge{});
  queue.clear();
  const auto entry = [](uint32_t rank, uint32_t at) { return uint64_t{rank} << 32 | at; };
  for (uint32_t at = 0; at < count; ++at) {
    next[at] = at + 1;
    previous[at] = at - 1;  // unused at 0
    if (at + 1 < count) merges[at] = merges_.Find(ids[at], ids[at + 1]);
    if (merges[at].rank != kNoToken) queue.push_back(entry(merges[at].rank, at));
  }
  std::make_heap(queue.begin(), queue.end(), std::greater<>());
  const auto renew = [&](uint32_t at) {
    merges[at] = next[at] < count ? merges_.Find(ids[at], ids[next[at]]) : Merge{};
    if (merges[at].rank == kNoToken) return;
    queue.push_back(entry(merges[at].rank, at));
    std::push_heap(queue.begin(), queue.end(), std::greater<>());
  };
  while (!queue.empty()) {
    std::pop_heap(queue.begin(), queue.end(), std::greater<>());
    const auto rank = static_cast<uint32_t>(queue.back() >> 32);
    const auto at = static_cast<uint32_t>(queue.back());
    queue.pop_back();
    if (merges[at].rank != rank) continue;
    const uint32_t gone = next[at];
    ids[at] = merges[at].result;
    merges[gone] = Merge{};
    next[at] = next[gone];
    if (next[at] < count) previous[next[at]] = at;
    renew(at);
    if (at > 0) renew(previous[at]);
  }
  uint32_t kept = 0;
  for (uint32_t at = 0; at < count; at = next[at]) ids[kept++] = ids[at];
  ids.resize(kept);
}

}  // namespace assay::text

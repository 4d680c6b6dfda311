// The two hash tables of a BPE model: token text to id, and pair of ids to merge. Filled once, then
// only read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace assay::text {

inline constexpr uint32_t kNoToken = ~uint32_t{0};

inline uint64_t MixBits(uint64_t bits) {
  bits *= 0x9E3779B97F4A7C15u;
  return bits ^ (bits >> 32);
}

inline uint64_t HashBytes(std::string_view bytes) {
  uint64_t hash = bytes.size();
  const char* p = bytes.data();
  size_t left = bytes.size();
  for (; left >= 8; p += 8, left -= 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    hash = MixBits(hash ^ word);
  }
  uint64_t word = 0;
  for (size_t i = 0; i < left; ++i) word |= uint64_t{static_cast<unsigned char>(p[i])} << (8 * i);
  return MixBits(MixBits(hash ^ word));
}

// A number of slots, a power of two, that `count` entries fill to at most half.
inline size_t SlotCount(size_t count) {
  size_t slots = 16;
  while (slots < count * 2) slots *= 2;
  return slots;
}

// Token texts, end to end in one block, and their ids. Ids may have gaps.
class TokenTable {
 public:
  void Reserve(size_t tokens, size_t bytes) {
    slots_.assign(SlotCount(tokens), Slot{});
    bytes_.reserve(bytes);
  }

  // Adds a token; Reserve() came before with room for it. Returns the id of an equal text that is
  // there already, else kNoToken. `id` must be new.
  uint32_t Add(std::string_view text, uint32_t id) {
    const uint64_t hash = HashBytes(text);
    size_t at = hash & (slots_.size() - 1);
    for (; slots_[at].id != kNoToken; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at].tag == Tag(hash) && TextOf(slots_[at].id) == text) return slots_[at].id;
    }
    slots_[at] = {Tag(hash), id};
    if (id >= places_.size()) places_.resize(id + 1);
    places_[id] = {static_cast<uint32_t>(bytes_.size()), static_cast<uint32_t>(text.size()), true};
    bytes_.insert(bytes_.end(), text.begin(), text.end());
    return kNoToken;
  }

  // The id of `text`, or kNoToken.
  uint32_t Find(std::string_view text) const {
    const uint64_t hash = HashBytes(text);
    for (size_t at = hash & (slots_.size() - 1); slots_[at].id != kNoToken;
         at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at].tag == Tag(hash) && TextOf(slots_[at].id) == text) return slots_[at].id;
    }
    return kNoToken;
  }

  bool Has(uint32_t id) const { return id < places_.size() && places_[id].used; }
  // Has(id) must hold. Valid until the next Add.
  std::string_view TextOf(uint32_t id) const {
    return {bytes_.data() + places_[id].first, places_[id].bytes};
  }
  // One more than the highest id.
  size_t id_count() const { return places_.size(); }

 private:
  struct Slot {
    uint32_t tag = 0;  // other bits of the hash, so that most misses touch no text
    uint32_t id = kNoToken;
  };
  struct Place {
    uint32_t first = 0;
    uint32_t bytes = 0;
    bool used = false;
  };
  static uint32_t Tag(uint64_t hash) { return static_cast<uint32_t>(hash >> 32); }

  std::vector<Slot> slots_;
  std::vector<Place> places_;  // by id
  std::vector<char> bytes_;
};

// What joining two tokens gives. A lower rank is merged first.
struct Merge {
  uint32_t rank = kNoToken;  // kNoToken: the pair does not merge
  uint32_t result = 0;
};

class MergeTable {
 public:
  void Reserve(size_t merges) { slots_.assign(SlotCount(merges), Slot{}); }

  // A pair that is there already gets the new merge.
  void Set(uint32_t left, uint32_t right, Merge merge) {
    const uint64_t pair = Pair(left, right);
    size_t at = MixBits(pair) & (slots_.size() - 1);
    while (slots_[at].merge.rank != kNoToken && slots_[at].pair != pair) {
      at = (at + 1) & (slots_.size() - 1);
    }
    slots_[at] = {pair, merge};
  }

  Merge Find(uint32_t left, uint32_t right) const {
    const uint64_t pair = Pair(left, right);
    for (size_t at = MixBits(pair) & (slots_.size() - 1); slots_[at].merge.rank != kNoToken;
         at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at].pair == pair) return slots_[at].merge;
    }
    return {};
  }

 private:
  struct Slot {
    uint64_t pair = 0;
    Merge merge;
  };
  static uint64_t Pair(uint32_t left, uint32_t right) { return uint64_t{left} << 32 | right; }

  std::vector<Slot> slots_;
};

}  // namespace assay::text

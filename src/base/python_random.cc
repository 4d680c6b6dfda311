#include "base/python_random.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "assay/error.h"

namespace assay {
namespace {

// The number's 32-bit words, lowest first; at least one.
std::vector<uint32_t> WordsOf(std::string_view digits) {
  std::vector<uint32_t> words{0};
  for (const char digit : digits) {
    uint64_t carry = static_cast<uint64_t>(digit - '0');
    for (uint32_t& word : words) {
      carry += uint64_t{word} * 10;
      word = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
    if (carry != 0) words.push_back(static_cast<uint32_t>(carry));
  }
  return words;
}

}  // namespace

PythonRandom::PythonRandom(std::string_view seed) {
  std::string_view digits = seed;
  if (digits.starts_with('-')) digits.remove_prefix(1);
  const bool number = !digits.empty() && std::all_of(digits.begin(), digits.end(),
                                                     [](char c) { return c >= '0' && c <= '9'; });
  if (!number || digits.size() > kMaxSeedDigits) {
    throw Error(ErrorKind::kRequest, "seed", "is not a seed",
                fmt::format("a whole number of at most {} digits", kMaxSeedDigits));
  }
  SeedArray(WordsOf(digits));
}

// Matsumoto and Nishimura 2002: init_genrand, init_by_array, genrand_int32.
void PythonRandom::SeedOne(uint32_t seed) {
  state_[0] = seed;
  for (size_t i = 1; i < kWords; ++i) {
    state_[i] = 1812433253U * (state_[i - 1] ^ (state_[i - 1] >> 30)) + static_cast<uint32_t>(i);
  }
}

void PythonRandom::SeedArray(std::span<const uint32_t> key) {
  SeedOne(19650218U);
  size_t i = 1;
  const auto mix = [&](uint32_t factor) {
    return state_[i] ^ ((state_[i - 1] ^ (state_[i - 1] >> 30)) * factor);
  };
  const auto step = [&] {
    if (++i < kWords) return;
    state_[0] = state_[kWords - 1];
    i = 1;
  };
  size_t j = 0;
  for (size_t k = std::max(kWords, key.size()); k > 0; --k) {
    state_[i] = mix(1664525U) + key[j] + static_cast<uint32_t>(j);
    step();
    j = (j + 1) % key.size();
  }
  for (size_t k = kWords - 1; k > 0; --k) {
    state_[i] = mix(1566083941U) - static_cast<uint32_t>(i);
    step();
  }
  state_[0] = 0x80000000U;
  next_ = kWords;
}

void PythonRandom::Refill() {
  constexpr size_t kShift = 397;
  for (size_t i = 0; i < kWords; ++i) {
    const uint32_t y = (state_[i] & 0x80000000U) | (state_[(i + 1) % kWords] & 0x7FFFFFFFU);
    state_[i] = state_[(i + kShift) % kWords] ^ (y >> 1) ^ ((y & 1U) != 0 ? 0x9908B0DFU : 0U);
  }
  next_ = 0;
}

uint32_t PythonRandom::Bits32() {
  if (next_ == kWords) Refill();
  uint32_t y = state_[next_++];
  y ^= y >> 11;
  y ^= (y << 7) & 0x9D2C5680U;
  y ^= (y << 15) & 0xEFC60000U;
  return y ^ (y >> 18);
}

uint32_t PythonRandom::Below(uint32_t count) {
  ASSAY_CHECK(count > 0);
  const int unused = 32 - std::bit_width(count);
  uint32_t value = 0;
  do {
    value = Bits32() >> unused;
  } while (value >= count);
  return value;
}

}  // namespace assay

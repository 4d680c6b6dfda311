#include "kernels/peak.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <span>

#include "base/aligned.h"
#include "base/check.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/peak.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::ScalableTag<float>;

// Independent sums: more than a multiply-add's latency times the units of a core, and few enough
// for the 16 registers of avx2.
constexpr size_t kSums = 12;

// kSums x Lanes multiply-adds a step. Returns something that depends on all of them.
float MultiplyAdds(size_t steps, float factor, float term) {
  const F32 d;
  const auto factors = hn::Set(d, factor);
  const auto terms = hn::Set(d, term);
  hn::Vec<F32> sums[kSums];
  for (size_t i = 0; i < kSums; ++i) sums[i] = hn::Set(d, static_cast<float>(i));
  for (size_t step = 0; step < steps; ++step) {
    for (size_t i = 0; i < kSums; ++i) sums[i] = hn::MulAdd(sums[i], factors, terms);
  }
  for (size_t i = 1; i < kSums; ++i) sums[0] = hn::Add(sums[0], sums[i]);
  return hn::GetLane(hn::SumOfLanes(d, sums[0]));
}

size_t OperationsPerStep() { return 2 * kSums * hn::Lanes(F32()); }

// The sum of a slice; its length is a multiple of eight vectors.
float SumSlice(std::span<const float> slice) {
  const F32 d;
  const size_t lanes = hn::Lanes(d);
  hn::Vec<F32> sums[8];
  for (auto& sum : sums) sum = hn::Zero(d);
  for (size_t at = 0; at + 8 * lanes <= slice.size(); at += 8 * lanes) {
    for (size_t i = 0; i < 8; ++i) {
      sums[i] = hn::Add(sums[i], hn::LoadU(d, slice.data() + at + i * lanes));
    }
  }
  for (size_t i = 1; i < 8; ++i) sums[0] = hn::Add(sums[0], sums[i]);
  return hn::GetLane(hn::SumOfLanes(d, sums[0]));
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(MultiplyAdds);
HWY_EXPORT(OperationsPerStep);
HWY_EXPORT(SumSlice);

namespace {

using Clock = std::chrono::steady_clock;

// One task of a read: small enough that threads finish together, a multiple of every vector step.
constexpr size_t kSliceFloats = size_t{1} << 18;

// Results go here, so that no compiler may leave out what makes them.
std::atomic<float> kept{0};

template <typename F>
double Seconds(F&& work) {
  const Clock::time_point start = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Steps a second of all threads together, when each runs work(steps) at the same time.
template <typename F>
double BestRate(Threads& threads, const PeakOptions& options, F&& work) {
  ASSAY_CHECK(options.tries > 0 && options.seconds > 0);
  const auto seconds_of = [&](size_t steps) {
    return Seconds([&] { threads.Run(threads.count(), [&](size_t) { work(steps); }); });
  };
  size_t steps = 256;
  double seconds = seconds_of(steps);
  while (seconds < options.seconds) {
    steps *= 2;
    seconds = seconds_of(steps);
  }
  for (size_t i = 1; i < options.tries; ++i) seconds = std::min(seconds, seconds_of(steps));
  return static_cast<double>(steps * threads.count()) / seconds;
}

}  // namespace

double MultiplyAddsPeak(Threads& threads, const PeakOptions& options) {
  const double steps = BestRate(threads, options, [](size_t count) {
    // Half of the sum plus a half: stays near 1, far from infinities and denormals.
    kept.store(HWY_DYNAMIC_DISPATCH(MultiplyAdds)(count, 0.5f, 0.5f));
  });
  return steps * static_cast<double>(HWY_DYNAMIC_DISPATCH(OperationsPerStep)());
}

double Bf16Peak(Threads& threads, const Bf16Unit& unit, const PeakOptions& options) {
  const double blocks = BestRate(threads, options, [&](size_t count) {
    constexpr size_t kStripValues = kBf16Strip * kBf16Step * kBf16Chunk;
    constexpr size_t kTileValues = kBf16StepValues * kBf16Chunk;
    const Aligned<uint16_t> values = AlignedArray<uint16_t>(2 * (kStripValues + kTileValues));
    std::fill_n(values.get(), 2 * (kStripValues + kTileValues), uint16_t{0x3f80});
    const Aligned<float> sums = AlignedArray<float>(4 * kBf16Sums);
    Bf16Block block;
    block.strips = block.tiles = 2;
    block.steps = kBf16Chunk;
    block.row_bytes = kBf16Step * sizeof(uint16_t);
    block.step_bytes = kBf16Strip * block.row_bytes;
    for (size_t i = 0; i < 2; ++i) {
      block.weights[i] = reinterpret_cast<const char*>(values.get() + i * kStripValues);
      block.x[i] = values.get() + 2 * kStripValues + i * kTileValues;
      for (size_t j = 0; j < 2; ++j) block.sums[i][j] = sums.get() + (2 * i + j) * kBf16Sums;
    }
    unit.begin();
    for (size_t i = 0; i < count; ++i) unit.multiply(block);
    unit.end();
    kept.store(sums[0]);
  });
  constexpr size_t kProducts = 4 * kBf16Sums * kBf16Step * kBf16Chunk;
  return blocks * static_cast<double>(2 * kProducts);
}

double ReadBandwidth(Threads& threads, const PeakOptions& options) {
  ASSAY_CHECK(options.tries > 0);
  const size_t slices = std::max<size_t>(1, options.buffer_bytes / (kSliceFloats * sizeof(float)));
  const auto buffer = std::make_unique_for_overwrite<float[]>(slices * kSliceFloats);
  const auto slice = [&](size_t s) {
    return std::span<float>(buffer.get() + s * kSliceFloats, kSliceFloats);
  };
  // Written by the threads that read: memory lies near whoever touches it first.
  threads.Run(slices, [&](size_t s) { std::ranges::fill(slice(s), 1.0f); });
  double seconds = 0;
  for (size_t i = 0; i < options.tries; ++i) {
    const double once = Seconds([&] {
      threads.Run(slices, [&](size_t s) { kept.store(HWY_DYNAMIC_DISPATCH(SumSlice)(slice(s))); });
    });
    seconds = i == 0 ? once : std::min(seconds, once);
  }
  return static_cast<double>(slices * kSliceFloats * sizeof(float)) / seconds;
}

}  // namespace assay::kernels
#endif  // HWY_ONCE

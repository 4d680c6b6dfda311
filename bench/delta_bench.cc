// The gated delta rule at the shapes of Kev-0.8B, all 18 layers of one pass: seconds by form, rows
// and threads.
//   build/release/bench/delta_bench [--benchmark_filter=REGEX]     ASSAY_CPU=avx2 forces a level
#include <benchmark/benchmark.h>

#include <cstdlib>

#include "base/aligned.h"
#include "kernels/conv_silu.h"
#include "kernels/cpu_level.h"
#include "kernels/delta_chunk.h"
#include "kernels/gates.h"
#include "kernels/rms_norm.h"

namespace assay {
namespace {

constexpr size_t kLayers = 18;
constexpr kernels::DeltaShape kShape = {16, 16, 128, 128};
// The first argument: 0 fused, 1 step, otherwise the chunk.
constexpr int64_t kFused = 0;
constexpr int64_t kStep = 1;

void DeltaRule(benchmark::State& state) {
  const int64_t form = state.range(0);
  const auto rows = static_cast<size_t>(state.range(1));
  Threads threads(static_cast<size_t>(state.range(2)));
  std::vector<float> qkv(rows * kShape.channels(), 0.05f);
  std::vector<float> beta(rows * kShape.value_heads, 0.5f);
  std::vector<float> g(rows * kShape.value_heads, -0.1f);
  std::vector<float> out(rows * kShape.value_width());
  AlignedFloats states(kLayers * kShape.state_floats());
  const size_t chunk = form > kStep ? static_cast<size_t>(form) : kernels::kChunkUnit;
  AlignedFloats open(kernels::OpenChunkFloats(kShape, chunk));
  for (auto _ : state) {
    for (size_t layer = 0; layer < kLayers; ++layer) {
      const kernels::DeltaPart part{{qkv.data(), rows, kShape.channels()},
                                    {beta.data(), rows, kShape.value_heads},
                                    {g.data(), rows, kShape.value_heads},
                                    states.data() + layer * kShape.state_floats(),
                                    {out.data(), rows, kShape.value_width()}};
      if (form == kFused) {
        kernels::DeltaRuleFused(threads, kShape, std::span(&part, 1));
      } else if (form == kStep) {
        kernels::DeltaRuleStep(threads, kShape, std::span(&part, 1));
      } else {
        const kernels::DeltaChunkPart chunked{part,
                                              kernels::OpenChunkAt(kShape, chunk, open.data()), 0};
        kernels::DeltaRuleChunk(threads, kShape, chunk, std::span(&chunked, 1));
      }
    }
  }
}
BENCHMARK(DeltaRule)
    ->ArgNames({"form", "rows", "threads"})
    ->ArgsProduct({{kFused, 16, 32, 64, 128}, {1, 16, 34, 402}, {1, 2}})
    ->Args({kStep, 402, 1})
    ->Args({kStep, 402, 2})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

// What stands around the rule in the same layers: convolution, norms, gates.
void AroundTheRule(benchmark::State& state) {
  const auto rows = static_cast<size_t>(state.range(0));
  Threads threads(static_cast<size_t>(state.range(1)));
  constexpr size_t kTaps = 4;
  const size_t channels = kShape.channels();
  const size_t heads = kShape.value_heads;
  const size_t width = kShape.key_width();
  std::vector<float> taps(kTaps * channels, 0.2f);
  std::vector<float> columns((kTaps - 1) * channels);
  std::vector<float> inputs(rows * channels, 0.1f);
  std::vector<float> outputs(rows * channels);
  std::vector<float> mixed(rows * kShape.value_width(), 0.1f);
  std::vector<float> gain(kShape.value_dim, 1);
  std::vector<float> b(rows * heads);
  std::vector<float> a(rows * heads);
  std::vector<float> per_head(heads, -1);
  const View2<float> qkv(outputs.data(), rows, channels);
  const View2<float> values(mixed.data(), rows * heads, kShape.value_dim);
  const View2<const float> gates(inputs.data(), rows * heads, kShape.value_dim);
  for (auto _ : state) {
    for (size_t layer = 0; layer < kLayers; ++layer) {
      const kernels::ConvSiluPart part{
          {inputs.data(), rows, channels}, {columns.data(), kTaps - 1, channels}, qkv};
      kernels::ConvSilu(threads, {taps.data(), kTaps, channels}, std::span(&part, 1));
      kernels::L2Norm(threads, kShape.key_dim, 1e-6f, 0.1f, qkv.Cols(0, width));
      kernels::L2Norm(threads, kShape.key_dim, 1e-6f, 1, qkv.Cols(width, width));
      kernels::DeltaGates(threads, per_head, per_head, {b.data(), rows, heads},
                          {a.data(), rows, heads});
      kernels::GatedNorm(threads, values, gain, 1e-6f, gates);
    }
  }
}
BENCHMARK(AroundTheRule)
    ->ArgNames({"rows", "threads"})
    ->ArgsProduct({{1, 34, 402}, {1, 2}})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace assay

int main(int argc, char** argv) {
  const char* level = std::getenv("ASSAY_CPU");
  assay::kernels::SelectCpuLevel(level == nullptr ? "" : level);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

// The gated delta rule at the shapes of Kev-0.8B, all 18 layers of one pass: seconds by form, rows
// and threads.
//   build/release/bench/delta_bench [--benchmark_filter=REGEX]     ASSAY_CPU=avx2 forces a level
#include <benchmark/benchmark.h>

#include <cstdlib>

#include "base/aligned.h"
#include "kernels/cpu_level.h"
#include "kernels/delta_chunk.h"

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

}  // namespace
}  // namespace assay

int main(int argc, char** argv) {
  const char* level = std::getenv("ASSAY_CPU");
  assay::kernels::SelectCpuLevel(level == nullptr ? "" : level);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

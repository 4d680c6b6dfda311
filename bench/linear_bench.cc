// The linear layer on one thread: multiply-adds a second by shape and rows, against the machine's
// own peak.
//   build/release/bench/linear_bench [--benchmark_filter=REGEX]     ASSAY_CPU=avx2 forces a level,
//   ASSAY_COMPUTE=bf16x3 takes another form
#include <benchmark/benchmark.h>

#include <cstdlib>

#include "base/bf16.h"
#include "kernels/cpu_level.h"
#include "kernels/linear.h"

namespace assay {
namespace {

// Weights of some layers, so that they come from memory as in a model and not from a cache.
constexpr size_t kWeightBytes = size_t{256} << 20;

void LinearRows(benchmark::State& state) {
  const auto inputs = static_cast<size_t>(state.range(0));
  const auto outputs = static_cast<size_t>(state.range(1));
  const auto rows = static_cast<size_t>(state.range(2));
  const size_t layers = std::max<size_t>(1, kWeightBytes / (inputs * outputs * 2));
  std::vector<uint16_t> weights(layers * inputs * outputs);
  for (size_t i = 0; i < weights.size(); ++i) {
    weights[i] = static_cast<uint16_t>(0x3c00 + (i * 2654435761u >> 24));
  }
  std::vector<float> x(rows * inputs, 0.5f);
  std::vector<float> y(rows * outputs);
  Threads threads(1);
  const char* form = std::getenv("ASSAY_COMPUTE");
  const kernels::Compute compute = kernels::ChooseCompute(form == nullptr ? "f32" : form);
  size_t layer = 0;
  for (auto _ : state) {
    const kernels::WeightMatrix weight{weights.data() + layer * inputs * outputs,
                                       kernels::WeightType::kBf16, outputs, inputs};
    const kernels::LinearPart part{weight, {y.data(), rows, outputs}};
    kernels::Linear(threads, {x.data(), rows, inputs}, std::span(&part, 1),
                    kernels::Epilogue::kStore, compute);
    layer = (layer + 1) % layers;
  }
  const auto done = static_cast<double>(state.iterations());
  state.counters["GFLOP/s"] = benchmark::Counter(
      done * 2e-9 * static_cast<double>(inputs * outputs * rows), benchmark::Counter::kIsRate);
  state.counters["GB/s"] = benchmark::Counter(done * 2e-9 * static_cast<double>(inputs * outputs),
                                              benchmark::Counter::kIsRate);
}
BENCHMARK(LinearRows)
    ->ArgsProduct({{2048}, {2048}, {1, 4, 16, 39, 94, 402}})
    ->Args({10752, 2048, 39})
    ->Args({10752, 2048, 402})
    ->Args({2048, 10752, 402})
    ->Args({10752, 48, 402})
    ->Args({10752, 1, 402})
    ->Args({8192, 2048, 402})
    ->Args({4096, 2048, 402});

}  // namespace
}  // namespace assay

int main(int argc, char** argv) {
  const char* level = std::getenv("ASSAY_CPU");
  assay::kernels::SelectCpuLevel(level == nullptr ? "" : level);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

#include "families/kev/merge.h"

#include <fmt/format.h>

#include <cstring>

#include "assay/error.h"
#include "base/bf16.h"

namespace assay::families::kev {
namespace {

kernels::WeightType TypeOf(Merge merge) {
  return merge == Merge::kF32 ? kernels::WeightType::kF32 : kernels::WeightType::kBf16;
}

size_t BytesOf(const nn::Qwen35Module& module, Merge merge) {
  return module.outputs() * kernels::RowBytes(TypeOf(merge), module.inputs());
}

std::vector<float> Widened(const kernels::WeightMatrix& matrix) {
  std::vector<float> out(matrix.rows * matrix.cols);
  for (size_t r = 0; r < matrix.rows; ++r)
    WidenRow(matrix, r, {out.data() + r * matrix.cols, matrix.cols});
  return out;
}

// Row n of W', into `out` in the type that is asked for.
void MergeRow(const kernels::WeightMatrix& weight, const kernels::LowRank& adapter,
              std::span<const float> a, size_t n, Merge merge, char* out) {
  const size_t inputs = weight.cols;
  const size_t rank = adapter.a.rows;
  std::vector<float> row(inputs);
  std::vector<float> delta(inputs, 0.0f);
  std::vector<float> b(rank);
  WidenRow(weight, n, row);
  WidenRow(adapter.b, n, b);
  for (size_t r = 0; r < rank; ++r) {
    for (size_t k = 0; k < inputs; ++k) delta[k] += b[r] * a[r * inputs + k];
  }
  for (size_t k = 0; k < inputs; ++k) row[k] += delta[k] * adapter.scale;
  if (merge == Merge::kF32) {
    std::memcpy(out, row.data(), inputs * sizeof(float));
    return;
  }
  for (size_t k = 0; k < inputs; ++k) {
    const Bf16 value = NarrowToBf16(row[k]);
    std::memcpy(out + k * sizeof value, &value, sizeof value);
  }
}

}  // namespace

Merge ParseMerge(std::string_view name) {
  if (name == "none") return Merge::kNone;
  if (name == "f32") return Merge::kF32;
  if (name == "bf16") return Merge::kBf16;
  throw Error(ErrorKind::kUsage, "--merge",
              fmt::format("'{}' is no way to merge", OneLine(name, 40)), "none, f32 or bf16");
}

size_t MergedBytes(std::span<const nn::Qwen35Module> modules, Merge merge) {
  size_t bytes = 0;
  if (merge == Merge::kNone) return bytes;
  for (const nn::Qwen35Module& module : modules) {
    if (module.linear->low_rank) bytes += BytesOf(module, merge);
  }
  return bytes;
}

std::vector<Aligned<char>> MergeAdapters(Threads& threads,
                                         std::span<const nn::Qwen35Module> modules, Merge merge) {
  std::vector<Aligned<char>> storage;
  if (merge == Merge::kNone) return storage;
  for (const nn::Qwen35Module& module : modules) {
    if (!module.linear->low_rank) continue;
    const kernels::WeightMatrix weight = module.linear->weight;
    const kernels::LowRank adapter = *module.linear->low_rank;
    const std::vector<float> a = Widened(adapter.a);
    storage.push_back(AlignedArray<char>(BytesOf(module, merge)));
    char* out = storage.back().get();
    const size_t row_bytes = kernels::RowBytes(TypeOf(merge), weight.cols);
    threads.Run(weight.rows,
                [&](size_t n) { MergeRow(weight, adapter, a, n, merge, out + n * row_bytes); });
    module.linear->weight = {out, TypeOf(merge), weight.rows, weight.cols};
    module.linear->low_rank.reset();
  }
  return storage;
}

}  // namespace assay::families::kev

// Adapters put into the weights instead of beside them (spec kev 1.5): the memory of a copy of the
// adapted layers, and no side products. Merging to bf16 rounds the sum: it moves p by up to 0.02 on
// the oracle's mid model (docs/kev.md).
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/aligned.h"
#include "base/threads.h"
#include "nn/qwen35.h"

namespace assay::families::kev {

enum class Merge { kNone, kF32, kBf16 };

// "none", "f32", "bf16"; throws Error(kUsage, "--merge") for another.
Merge ParseMerge(std::string_view name);

// Bytes of the merged copies of the layers that have an adapter.
size_t MergedBytes(std::span<const nn::Qwen35Module> modules, Merge merge);

// W' = W + scale (B A), in fp32 and rounded once, for every module with an adapter, which is then
// gone. The weights point into what is returned.
std::vector<Aligned<char>> MergeAdapters(Threads& threads,
                                         std::span<const nn::Qwen35Module> modules, Merge merge);

}  // namespace assay::families::kev

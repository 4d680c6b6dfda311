// Mistakes that an engine can make, made here by spoiling the input of a right one: the comparison
// with the golden must notice each (tools/oracle/README.md, "What mistakes cost").
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/bf16.h"
#include "replay.h"
#include "testing/temp_folder.h"
#include "tiny_checkpoint.h"

namespace assay::tests {
namespace {

using Values = std::span<uint16_t>;
using Folder = std::filesystem::path;

// Shapes of the tiny checkpoint: 96 wide, heads of 16 (6 and 2), attention in layers 2 and 4.
constexpr size_t kHeadDim = 16;
const std::vector<int> kAttention = {2, 4};
const std::vector<int> kConv = {0, 1, 3, 5};

std::string Layer(int n, const std::string& rest) {
  return fmt::format("model.language_model.layers.{}.{}.weight", n, rest);
}

void Edit(const Folder& folder, const std::vector<std::string>& names,
          const std::function<void(Values, size_t)>& edit) {
  for (const std::string& name : names) EditTensor(folder / "model.safetensors", name, edit);
}

std::vector<std::string> InLayers(const std::vector<int>& layers, const std::string& rest) {
  std::vector<std::string> out;
  for (const int n : layers) out.push_back(Layer(n, rest));
  return out;
}

// Swaps two equal blocks of rows.
void SwapRows(Values values, size_t rows, size_t a, size_t b, size_t count) {
  const size_t width = values.size() / rows;
  std::swap_ranges(values.begin() + static_cast<ptrdiff_t>(a * width),
                   values.begin() + static_cast<ptrdiff_t>((a + count) * width),
                   values.begin() + static_cast<ptrdiff_t>(b * width));
}

void Fill(Values values, float value) {
  std::fill(values.begin(), values.end(), static_cast<uint16_t>(NarrowToBf16(value)));
}

void Scale(Values values, float factor) {
  for (uint16_t& value : values)
    value = static_cast<uint16_t>(NarrowToBf16(Widen(static_cast<Bf16>(value)) * factor));
}

// Pairs (2i, 2i + 1) instead of (i, i + half): the rows of every head put in the other order.
void Interleave(Values values, size_t rows) {
  const size_t width = values.size() / rows;
  const std::vector<uint16_t> before(values.begin(), values.end());
  for (size_t row = 0; row < rows; ++row) {
    const size_t i = row % kHeadDim;
    const size_t from = row - i + (i < kHeadDim / 2 ? 2 * i : 2 * (i - kHeadDim / 2) + 1);
    std::copy_n(before.begin() + static_cast<ptrdiff_t>(from * width), width,
                values.begin() + static_cast<ptrdiff_t>(row * width));
  }
}

struct Mistake {
  std::string name;
  std::function<void(const Folder&)> make;
};

const std::vector<Mistake>& Mistakes() {
  static const std::vector<Mistake> mistakes = {
      {"InProjSplitInAnotherOrder",
       [](const Folder& f) {
         Edit(f, InLayers(kConv, "conv.in_proj"),
              [](Values v, size_t rows) { SwapRows(v, rows, 0, rows / 3, rows / 3); });
       }},
      {"ConvTapsReversed",
       [](const Folder& f) {
         Edit(f, InLayers(kConv, "conv.conv"), [](Values v, size_t /*rows*/) {
           for (size_t i = 0; i < v.size(); i += 3) std::swap(v[i], v[i + 2]);
         });
       }},
      {"ConvTapsOfPastLost",
       [](const Folder& f) {
         Edit(f, InLayers(kConv, "conv.conv"), [](Values v, size_t /*rows*/) {
           for (size_t i = 0; i < v.size(); i += 3) v[i] = v[i + 1] = 0;
         });
       }},
      {"NoNormOfQueries",
       [](const Folder& f) {
         Edit(f, InLayers(kAttention, "self_attn.q_layernorm"),
              [](Values v, size_t) { Fill(v, 1); });
       }},
      {"NormGainsPlusOne",
       [](const Folder& f) {
         Edit(f, InLayers(kAttention, "self_attn.k_layernorm"), [](Values v, size_t) {
           for (uint16_t& g : v)
             g = static_cast<uint16_t>(NarrowToBf16(Widen(static_cast<Bf16>(g)) + 1));
         });
       }},
      {"RotaryPairsInterleaved",
       [](const Folder& f) {
         Edit(f, InLayers(kAttention, "self_attn.q_proj"), Interleave);
         Edit(f, InLayers(kAttention, "self_attn.k_proj"), Interleave);
       }},
      {"ThetaOfTheSiblingModels",
       [](const Folder& f) { EditText(f / "config.json", "1000000.0", "10000000.0"); }},
      {"ThetaTenThousand",
       [](const Folder& f) { EditText(f / "config.json", "1000000.0", "10000.0"); }},
      {"KvHeadsSwapped",
       [](const Folder& f) {
         Edit(f, InLayers(kAttention, "self_attn.k_proj"),
              [](Values v, size_t rows) { SwapRows(v, rows, 0, kHeadDim, kHeadDim); });
         Edit(f, InLayers(kAttention, "self_attn.v_proj"),
              [](Values v, size_t rows) { SwapRows(v, rows, 0, kHeadDim, kHeadDim); });
       }},
      {"NoScaleOfScores",
       [](const Folder& f) {
         // sqrt(head_dim) = 4 times the queries is the same as no scale.
         Edit(f, InLayers(kAttention, "self_attn.q_layernorm"),
              [](Values v, size_t) { Scale(v, 4); });
       }},
      {"GateAndUpSwapped",
       [](const Folder& f) {
         std::vector<uint16_t> gate;
         Edit(f, {Layer(1, "feed_forward.w1")},
              [&](Values v, size_t) { gate.assign(v.begin(), v.end()); });
         std::vector<uint16_t> up = gate;
         Edit(f, {Layer(1, "feed_forward.w3")},
              [&](Values v, size_t) { std::swap_ranges(v.begin(), v.end(), up.begin()); });
         Edit(f, {Layer(1, "feed_forward.w1")},
              [&](Values v, size_t) { std::copy(up.begin(), up.end(), v.begin()); });
       }},
      {"NoFinalNormGain",
       [](const Folder& f) {
         Edit(f, {"model.language_model.embedding_norm.weight"},
              [](Values v, size_t) { Fill(v, 1); });
       }},
      {"NormEpsilonOfAnotherFamily",
       [](const Folder& f) {
         EditText(f / "config.json", "\"norm_eps\": 1e-05", "\"norm_eps\": 1e-06");
       }},
      {"IgnoreMergesOff",
       [](const Folder& f) {
         EditText(f / "tokenizer.json", "\"ignore_merges\": true", "\"ignore_merges\": false");
       }},
      {"SplitPatternOfQwen2",
       [](const Folder& f) {
         EditText(
             f / "tokenizer.json",
             R"('(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]|\\s+(?!\\S)|\\s)",
             R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+)");
       }},
      {"OneEmbeddingRowWrong",
       [](const Folder& f) {
         Edit(f, {"model.language_model.embed_tokens.weight"},
              [](Values v, size_t rows) { SwapRows(v, rows, 266, 268, 1); });
       }},
  };
  return mistakes;
}

class Red : public ::testing::TestWithParam<Mistake> {};

TEST_P(Red, TheComparisonNoticesTheMistake) {
  static const Corpus corpus = ReadCorpus("d1_tiny_seed1.json", "d1_public.json");
  const testing::TempFolder folder;
  CopyTiny(folder.path());
  GetParam().make(folder.path());
  const ReplayResult result = Replay(folder.path(), corpus);
  fmt::print("{}: max |dp| {:.1e}, {} other problems\n", GetParam().name, result.max_dp,
             result.problems.size());
  const bool ids_differ =
      std::any_of(result.problems.begin(), result.problems.end(),
                  [](const std::string& p) { return p.ends_with("has other ids"); });
  EXPECT_TRUE(result.max_dp > 10 * corpus.golden.noise_dp || ids_differ) << result.Text();
}

INSTANTIATE_TEST_SUITE_P(Mistakes, Red, ::testing::ValuesIn(Mistakes()),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace assay::tests

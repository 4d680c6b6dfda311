// The Qwen3.5 decoder against transformers' hidden rows, base weights with the adapter beside them.
// ASSAY_KEV_MID names the checkpoint (tools/oracle/kev.py make --size mid --seed 1), with base/ and
// kev/ in it; without it the test is skipped.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "families/kev/checkpoint.h"
#include "families/tensors.h"
#include "testing/fixtures.h"

namespace assay {
namespace {

namespace kev = families::kev;
using nn::DeltaForm;

class Model {
 public:
  Model(const std::filesystem::path& folder, DeltaForm form)
      : config_(formats::ReadQwen35Config(folder / "base")),
        base_(formats::Checkpoint::Open(folder / "base")),
        adapter_(formats::Checkpoint::OpenFile(folder / "kev/adapter_model.safetensors")) {
    nn::Qwen35Weights weights =
        kev::WeightsOf(config_, formats::BindTensors(base_, kev::TensorsOf(config_)));
    for (const nn::Qwen35Module& module : nn::Qwen35Modules(kev::ShapeOf(config_), weights)) {
      const auto part = [&](const char* name) {
        return families::MatrixOf(
            *adapter_.Find("base_model.model." + module.name + name + ".weight"));
      };
      // lora_alpha / r of the checkpoints that kev.py makes.
      module.linear->low_rank = kernels::LowRank{part(".lora_A"), part(".lora_B"), 2};
    }
    decoder_ = nn::MakeQwen35(kev::ShapeOf(config_), std::move(weights), {form, {}});
  }

  // All rows after the final norm; the sequence goes in in two calls, cut at `cut`.
  std::vector<float> Run(const std::vector<int32_t>& ids, size_t cut) const {
    const size_t width = decoder_->hidden_size();
    std::vector<float> out(ids.size() * width);
    nn::State state(decoder_->state_shape());
    Threads threads(2);
    for (const auto& [first, count] : {std::pair(size_t{0}, cut), {cut, ids.size() - cut}}) {
      std::vector<size_t> wanted(count);
      for (size_t i = 0; i < count; ++i) wanted[i] = i;
      nn::Segment segment{&state,
                          std::span(ids).subspan(first, count),
                          wanted,
                          {out.data() + first * width, count, width}};
      decoder_->Forward(threads, std::span(&segment, 1), {});
    }
    return out;
  }

 private:
  formats::Qwen35Config config_;
  formats::Checkpoint base_;
  formats::Checkpoint adapter_;
  std::unique_ptr<nn::Decoder> decoder_;
};

std::vector<float> FromBase64(const std::string& text) {
  std::string bytes;
  uint32_t bits = 0;
  size_t held = 0;
  for (const char c : text) {
    if (c == '=') break;
    const char* letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    bits = bits << 6 | static_cast<uint32_t>(std::strchr(letters, c) - letters);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes.push_back(static_cast<char>(bits >> held & 0xff));
  }
  std::vector<float> out(bytes.size() / sizeof(float));
  std::memcpy(out.data(), bytes.data(), out.size() * sizeof(float));
  return out;
}

class KevHidden : public ::testing::TestWithParam<DeltaForm> {};

TEST_P(KevHidden, RowsAreThoseOfTransformers) {
  const char* folder = std::getenv("ASSAY_KEV_MID");
  if (folder == nullptr) GTEST_SKIP() << "ASSAY_KEV_MID names no checkpoint";
  const Model model(folder, GetParam());
  const json::Value golden = testing::Golden("kev_mid_seed1_hidden.json");
  double largest = 0;
  double noise = 0;
  for (const json::Value& row : golden.Find("rows")->items()) {
    std::vector<int32_t> ids;
    for (const json::Value& id : row.Find("ids")->items())
      ids.push_back(static_cast<int32_t>(*id.int64()));
    const std::vector<float> expected = FromBase64(row.Find("hidden")->string());
    const std::vector<float> got = model.Run(ids, ids.size());
    ASSERT_EQ(got.size(), expected.size());
    for (size_t i = 0; i < got.size(); ++i)
      largest = std::max(largest, std::abs(static_cast<double>(got[i]) - expected[i]));
    noise = std::max(noise, row.Find("noise_abs")->number());
    EXPECT_EQ(model.Run(ids, ids.size() / 2), got);
  }
  RecordProperty("largest", std::to_string(largest));
  std::printf("largest difference %.3g, noise of the reference %.3g\n", largest, noise);
  EXPECT_LE(largest, 3 * noise);
}

INSTANTIATE_TEST_SUITE_P(Forms, KevHidden,
                         ::testing::Values(DeltaForm{}, DeltaForm{DeltaForm::Kind::kStep},
                                           DeltaForm{DeltaForm::Kind::kChunk, 16},
                                           DeltaForm{DeltaForm::Kind::kChunk, 64}));

}  // namespace
}  // namespace assay

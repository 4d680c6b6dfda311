#include "families/kev/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/error.h"
#include "testing/safetensors_writer.h"
#include "testing/temp_folder.h"

namespace assay::families::kev {
namespace {

using ::assay::testing::SafetensorsWriter;
using ::assay::testing::TempFolder;
using ::testing::HasSubstr;

formats::Qwen35Config Config() {
  using enum formats::Qwen35LayerKind;
  formats::Qwen35Config config;
  config.hidden = 8;
  config.layers = {kLinear, kAttention};
  config.mlp = 12;
  config.vocab = 20;
  config.heads = 4;
  config.kv_heads = 2;
  config.head_dim = 16;
  config.rotary_dims = 4;
  config.key_heads = 1;
  config.value_heads = 2;
  config.key_dim = config.value_dim = 16;
  config.conv_taps = 4;
  config.norm_eps = 1e-6;
  config.rope_theta = 1e7;
  return config;
}

// The names and shapes of the specification, written out.
std::vector<std::pair<std::string, std::vector<uint64_t>>> Published() {
  const std::string linear = "layers.0.linear_attn.", full = "layers.1.self_attn.";
  std::vector<std::pair<std::string, std::vector<uint64_t>>> out = {
      {"embed_tokens.weight", {20, 8}},
      {"norm.weight", {8}},
      {linear + "in_proj_qkv.weight", {64, 8}},
      {linear + "in_proj_z.weight", {32, 8}},
      {linear + "in_proj_b.weight", {2, 8}},
      {linear + "in_proj_a.weight", {2, 8}},
      {linear + "conv1d.weight", {64, 1, 4}},
      {linear + "A_log", {2}},
      {linear + "dt_bias", {2}},
      {linear + "norm.weight", {16}},
      {linear + "out_proj.weight", {8, 32}},
      {full + "q_proj.weight", {128, 8}},
      {full + "k_proj.weight", {32, 8}},
      {full + "v_proj.weight", {32, 8}},
      {full + "o_proj.weight", {8, 64}},
      {full + "q_norm.weight", {16}},
      {full + "k_norm.weight", {16}},
  };
  for (const std::string layer : {"layers.0.", "layers.1."}) {
    out.push_back({layer + "input_layernorm.weight", {8}});
    out.push_back({layer + "post_attention_layernorm.weight", {8}});
    out.push_back({layer + "mlp.gate_proj.weight", {12, 8}});
    out.push_back({layer + "mlp.up_proj.weight", {12, 8}});
    out.push_back({layer + "mlp.down_proj.weight", {8, 12}});
  }
  return out;
}

// A checkpoint of counted values: tensor `n` begins at n, A_log and the gated norm are fp32.
std::string Weights(const std::string& prefix, const std::string& without = "",
                    const std::string& spelled_otherwise = "") {
  SafetensorsWriter writer;
  float next = 0;
  for (const auto& [name, shape] : Published()) {
    if (name == without) continue;
    size_t count = 1;
    for (const uint64_t size : shape) count *= size;
    std::vector<float> values(count);
    for (size_t i = 0; i < count; ++i) values[i] = next + static_cast<float>(i % 64) / 4;
    const std::string source = (name == spelled_otherwise ? "model." : prefix) + name;
    if (name.ends_with("A_log") || name.ends_with("attn.norm.weight")) {
      writer.AddF32(source, shape, values);
    } else {
      writer.AddBf16(source, shape, values);
    }
    next += 1;
  }
  writer.AddZeros("mtp.fc.weight", {8, 16});
  writer.AddZeros("model.visual.patch_embed.proj.weight", {4});
  writer.AddZeros("lm_head.weight", {20, 8});
  return writer.Bytes();
}

std::string Problem(const std::string& bytes) {
  const TempFolder folder;
  const formats::Checkpoint checkpoint =
      formats::Checkpoint::OpenFile(folder.Write("model.safetensors", bytes));
  try {
    formats::BindTensors(checkpoint, TensorsOf(Config()));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(KevCheckpoint, ReadsEveryPublishedPrefix) {
  for (const std::string prefix : {"model.language_model.", "model.", ""})
    EXPECT_EQ(Problem(Weights(prefix)), "") << prefix;
}

TEST(KevCheckpoint, NamesWhatIsMissingOrMixed) {
  EXPECT_THAT(Problem(Weights("model.language_model.", "layers.0.linear_attn.dt_bias")),
              HasSubstr("1 missing: model.language_model.layers.0.linear_attn.dt_bias"));
  EXPECT_THAT(Problem(Weights("", "", "norm.weight")), HasSubstr("1 mixed spellings"));
}

TEST(KevCheckpoint, PutsEveryTensorInItsPlace) {
  const TempFolder folder;
  const formats::Checkpoint checkpoint = formats::Checkpoint::OpenFile(
      folder.Write("model.safetensors", Weights("model.language_model.")));
  const formats::BoundTensors tensors = formats::BindTensors(checkpoint, TensorsOf(Config()));
  EXPECT_THAT(tensors.notes(), ::testing::SizeIs(3));
  nn::Qwen35Weights weights = WeightsOf(Config(), tensors);
  const nn::Qwen35Shape shape = ShapeOf(Config());
  EXPECT_EQ(shape.layer_is_attention, (std::vector<bool>{false, true}));
  // The first value of a tensor is its place in Published().
  const nn::Qwen35DeltaWeights& delta = weights.layers[0].delta;
  EXPECT_EQ(weights.final_norm[0], 1);
  EXPECT_EQ(delta.taps[0], 6);
  EXPECT_EQ(delta.taps[1], 6 + 4 / 4.0f);   // tap 0 of the second channel
  EXPECT_EQ(delta.taps[64], 6 + 1 / 4.0f);  // tap 1 of the first
  EXPECT_EQ(delta.a_log, (std::vector<float>{7, 7.25f}));
  EXPECT_EQ(delta.dt_bias[0], 8);
  EXPECT_EQ(delta.norm[0], 9);
  EXPECT_EQ(weights.layers[1].attention.q_norm[0], 15);
  EXPECT_EQ(weights.layers[1].attention.k_norm[0], 16);
  EXPECT_EQ(weights.layers[0].input_norm[0], 17);
  EXPECT_EQ(weights.layers[0].post_norm[0], 18);
  for (const nn::Qwen35Module& module : nn::Qwen35Modules(shape, weights)) {
    const formats::Tensor* tensor =
        checkpoint.Find("model.language_model." + module.name + ".weight");
    ASSERT_NE(tensor, nullptr) << module.name;
    EXPECT_EQ(module.linear->weight.data, tensor->bytes.data()) << module.name;
    EXPECT_EQ(module.outputs(), tensor->shape[0]);
    EXPECT_EQ(module.inputs(), tensor->shape[1]);
  }
}

}  // namespace
}  // namespace assay::families::kev

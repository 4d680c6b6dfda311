#include "formats/qwen35_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "assay/error.h"
#include "base/file.h"

namespace assay::formats {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

json::Value Json(std::string_view text) { return json::Parse(text, ErrorKind::kFile, "test"); }

json::Value Published() {
  const auto path = std::filesystem::path(ASSAY_TEST_DATA) / "configs/qwen35_08b.json";
  return json::Parse(ReadFile(path, ErrorKind::kFile, 1 << 20), ErrorKind::kFile, "test");
}

json::Value& TextOf(json::Value& root) {
  for (auto& [key, value] : root.members()) {
    if (key == "text_config") return value;
  }
  return root;
}

// `value` "" removes the key.
void Set(json::Value& object, std::string_view key, std::string_view value) {
  auto& members = object.members();
  std::erase_if(members, [&](const auto& member) { return member.first == key; });
  if (!value.empty()) members.emplace_back(key, Json(value));
}

std::string Problem(const json::Value& root) {
  try {
    ParseQwen35Config(root);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kModel);
    return error.what();
  }
  return "";
}

void ExpectPublished(const Qwen35Config& config) {
  EXPECT_EQ(config.hidden, 1024u);
  ASSERT_EQ(config.layers.size(), 24u);
  for (size_t n = 0; n < 24; ++n)
    EXPECT_EQ(config.layers[n] == Qwen35LayerKind::kAttention, n % 4 == 3) << n;
  EXPECT_EQ(config.mlp, 3584u);
  EXPECT_EQ(config.vocab, 248320u);
  EXPECT_EQ(config.heads, 8u);
  EXPECT_EQ(config.kv_heads, 2u);
  EXPECT_EQ(config.head_dim, 256u);
  EXPECT_EQ(config.rotary_dims, 64u);
  EXPECT_EQ(config.key_heads, 16u);
  EXPECT_EQ(config.value_heads, 16u);
  EXPECT_EQ(config.key_dim, 128u);
  EXPECT_EQ(config.value_dim, 128u);
  EXPECT_EQ(config.conv_taps, 4u);
  EXPECT_EQ(config.norm_eps, 1e-6);
  EXPECT_EQ(config.rope_theta, 1e7);
  EXPECT_EQ(config.max_positions, 262144u);
  EXPECT_EQ(config.dtype, Dtype::kBf16);
  EXPECT_THAT(config.notes, IsEmpty());
}

TEST(Qwen35Config, ReadsThePublishedForm) { ExpectPublished(ParseQwen35Config(Published())); }

// As a merged full-weight checkpoint has it.
TEST(Qwen35Config, ReadsTheTextModelsOwnForm) {
  json::Value root = Published();
  const json::Value text = TextOf(root);
  ExpectPublished(ParseQwen35Config(text));
}

struct Change {
  const char* key;
  const char* value;
  const char* problem;
};

TEST(Qwen35Config, RefusesByNameWhatItWouldComputeWrongly) {
  const Change changes[] = {
      {"model_type", "\"qwen3_next\"", "text_config.model_type: is 'qwen3_next'"},
      {"attn_output_gate", "false", "text_config.attn_output_gate: is false: attention without"},
      {"attention_bias", "true", "attention_bias: is true: a bias in the attention projections"},
      {"hidden_act", "\"gelu\"", "text_config.hidden_act: is 'gelu'"},
      {"mlp_only_layers", "[1]", "mlp_only_layers: is not empty"},
      {"num_experts", "8", "num_experts: is present"},
      {"layer_types", "[\"full_attention\"]", "has 1 entries, but num_hidden_layers is 24"},
      {"full_attention_interval", "6", "is 6, which names other layers than layer_types"},
      {"full_attention_interval", "0", "full_attention_interval: is 0"},
      {"num_key_value_heads", "3", "is 3, which does not divide the 8 heads"},
      {"linear_num_key_heads", "5", "is 5, which does not divide the 16 value heads"},
      {"linear_key_head_dim", "100", "linear_key_head_dim: is 100 (a multiple of 16)"},
      {"linear_value_head_dim", "8", "linear_value_head_dim: is 8 (a multiple of 16)"},
      {"linear_value_head_dim", "", "linear_value_head_dim: is missing"},
      {"linear_conv_kernel_dim", "1", "linear_conv_kernel_dim: is 1"},
      {"hidden_size", "", "text_config.hidden_size: is missing"},
      {"hidden_size", "99999999", "text_config.hidden_size: is 99999999"},
      {"rms_norm_eps", "1", "rms_norm_eps: is 1"},
      {"rope_parameters", "{\"rope_type\":\"yarn\",\"rope_theta\":1e7}",
       "partial_rotary_factor: is missing"},
      {"rope_parameters",
       "{\"rope_type\":\"yarn\",\"rope_theta\":1e7,\"partial_rotary_factor\":0.25}",
       "rope_parameters.rope_type: is 'yarn'"},
      {"rope_parameters", "{\"partial_rotary_factor\":0.25}", "rope_theta: is missing"},
      {"rope_parameters", "{\"rope_theta\":1e7,\"partial_rotary_factor\":0.02}",
       "is 0.02, which rotates 5 of 256 dimensions"},
      {"partial_rotary_factor", "0.5", "is 0.5, but config.json: text_config.rope_parameters"},
  };
  for (const Change& change : changes) {
    json::Value root = Published();
    Set(TextOf(root), change.key, change.value);
    EXPECT_THAT(Problem(root), HasSubstr(change.problem)) << change.key;
  }
}

TEST(Qwen35Config, RefusesOtherModelsAndQuantizedOnes) {
  json::Value root = Published();
  Set(root, "model_type", "\"qwen3_5_moe\"");
  EXPECT_THAT(Problem(root), HasSubstr("config.json: model_type: is 'qwen3_5_moe'"));
  root = Published();
  Set(root, "quantization_config", "{}");
  EXPECT_THAT(Problem(root), HasSubstr("quantization_config: is present"));
  root = Published();
  Set(root, "text_config", "");
  EXPECT_THAT(Problem(root), HasSubstr("text_config: is missing"));
}

TEST(Qwen35Config, TheLayerPatternComesFromTheTypesOrTheInterval) {
  json::Value root = Published();
  Set(TextOf(root), "layer_types", "");
  ExpectPublished(ParseQwen35Config(root));
  Set(TextOf(root), "full_attention_interval", "");
  const Qwen35Config config = ParseQwen35Config(root);
  EXPECT_EQ(config.layers[3], Qwen35LayerKind::kAttention);
  EXPECT_THAT(config.notes, Contains(HasSubstr("full_attention_interval is absent")));
  root = Published();
  Set(TextOf(root), "full_attention_interval", "");
  ExpectPublished(ParseQwen35Config(root));
}

}  // namespace
}  // namespace assay::formats

#include "formats/lfm2_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "assay/error.h"
#include "base/file.h"

namespace assay::formats {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

json::Value Config(std::string_view name) {
  const auto path = std::filesystem::path(ASSAY_TEST_DATA) / "configs" / std::string(name);
  return json::Parse(ReadFile(path, ErrorKind::kFile, 1 << 20), ErrorKind::kFile, name);
}

json::Value Json(std::string_view text) { return json::Parse(text, ErrorKind::kFile, "test"); }

// The object at "text_config" or "" of a config.
json::Value& ObjectAt(json::Value& root, std::string_view object) {
  if (object.empty()) return root;
  for (auto& [key, value] : root.members()) {
    if (key == object) return value;
  }
  ADD_FAILURE() << "no " << object;
  return root;
}

void Set(json::Value& root, std::string_view object, std::string_view key, std::string_view text) {
  auto& members = ObjectAt(root, object).members();
  std::erase_if(members, [&](const auto& member) { return member.first == key; });
  if (!text.empty()) members.emplace_back(key, Json(text));
}

std::string Problem(const json::Value& root) {
  try {
    ParseLfm2VlConfig(root);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kModel);
    return error.what();
  }
  return "";
}

std::vector<size_t> AttentionLayers(const Lfm2TextConfig& text) {
  std::vector<size_t> layers;
  for (size_t i = 0; i < text.layers.size(); ++i) {
    if (text.layers[i] == Lfm2LayerKind::kAttention) layers.push_back(i);
  }
  return layers;
}

TEST(Lfm2Config, ReadsTheNewSpellings) {
  const Lfm2VlConfig config = ParseLfm2VlConfig(Config("d1_3b.json"));
  const Lfm2TextConfig& text = config.text;
  EXPECT_EQ(text.hidden, 2048u);
  EXPECT_EQ(text.layers.size(), 30u);
  EXPECT_THAT(AttentionLayers(text), ElementsAre(2, 5, 9, 13, 17, 21, 24, 27));
  EXPECT_EQ(text.heads, 32u);
  EXPECT_EQ(text.kv_heads, 8u);
  EXPECT_EQ(text.head_dim, 64u);
  EXPECT_EQ(text.mlp, 10752u);
  EXPECT_EQ(text.vocab, 128000u);
  EXPECT_EQ(text.norm_eps, 1e-5);
  EXPECT_EQ(text.conv_taps, 3u);
  EXPECT_EQ(text.rope_theta, 1e6);
  EXPECT_EQ(text.max_positions, 32768u);
  EXPECT_EQ(text.bos_id, 124894);
  EXPECT_THAT(text.eos_ids, ElementsAre(124900));
  EXPECT_EQ(text.pad_id, 124893);
  const Siglip2Config& vision = config.vision;
  EXPECT_EQ(vision.hidden, 1152u);
  EXPECT_EQ(vision.layers, 27u);
  EXPECT_EQ(vision.heads, 16u);
  EXPECT_EQ(vision.head_dim, 72u);
  EXPECT_EQ(vision.mlp, 4304u);
  EXPECT_EQ(vision.patch, 16u);
  EXPECT_EQ(vision.channels, 3u);
  EXPECT_EQ(vision.position_side, 16u);
  EXPECT_EQ(vision.norm_eps, 1e-6);
  EXPECT_EQ(config.image_token_id, 124907);
  EXPECT_EQ(config.downsample_factor, 2u);
  EXPECT_EQ(config.projector_hidden, 2048u);
  EXPECT_TRUE(config.tied);
  EXPECT_EQ(config.dtype, Dtype::kBf16);
  EXPECT_THAT(config.notes, IsEmpty());
}

TEST(Lfm2Config, ReadsTheOldSpellings) {
  const Lfm2VlConfig config = ParseLfm2VlConfig(Config("d1_tiny.json"));
  EXPECT_EQ(config.text.layers.size(), 6u);
  EXPECT_THAT(AttentionLayers(config.text), ElementsAre(2, 4));
  EXPECT_EQ(config.text.mlp, 224u);
  EXPECT_EQ(config.text.rope_theta, 1e6);
  EXPECT_EQ(config.text.head_dim, 16u);
  EXPECT_EQ(config.vision.hidden, 80u);
  EXPECT_TRUE(config.tied);
}

struct Change {
  const char* object;
  const char* key;
  const char* value;  // "" removes the key
  const char* problem;
};

TEST(Lfm2Config, RefusesByNameWhatItWouldComputeWrongly) {
  const Change changes[] = {
      {"", "model_type", "\"lfm2\"", "config.json: model_type: is 'lfm2', which is not supported"},
      {"", "projector_use_layernorm", "true", "is true: a LayerNorm in the projector is not"},
      {"", "projector_use_layernorm", "",
       "projector_use_layernorm: is missing, which the makers read as true"},
      {"", "projector_bias", "false", "projector_bias: is false"},
      {"", "projector_hidden_act", "\"relu\"", "projector_hidden_act: is 'relu'"},
      {"", "quantization_config", "{}", "quantization_config: is present"},
      {"", "image_token_id", "128000", "image_token_id: is 128000 (from 0 to 127999)"},
      {"", "image_token_id", "", "image_token_id: is missing"},
      {"", "tie_word_embeddings", "false", "tie_word_embeddings: is false, but config.json: text_"},
      {"", "text_config", "", "text_config: is missing"},
      {"text_config", "conv_bias", "true", "text_config.conv_bias: is true: a bias in the short"},
      {"text_config", "hidden_act", "\"gelu\"", "text_config.hidden_act: is 'gelu'"},
      {"text_config", "rope_parameters", "{\"rope_type\":\"yarn\",\"rope_theta\":1e6}",
       "text_config.rope_parameters.rope_type: is 'yarn'"},
      {"text_config", "rope_parameters", "", "text_config.rope_theta: is missing"},
      {"text_config", "partial_rotary_factor", "0.5", "partial_rotary_factor: is 0.5"},
      {"text_config", "layer_types", "", "text_config.layer_types: is missing"},
      {"text_config", "layer_types", "[\"conv\"]", "has 1 entries, but num_hidden_layers is 30"},
      {"text_config", "full_attn_idxs", "[2,5]", "names other layers than layer_types"},
      {"text_config", "full_attn_idxs", "[30]", "full_attn_idxs[0]: is 30 (from 0 to 29)"},
      {"text_config", "block_ff_dim", "1", "block_ff_dim: is 1, but its other spelling"},
      {"text_config", "num_key_value_heads", "7", "is 7, which does not divide the 32 heads"},
      {"text_config", "num_attention_heads", "24", "is 24, which does not divide hidden_size"},
      {"text_config", "head_dim", "63", "head_dim: is 63"},
      {"text_config", "hidden_size", "", "text_config.hidden_size: is missing"},
      {"text_config", "hidden_size", "99999999", "text_config.hidden_size: is 99999999"},
      {"vision_config", "vision_use_head", "true", "vision_config.vision_use_head: is true"},
      {"vision_config", "vision_use_head", "", "is missing, which the makers read as true"},
      {"vision_config", "hidden_act", "\"gelu\"", "vision_config.hidden_act: is 'gelu'"},
      {"vision_config", "num_attention_heads", "7", "does not divide hidden_size 1152"},
      {"vision_config", "num_patches", "255",
       "num_patches: is 255; the position table is a square"},
      {"vision_config", "num_channels", "4", "num_channels: is 4"},
  };
  for (const Change& change : changes) {
    json::Value root = Config("d1_3b.json");
    Set(root, change.object, change.key, change.value);
    const std::string problem = Problem(root);
    EXPECT_THAT(problem, HasSubstr(change.problem)) << change.key;
  }
}

TEST(Lfm2Config, AcceptsWhatMeansTheSame) {
  const Change changes[] = {
      {"text_config", "full_attn_idxs", "[27,2,5,9,13,17,21,24]", ""},
      {"text_config", "full_attn_idxs", "null", ""},
      {"text_config", "rope_theta", "1000000", ""},
      {"text_config", "rope_parameters",
       R"({"full_attention":{"rope_theta":1e6,"rope_type":"default"},"conv":{}})", ""},
      {"text_config", "head_dim", "64", ""},
      {"text_config", "tie_word_embeddings", "", ""},
      {"text_config", "model_type", "", ""},
      {"text_config", "some_training_key", "7", ""},
      {"", "tie_word_embeddings", "", ""},
  };
  for (const Change& change : changes) {
    json::Value root = Config("d1_3b.json");
    Set(root, change.object, change.key, change.value);
    EXPECT_EQ(Problem(root), "") << change.key;
  }
}

TEST(Lfm2Config, HeadDimOfTheConfigWins) {
  json::Value root = Config("d1_3b.json");
  Set(root, "text_config", "head_dim", "128");
  EXPECT_EQ(ParseLfm2VlConfig(root).text.head_dim, 128u);
}

TEST(Lfm2Config, SeveralEndIdsAreKept) {
  json::Value root = Config("d1_3b.json");
  Set(root, "text_config", "eos_token_id", "[5,6]");
  Set(root, "text_config", "bos_token_id", "null");
  const Lfm2VlConfig config = ParseLfm2VlConfig(root);
  EXPECT_THAT(config.text.eos_ids, ElementsAre(5, 6));
  EXPECT_EQ(config.text.bos_id, std::nullopt);
}

TEST(Lfm2Config, MlpWidthFollowsTheAdjustRule) {
  EXPECT_EQ(Lfm2MlpWidth(10752, false, 1.0, 256), 10752u);
  EXPECT_EQ(Lfm2MlpWidth(16128, true, 1.0, 256), 10752u);
  EXPECT_EQ(Lfm2MlpWidth(12288, true, 1.0, 256), 8192u);
  EXPECT_EQ(Lfm2MlpWidth(1000, true, 1.0, 256), 768u);
  EXPECT_EQ(Lfm2MlpWidth(1000, true, 1.3, 1), 865u);  // 666 * 1.3 = 865.8, cut
  // Without a multiplier nothing is rounded up.
  EXPECT_EQ(Lfm2MlpWidth(1000, true, std::nullopt, 256), 666u);
}

TEST(Lfm2Config, NullMultiplierIsNotTheDefault) {
  json::Value root = Config("d1_3b.json");
  Set(root, "text_config", "intermediate_size", "1000");
  Set(root, "text_config", "block_auto_adjust_ff_dim", "true");
  EXPECT_EQ(ParseLfm2VlConfig(root).text.mlp, 768u);
  Set(root, "text_config", "block_ffn_dim_multiplier", "");
  EXPECT_EQ(ParseLfm2VlConfig(root).text.mlp, 768u);
  Set(root, "text_config", "block_ffn_dim_multiplier", "null");
  EXPECT_EQ(ParseLfm2VlConfig(root).text.mlp, 666u);
  Set(root, "text_config", "intermediate_size", "1");
  EXPECT_THAT(Problem(root), HasSubstr("gives an MLP of no width"));
}

TEST(Lfm2Config, AbsentAdjustFlagMeansAdjustAndIsSaid) {
  json::Value root = Config("d1_3b.json");
  Set(root, "text_config", "block_auto_adjust_ff_dim", "");
  const Lfm2VlConfig config = ParseLfm2VlConfig(root);
  EXPECT_EQ(config.text.mlp, 7168u);
  EXPECT_THAT(config.notes, ::testing::Contains(HasSubstr("block_auto_adjust_ff_dim is absent")));
}

TEST(Lfm2Config, WeightsCheckTheMlpWidth) {
  const Lfm2TextConfig text = ParseLfm2VlConfig(Config("d1_3b.json")).text;
  CheckLfm2MlpWidth(text, 10752);
  try {
    CheckLfm2MlpWidth(text, 10496);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("gives an MLP width of 10752 (intermediate_size 10752, "
                                        "block_auto_adjust_ff_dim false), but feed_forward.w1 has "
                                        "10496 rows"));
  }
}

}  // namespace
}  // namespace assay::formats

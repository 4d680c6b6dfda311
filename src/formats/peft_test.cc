#include "formats/peft.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>

#include "assay/error.h"
#include "formats/strict_json.h"
#include "testing/safetensors_writer.h"
#include "testing/temp_folder.h"

namespace assay::formats {
namespace {

using ::assay::testing::SafetensorsWriter;
using ::assay::testing::TempFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Problem(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kModel);
    return error.what();
  }
  return "";
}

// adapter_config.json of rank 2 and alpha 8 with more members.
std::string Config(const std::string& more = "") {
  return R"({"peft_type":"LORA","r":2,"lora_alpha":8)" + (more.empty() ? "" : "," + more) + "}";
}

PeftConfig Parse(const std::string& text) {
  return ParsePeftConfig(ParseStrictJson(text, "adapter_config.json"));
}

double Scale(const PeftConfig& config, std::string_view name) {
  uint64_t steps = 0;
  return ScaleOf(config, name, steps).scale;
}

TEST(PeftConfig, ScaleIsAlphaOverRank) {
  const PeftConfig plain = Parse(Config());
  EXPECT_EQ(Scale(plain, "layers.0.q"), 4.0);
  const PeftConfig rs = Parse(R"({"peft_type":"LORA","r":3,"lora_alpha":8,"use_rslora":true})");
  EXPECT_EQ(Scale(rs, "layers.0.q"), 8 / std::sqrt(3.0));
}

TEST(PeftConfig, TheFirstPatternThatMatchesCounts) {
  const PeftConfig config =
      Parse(Config(R"("rank_pattern":{"layers.1.q":4,".*q":8,"k":16},)"
                   R"("alpha_pattern":{"^layers.0.q":32,"layers\\.[23]\\..*":2.5})"));
  uint64_t steps = 0;
  EXPECT_EQ(ScaleOf(config, "layers.1.q", steps).rank, 4u);
  EXPECT_EQ(ScaleOf(config, "layers.0.q", steps).rank, 8u);
  EXPECT_EQ(ScaleOf(config, "layers.0.k", steps).rank, 16u);
  EXPECT_EQ(ScaleOf(config, "layers.0.xk", steps).rank, 2u);  // a part begins after a dot
  EXPECT_EQ(ScaleOf(config, "layers.0.k.x", steps).rank, 2u);
  EXPECT_EQ(Scale(config, "layers.0.q"), 4.0);
  EXPECT_EQ(Scale(config, "m.layers.0.q"), 1.0);
  EXPECT_EQ(Scale(config, "m.layers.2.v"), 1.25);
  // A key that is a name in full and matches nothing as a pattern.
  EXPECT_EQ(Scale(Parse(Config(R"("alpha_pattern":{"a[0]":2})")), "a[0]"), 1.0);
}

TEST(PeftConfig, VariantsAreRefusedByName) {
  for (const char* key :
       {"use_dora", "use_qalora", "use_bdlora", "use_something_new", "fan_in_fan_out", "lora_bias",
        "modules_to_save", "trainable_token_indices", "layer_replication", "target_parameters",
        "arrow_config", "kasa_config", "velora_config", "monteclora_config",
        "alora_invocation_tokens", "megatron_config", "ensure_weight_tying",
        "target_modules_to_tie"}) {
    const std::string member = "\"" + std::string(key) + "\":";
    for (const char* harmless : {"null", "false", "[]", "{}", "0", "\"\""}) {
      EXPECT_EQ(Problem([&] { Parse(Config(member + harmless)); }), "") << key << harmless;
    }
    for (const char* harmful : {"true", "[1]", "{\"a\":1}", "1", "\"x\""}) {
      EXPECT_THAT(Problem([&] { Parse(Config(member + harmful)); }),
                  HasSubstr("adapter_config.json: " + std::string(key) + ": is "))
          << harmful;
    }
  }
  EXPECT_EQ(Problem([] { Parse(Config(R"("bias":"none","init_lora_weights":true)")); }), "");
  EXPECT_EQ(Problem([] { Parse(Config(R"("init_lora_weights":"gaussian")")); }), "");
  for (const char* start :
       {"pissa", "pissa_niter_4", "olora", "corda", "loftq", "lora_ga", "new"}) {
    EXPECT_THAT(
        Problem([&] { Parse(Config("\"init_lora_weights\":\"" + std::string(start) + "\"")); }),
        HasSubstr("init_lora_weights: is '" + std::string(start) + "'"));
  }
  EXPECT_THAT(Problem([] { Parse(Config(R"("bias":"lora_only")")); }),
              HasSubstr("bias: is 'lora_only'"));
  EXPECT_EQ(Problem([] { Parse(R"({"peft_type":"LOHA","r":2,"lora_alpha":8})"); }),
            "adapter_config.json: peft_type: is 'LOHA', which is not supported (LORA)");
}

TEST(PeftConfig, NumbersAreNeverInvented) {
  EXPECT_THAT(Problem([] { Parse(R"({"peft_type":"LORA","lora_alpha":8})"); }),
              HasSubstr("r: is missing"));
  EXPECT_THAT(Problem([] { Parse(R"({"peft_type":"LORA","r":8})"); }),
              HasSubstr("lora_alpha: is missing"));
  EXPECT_THAT(Problem([] { Parse(R"({"peft_type":"LORA","r":0,"lora_alpha":8})"); }),
              HasSubstr("r: is 0"));
  EXPECT_THAT(Problem([] { Parse(R"({"peft_type":"LORA","r":1,"lora_alpha":0})"); }),
              HasSubstr("lora_alpha: is 0"));
  EXPECT_THAT(Problem([] { Parse(Config(R"("rank_pattern":{"q":1.5})")); }),
              HasSubstr("adapter_config.json: rank_pattern.q: is 1.5, not an integer"));
  EXPECT_THAT(Problem([] { Parse(Config(R"("alpha_pattern":{"q":-1})")); }),
              HasSubstr("alpha_pattern.q: is -1"));
  EXPECT_THAT(Problem([] { Parse(Config(R"x("alpha_pattern":{"(?=q)":1})x")); }),
              HasSubstr("alpha_pattern.(?=q): the pattern"));
}

TEST(PeftConfig, PatternsThatTakeTooLongAreRefused) {
  std::string patterns;
  for (int i = 0; i < 400; ++i) {
    patterns += (i == 0 ? "\"" : ",\"") + std::string("(a?){1000}") + std::to_string(i) + "\":2";
  }
  const PeftConfig config = Parse(Config("\"rank_pattern\":{" + patterns + "}"));
  EXPECT_THAT(Problem([&] { Scale(config, std::string(1000, 'a')); }),
              HasSubstr("its patterns take too long"));
}

// An adapter folder with zero matrices of rank 2 over [outputs, inputs] weights.
class Adapter {
 public:
  Adapter& Module(const std::string& name, uint64_t outputs = 4, uint64_t inputs = 3) {
    return Add(name + ".lora_A.weight", {2, inputs}).Add(name + ".lora_B.weight", {outputs, 2});
  }
  Adapter& Add(const std::string& name, const std::vector<uint64_t>& shape) {
    writer_.AddZeros(name, shape);
    return *this;
  }
  Adapter& Add(const std::string& name, std::string_view dtype, const std::string& bytes) {
    writer_.Add(name, dtype, {2, 1}, bytes);
    return *this;
  }
  Adapter& Config(const std::string& text) {
    config_ = text;
    return *this;
  }
  PeftAdapter Open() const {
    folder_.Write("adapter_config.json", config_);
    folder_.Write("adapter_model.safetensors", writer_.Bytes());
    return PeftAdapter::Open(folder_.path());
  }
  std::string ProblemOf() const {
    return Problem([this] { Open(); });
  }
  std::string ProblemOf(const std::vector<LinearModule>& linears) const {
    const PeftAdapter adapter = Open();
    return Problem([&] { BindLora(adapter, linears); });
  }

 private:
  std::string config_ = formats::Config();
  SafetensorsWriter writer_;
  TempFolder folder_;
};

TEST(Peft, NamesLoseTheirPrefix) {
  for (const char* prefix :
       {"", "base_model.model.", "base_model.model.model.", "base_model.model.language_model.",
        "base_model.model.model.language_model.", "base_model.model.language_model.model."}) {
    Adapter files;
    files.Module(std::string(prefix) + "layers.1.mlp.up_proj");
    const PeftAdapter adapter = files.Open();
    ASSERT_EQ(adapter.modules().size(), 1u);
    const LoraModule& module = adapter.modules()[0];
    EXPECT_EQ(module.name, "layers.1.mlp.up_proj");
    EXPECT_EQ(module.source, std::string(prefix) + "layers.1.mlp.up_proj");
    EXPECT_EQ(module.rank, 2u);
    EXPECT_EQ(module.scale, 4.0);
    EXPECT_THAT(module.a->shape, ElementsAre(2, 3));
    EXPECT_THAT(module.b->shape, ElementsAre(4, 2));
  }
}

TEST(Peft, PatternsSeeTheNameThatWasTrained) {
  Adapter files;
  files.Config(Config(R"("alpha_pattern":{"^model.layers.1.q":2})"));
  files.Module("base_model.model.model.layers.1.q");
  EXPECT_EQ(files.Open().modules()[0].scale, 1.0);
}

TEST(Peft, RefusesOtherTensorsAndHalfPairs) {
  for (const char* name :
       {"layers.0.q.lora_magnitude_vector", "layers.0.q.lora_B.bias",
        "layers.0.q.base_layer.weight", "embed.lora_embedding_A", "layers.0.q.lora_A.other.weight",
        "score.weight", "modules_to_save.weight", "lora_A.weight"}) {
    Adapter files;
    files.Module("layers.0.q").Add(name, {2, 2});
    EXPECT_THAT(files.ProblemOf(), HasSubstr("adapter_model.safetensors: " + std::string(name) +
                                             ": is not a matrix of a plain LoRA adapter"));
  }
  EXPECT_EQ(Adapter().Module("layers.0.q").Add("layers.0.k.lora_A.weight", {2, 3}).ProblemOf(),
            "adapter_model.safetensors: layers.0.k: has lora_A and no lora_B");
  EXPECT_EQ(Adapter().Module("layers.0.q").Add("layers.0.k.lora_B.weight", {4, 2}).ProblemOf(),
            "adapter_model.safetensors: layers.0.k: has lora_B and no lora_A");
  EXPECT_THAT(Adapter().Module("l.q").Add("l.q.lora_A.default.weight", {2, 3}).ProblemOf(),
              HasSubstr("is there as l.q.lora_A.default.weight and as l.q.lora_A.weight"));
  EXPECT_THAT(Adapter().Module("layers.0.q").Module("base_model.model.layers.0.q").ProblemOf(),
              HasSubstr("has another module of the same name"));
  EXPECT_THAT(Adapter().Module("model.layers.0.q").Module("layers.0.k").ProblemOf(),
              HasSubstr("has the prefix 'model.', others have ''"));
  EXPECT_THAT(Adapter().ProblemOf(), HasSubstr("holds no LoRA matrices"));
}

TEST(Peft, RefusesOtherRanksAndTypes) {
  EXPECT_EQ(Adapter()
                .Module("layers.0.q")
                .Config(R"({"peft_type":"LORA","r":8,"lora_alpha":8})")
                .ProblemOf(),
            "adapter_model.safetensors: layers.0.q: lora_A is [2, 3], but adapter_config.json says "
            "rank 8 ([rank, inputs])");
  EXPECT_THAT(Adapter()
                  .Add("l.lora_A.weight", std::vector<uint64_t>{2, 3})
                  .Add("l.lora_B.weight", std::vector<uint64_t>{4, 3})
                  .ProblemOf(),
              HasSubstr("lora_B is [4, 3], but adapter_config.json says rank 2"));
  EXPECT_THAT(Adapter()
                  .Add("l.lora_A.weight", std::vector<uint64_t>{2})
                  .Add("l.lora_B.weight", std::vector<uint64_t>{4, 2})
                  .ProblemOf(),
              HasSubstr("lora_A is [2], but"));
  EXPECT_THAT(Adapter()
                  .Add("l.lora_A.weight", "F64", std::string(16, '\0'))
                  .Add("l.lora_B.weight", std::vector<uint64_t>{4, 2})
                  .ProblemOf(),
              HasSubstr("l.lora_A.weight is F64 (F32, F16 or BF16)"));
}

TEST(Peft, BindsEachModuleToItsLinearLayer) {
  Adapter files;
  files.Module("base_model.model.layers.0.q").Module("base_model.model.layers.1.q", 5, 6);
  const PeftAdapter adapter = files.Open();
  const std::vector<LinearModule> linears = {
      {"layers.1.q", 5, 6}, {"layers.0.k", 4, 3}, {"layers.0.q", 4, 3}};
  EXPECT_THAT(BindLora(adapter, linears),
              ElementsAre(&adapter.modules()[1], nullptr, &adapter.modules()[0]));
}

TEST(Peft, RefusesWhatMatchesOnlyInPart) {
  EXPECT_EQ(Adapter().Module("transformer.h.layers.0.q").ProblemOf({{"layers.0.q", 4, 3}}),
            "adapter_model.safetensors: 0 of its 1 modules match a linear layer of the base; not "
            "transformer.h.layers.0.q (the base that the adapter was trained on)");
  EXPECT_THAT(Adapter().Module("layers.0.q").Module("layers.7.q").ProblemOf({{"layers.0.q", 4, 3}}),
              HasSubstr("1 of its 2 modules match a linear layer of the base; not layers.7.q"));
  EXPECT_THAT(
      Adapter().Module("layers.0.q").ProblemOf({{"layers.0.q", 4, 2}}),
      HasSubstr("1 of its 1 modules have another shape than the base; layers.0.q: lora_A [2, "
                "3] and lora_B [4, 2] over a weight [4, 2]"));
  EXPECT_THAT(Adapter().Module("layers.0.q").ProblemOf({{"layers.0.q", 5, 3}}),
              HasSubstr("over a weight [5, 3]"));
}

TEST(Peft, RefusesTargetsWithoutAModule) {
  const std::vector<LinearModule> linears = {
      {"layers.0.q", 4, 3}, {"layers.1.q", 4, 3}, {"layers.1.xq", 4, 3}};
  const auto problem = [&](const std::string& more) {
    Adapter files;
    files.Config(Config(more)).Module("layers.0.q");
    return files.ProblemOf(linears);
  };
  EXPECT_EQ(problem(""), "");
  EXPECT_EQ(problem(R"("target_modules":["layers.0.q","k"])"), "");
  EXPECT_EQ(problem(R"("target_modules":["q","k"])"),
            "adapter_model.safetensors: has nothing for 1 modules that target_modules name: "
            "layers.1.q (download the file again)");
  // Chosen in another way: nothing is known about which modules there should be.
  EXPECT_EQ(problem(R"("target_modules":".*q")"), "");
  EXPECT_EQ(problem(R"("target_modules":["q"],"layers_to_transform":[0])"), "");
  EXPECT_EQ(problem(R"("target_modules":["q"],"exclude_modules":["layers.1.q"])"), "");
}

TEST(Peft, APickledAdapterIsSaidToBeOne) {
  const TempFolder folder;
  folder.Write("adapter_config.json", Config());
  folder.Write("adapter_model.bin", "");
  EXPECT_THAT(Problem([&] { PeftAdapter::Open(folder.path()); }),
              HasSubstr("adapter_model.bin: is a pickle, which is not read"));
}

}  // namespace
}  // namespace assay::formats

// Adapters: the handed cases (tests/data/cases/25_lora), what peft makes of them as numbers, and
// what is refused by name.
#include "formats/peft.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "assay/error.h"
#include "base/file.h"
#include "base/json.h"
#include "testing/temp_folder.h"

namespace assay::formats {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

fs::path Case(std::string_view name) {
  return fs::path(ASSAY_TEST_DATA) / "cases" / "25_lora" / std::string(name);
}

constexpr std::string_view kPrefix = "model.language_model.";
constexpr std::string_view kSuffix = ".weight";

std::vector<LinearModule> ModulesOf(const Checkpoint& base) {
  std::vector<LinearModule> out;
  for (const Tensor* tensor : base.tensors()) {
    std::string name = tensor->name.substr(kPrefix.size());
    name.resize(name.size() - kSuffix.size());
    out.push_back({name, tensor->shape[0], tensor->shape[1]});
  }
  return out;
}

std::vector<float> Widened(const Tensor& tensor) {
  std::vector<float> out(tensor.elements());
  WidenTo(tensor, 0, out);
  return out;
}

// W + scale B A.
std::vector<double> Merged(const Tensor& base, const LoraModule* module) {
  const std::vector<float> w = Widened(base);
  std::vector<double> out(w.begin(), w.end());
  if (module == nullptr) return out;
  const std::vector<float> a = Widened(*module->a);
  const std::vector<float> b = Widened(*module->b);
  const size_t inputs = base.shape[1];
  const size_t rank = module->a->shape[0];
  for (size_t n = 0; n < base.shape[0]; ++n) {
    for (size_t k = 0; k < inputs; ++k) {
      for (size_t r = 0; r < rank; ++r) {
        out[n * inputs + k] += module->scale * static_cast<double>(b[n * rank + r]) *
                               static_cast<double>(a[r * inputs + k]);
      }
    }
  }
  return out;
}

std::string Refusal(const fs::path& folder, std::string_view base = "base") {
  try {
    const PeftAdapter adapter = PeftAdapter::Open(folder);
    const Checkpoint checkpoint = Checkpoint::Open(Case(base));
    adapter.Match(ModulesOf(checkpoint));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kModel);
    return error.what();
  }
  return "was accepted";
}

TEST(Peft, EveryGoodCaseHasTheWeightsThatPeftMerges) {
  const json::Value expected =
      json::Parse(ReadFile(fs::path(ASSAY_TEST_DATA) / "cases" / "25_lora.expected.json",
                           ErrorKind::kFile, 1 << 20),
                  ErrorKind::kFile, "expected");
  const Checkpoint base = Checkpoint::Open(Case("base"));
  const std::vector<LinearModule> modules = ModulesOf(base);
  EXPECT_EQ(expected.members().size(), 7u);
  for (const auto& [name, tensors] : expected.members()) {
    const PeftAdapter adapter = PeftAdapter::Open(Case(name));
    const std::vector<size_t> matched = adapter.Match(modules);
    for (size_t i = 0; i < modules.size(); ++i) {
      const auto at = std::find(matched.begin(), matched.end(), i);
      const LoraModule* module =
          at == matched.end() ? nullptr
                              : &adapter.modules()[static_cast<size_t>(at - matched.begin())];
      const std::string tensor = std::string(kPrefix) + modules[i].name + std::string(kSuffix);
      std::vector<double> want;
      for (const json::Value& row : tensors.Find(tensor)->items()) {
        for (const json::Value& value : row.items()) want.push_back(value.number());
      }
      EXPECT_EQ(Merged(*base.Find(tensor), module), want) << name << " " << tensor;
    }
  }
}

TEST(Peft, EveryBadCaseIsRefusedForItsReason) {
  EXPECT_THAT(Refusal(Case("no_match")), HasSubstr("0 of 3 modules match"));
  EXPECT_THAT(Refusal(Case("half_match")), HasSubstr("layers.7.self_attn.q_proj"));
  EXPECT_THAT(Refusal(Case("lora_b_missing")),
              AllOf(HasSubstr("layers.0.mlp.up_proj"), HasSubstr("no lora_B")));
  EXPECT_THAT(Refusal(Case("rank_disagrees")), AllOf(HasSubstr("has rank 2"), HasSubstr("says 8")));
  EXPECT_THAT(Refusal(Case("shape_mismatch"), "base_narrow"),
              AllOf(HasSubstr("[2, 4]"), HasSubstr("[4, 3]")));
  EXPECT_THAT(Refusal(Case("not_lora")), HasSubstr("LOHA"));
}

class PeftConfigTest : public ::testing::Test {
 protected:
  // The plain case with something else in its config.
  std::string RefusalWith(const std::string& key, const std::string& value) {
    fs::copy_file(Case("plain") / "adapter_model.safetensors",
                  folder_.path() / "adapter_model.safetensors",
                  fs::copy_options::overwrite_existing);
    json::Value config =
        json::Parse(ReadFile(Case("plain") / "adapter_config.json", ErrorKind::kFile, 1 << 16),
                    ErrorKind::kFile, "config");
    auto& members = config.members();
    std::erase_if(members, [&](const auto& member) { return member.first == key; });
    config.Add(key, json::Parse(value, ErrorKind::kFile, "value"));
    std::ofstream(folder_.path() / "adapter_config.json", std::ios::trunc)
        << json::PrintCompact(config);
    return Refusal(folder_.path());
  }
  testing::TempFolder folder_;
};

TEST_F(PeftConfigTest, RefusesByNameWhatIsMoreThanLowRankProducts) {
  for (const auto& [key, value] : {std::pair{"use_dora", "true"},
                                   {"lora_bias", "true"},
                                   {"use_qalora", "true"},
                                   {"modules_to_save", "[\"norm\"]"},
                                   {"trainable_token_indices", "[1]"},
                                   {"layer_replication", "[[0,1]]"},
                                   {"target_parameters", "[\"x\"]"},
                                   {"fan_in_fan_out", "true"},
                                   {"bias", "\"all\""}}) {
    EXPECT_THAT(RefusalWith(key, value), AllOf(HasSubstr("adapter_config.json"), HasSubstr(key)));
  }
  EXPECT_EQ(RefusalWith("use_dora", "false"), "was accepted");
  EXPECT_EQ(RefusalWith("modules_to_save", "[]"), "was accepted");
}

TEST_F(PeftConfigTest, RefusesALayerThatIsTargetedAndLeftOut) {
  EXPECT_EQ(RefusalWith("target_modules", "[\"q_proj\"]"), "was accepted");
  EXPECT_EQ(RefusalWith("target_modules", "[\"up_proj\", \"self_attn.q_proj\"]"), "was accepted");
  // The base has no such layer: what a config names for other models is no fault.
  EXPECT_EQ(RefusalWith("target_modules", "[\"q_proj\", \"k_proj\"]"), "was accepted");
  EXPECT_THAT(Refusal(Case("plain"), "base_wider"),
              AllOf(HasSubstr("layers.1.mlp.up_proj"), HasSubstr("targets")));
}

// Patterns are a file's own: they may neither hang nor be read otherwise than peft reads them.
TEST_F(PeftConfigTest, PatternsAreLinearOrRefused) {
  EXPECT_THAT(RefusalWith("rank_pattern", R"({"(?=x)y": 4})"), HasSubstr("rank_pattern"));
  EXPECT_THAT(RefusalWith("alpha_pattern", R"({"(a)\\1": 4})"), HasSubstr("alpha_pattern"));
  EXPECT_EQ(RefusalWith("alpha_pattern", R"({"(a+)+$": 4, "(.*)*(.*)*(.*)*z": 2})"),
            "was accepted");
  EXPECT_THAT(RefusalWith("rank_pattern", R"({"q_proj": 0})"), HasSubstr("rank_pattern"));
  // The end of a name after a dot counts, a part of a word does not.
  EXPECT_THAT(RefusalWith("rank_pattern", R"({"q_proj": 4})"), HasSubstr("says 4"));
  EXPECT_EQ(RefusalWith("rank_pattern", R"({"_proj": 4})"), "was accepted");
}

}  // namespace
}  // namespace assay::formats

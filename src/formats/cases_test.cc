// Replays tests/data/cases: what each spoiled file must answer is text beside the folder
// (NAME.expected.json), one entry per file or folder, and no file may lack an entry.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <vector>

#include "assay/error.h"
#include "base/file.h"
#include "base/json.h"
#include "formats/checkpoint.h"
#include "formats/config.h"
#include "formats/config_parts.h"
#include "formats/peft.h"
#include "formats/safetensors.h"
#include "formats/torch_file.h"

namespace assay::formats {
namespace {

namespace fs = std::filesystem;

fs::path CaseFolder(std::string_view name) {
  return fs::path(ASSAY_TEST_DATA) / "cases" / std::string(name);
}

json::Value Expected(std::string_view name) {
  const std::string file = std::string(name) + ".expected.json";
  return json::Parse(ReadFile(CaseFolder(file), ErrorKind::kFile, 1 << 20), ErrorKind::kFile, file);
}

std::set<std::string> Names(const json::Value& expected) {
  std::set<std::string> names;
  for (const auto& [name, value] : expected.members()) names.insert(name);
  return names;
}

// The message of a refusal, after checking its kind; otherwise what `read` returns.
template <typename Read>
std::string Outcome(const Read& read) {
  try {
    return read();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kModel);
    EXPECT_EQ(ExitCode(error.kind()), 3);
    return error.what();
  }
}

TEST(Cases, EveryBadSafetensorsFileIsRefusedForItsReason) {
  const json::Value expected = Expected("19_safetensors_bad");
  std::set<std::string> seen;
  for (const auto& entry : fs::directory_iterator(CaseFolder("19_safetensors_bad"))) {
    const std::string name = entry.path().stem().string();
    seen.insert(name);
    const std::string got = Outcome([&]() -> std::string {
      const SafetensorsFile file(entry.path());
      return "was accepted";
    });
    const json::Value* want = expected.Find(name);
    EXPECT_EQ(got, want == nullptr ? "" : name + ".safetensors" + want->string()) << name;
  }
  EXPECT_EQ(seen, Names(expected));
}

// "model.a = 1 2; model.b = 3 4", then the notes.
std::string Describe(const Checkpoint& checkpoint) {
  std::string text;
  for (const Tensor* tensor : checkpoint.tensors()) {
    std::vector<float> values(tensor->elements());
    WidenTo(*tensor, 0, values);
    text += fmt::format("{}{} =", text.empty() ? "" : "; ", tensor->name);
    for (const float value : values) text += fmt::format(" {}", value);
  }
  for (const std::string& note : checkpoint.notes()) text += " | " + note;
  return text;
}

TEST(Cases, ShardedFoldersAreReadOrRefusedAsTheRuleSays) {
  const json::Value expected = Expected("20_sharded");
  std::set<std::string> seen;
  for (const auto& entry : fs::directory_iterator(CaseFolder("20_sharded"))) {
    if (!entry.is_directory()) continue;
    const std::string name = entry.path().filename().string();
    seen.insert(name);
    const std::string got = Outcome([&] { return Describe(Checkpoint::Open(entry.path())); });
    const json::Value* want = expected.Find(name);
    EXPECT_EQ(got, want == nullptr ? "" : want->string()) << name;
  }
  EXPECT_EQ(seen, Names(expected));
}

// What the readers of config parts make of one toy config.
std::string DescribeConfig(const fs::path& file) {
  const json::Value value = ReadConfigFile(file.parent_path(), file.filename().string());
  std::vector<std::string> notes;
  const ConfigReader root(value, "config.json", notes);
  const ConfigReader text = root.FindObject("text_config").value_or(root);
  const std::string name = file.stem().string();
  if (name.starts_with("rope")) {
    const Rope rope = ReadRope(text, "full_attention");
    return fmt::format("theta {}, rotated {}", rope.theta, rope.partial_rotary_factor);
  }
  if (name.starts_with("dtype")) return std::string(DtypeName(*ReadWeightsDtype(text)));
  const auto layers = static_cast<size_t>(text.Int("num_hidden_layers", {1, 100}));
  const auto kinds = ReadLayerTypes(text, layers, {"linear_attention", "full_attention"});
  return kinds ? "was accepted" : "has no layer_types";
}

// The head that a folder's config and weights lead to, then the notes.
std::string DescribeHead(const fs::path& folder) {
  const json::Value value = ReadConfigFile(folder);
  std::vector<std::string> notes;
  // The toys belong to no family; untied is the default that makes the absent key visible.
  const bool tied = ReadTied(ConfigReader(value, "config.json", notes), false);
  const Checkpoint checkpoint = Checkpoint::Open(folder);
  std::string text(
      HeadTensor(tied, checkpoint, "model.embed_tokens.weight", "lm_head.weight", notes));
  for (const std::string& note : notes) text += " | " + note;
  return text;
}

TEST(Cases, ConfigsAreReadOrRefusedAsTheRuleSays) {
  const json::Value expected = Expected("23_config");
  std::set<std::string> seen;
  for (const auto& entry : fs::directory_iterator(CaseFolder("23_config"))) {
    const std::string name = entry.path().filename().string();
    seen.insert(name);
    const std::string got = Outcome([&] {
      return entry.is_directory() ? DescribeHead(entry.path()) : DescribeConfig(entry.path());
    });
    const json::Value* want = expected.Find(name);
    EXPECT_EQ(got, want == nullptr ? "" : want->string()) << name;
  }
  EXPECT_EQ(seen, Names(expected));
}

// "k.weight [2, 3] = 1 2 3 4 5 6; k.bias [2] = 0.5 -0.5; temperature 2.41".
std::string DescribeTorchFile(const fs::path& path) {
  const TorchFile file = ReadTorchFile(path);
  std::string text;
  const PickleValue* head = file.root.Find("head");
  for (size_t i = 0; head != nullptr && i < head->items.size(); i += 2) {
    const TorchTensor& tensor = file.tensors.at(head->items[i + 1].tensor);
    text += fmt::format("{} {} =", head->items[i].text, ShapeText(tensor.shape));
    for (const float value : tensor.values) text += fmt::format(" {}", value);
    text += "; ";
  }
  return fmt::format("{}temperature {}", text, file.root.Find("temperature")->number);
}

TEST(Cases, TorchFilesAreReadOrRefusedAndNothingRuns) {
  const json::Value expected = Expected("22_pt");
  std::set<std::string> seen;
  for (const auto& entry : fs::directory_iterator(CaseFolder("22_pt"))) {
    const std::string name = entry.path().filename().string();
    seen.insert(name);
    const std::string got = Outcome([&] { return DescribeTorchFile(entry.path()); });
    const json::Value* want = expected.Find(name);
    EXPECT_EQ(got, want == nullptr ? "" : want->string()) << name;
  }
  EXPECT_EQ(seen, Names(expected));
  EXPECT_FALSE(fs::exists("PICKLE_RAN.marker"));
}

std::vector<float> ValuesOf(const Tensor& tensor) {
  std::vector<float> values(tensor.elements());
  WidenTo(tensor, 0, values);
  return values;
}

// W + scale * (B A) in fp32; the numbers of these cases are small whole ones, so no order rounds.
std::vector<float> Merged(const Tensor& weight, const LoraModule& module) {
  std::vector<float> out = ValuesOf(weight);
  const std::vector<float> a = ValuesOf(*module.a);
  const std::vector<float> b = ValuesOf(*module.b);
  const size_t inputs = weight.shape[1];
  for (size_t i = 0; i < out.size(); ++i) {
    float sum = 0;
    for (size_t r = 0; r < module.rank; ++r) {
      sum += b[i / inputs * module.rank + r] * a[r * inputs + i % inputs];
    }
    out[i] += static_cast<float>(module.scale) * sum;
  }
  return out;
}

// Binds the adapter to its base and compares the merged weights with `want`, the reference's.
std::string MergeAndCompare(const fs::path& folder, const fs::path& base, const json::Value* want) {
  constexpr std::string_view kPrefix = "model.language_model.";
  const PeftAdapter adapter = PeftAdapter::Open(folder);
  const SafetensorsFile weights(base / "model.safetensors");
  std::vector<LinearModule> linears;
  for (const Tensor& tensor : weights.tensors()) {
    const std::string name = tensor.name.substr(kPrefix.size());
    linears.push_back(
        {name.substr(0, name.rfind(".weight")), tensor.shape.at(0), tensor.shape.at(1)});
  }
  const std::vector<const LoraModule*> bound = BindLora(adapter, linears);
  for (size_t i = 0; i < bound.size(); ++i) {
    const Tensor& tensor = weights.tensors()[i];
    const json::Value* rows = want == nullptr ? nullptr : want->Find(tensor.name);
    if (rows == nullptr || bound[i] == nullptr) return "has no row for " + tensor.name;
    std::vector<float> expected;
    for (const json::Value& row : rows->items()) {
      for (const json::Value& item : row.items()) {
        expected.push_back(static_cast<float>(item.number()));
      }
    }
    if (Merged(tensor, *bound[i]) != expected) return tensor.name + " differs";
  }
  return fmt::format("merged exactly, {} modules", bound.size());
}

TEST(Cases, AdaptersAreMergedAsPeftMergesThemOrRefused) {
  const json::Value expected = Expected("25_lora");
  const fs::path bases = CaseFolder("25_lora_bases");
  const json::Value merged = json::Parse(ReadFile(bases / "merged.json", ErrorKind::kFile, 1 << 20),
                                         ErrorKind::kFile, "merged.json");
  std::set<std::string> seen;
  for (const auto& entry : fs::directory_iterator(CaseFolder("25_lora"))) {
    const std::string name = entry.path().filename().string();
    seen.insert(name);
    const fs::path base = bases / (name == "shape_mismatch" ? "base_narrow" : "base");
    const std::string got =
        Outcome([&] { return MergeAndCompare(entry.path(), base, merged.Find(name)); });
    const json::Value* want = expected.Find(name);
    EXPECT_EQ(got, want == nullptr ? "" : want->string()) << name;
  }
  EXPECT_EQ(seen, Names(expected));
}

}  // namespace
}  // namespace assay::formats

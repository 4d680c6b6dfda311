// Replays tests/data/cases: what each spoiled file must answer is text beside the folder
// (NAME.expected.json), one entry per file or folder, and no file may lack an entry.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "assay/error.h"
#include "base/file.h"
#include "base/json.h"
#include "formats/checkpoint.h"
#include "formats/safetensors.h"

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

}  // namespace
}  // namespace assay::formats

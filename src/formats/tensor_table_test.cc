#include "formats/tensor_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "assay/error.h"
#include "testing/safetensors_writer.h"
#include "testing/temp_folder.h"

namespace assay::formats {
namespace {

using ::assay::testing::SafetensorsWriter;
using ::assay::testing::TempFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::vector<std::string> kTower = {"tower.vision_model.", "tower."};

TensorTable ToyTable() {
  return {"toy",
          {{"embed", {"model.embed.weight"}, {4, 2}},
           {"norm", {"model.norm.weight"}, {2}},
           {"bias", {"model.bias"}, {2}, false},
           {"scale", {"model.scale"}, {}, false, {Dtype::kF32}},
           {"tower.a", Spellings(kTower, "a"), {1}, true, {Dtype::kBf16}, "tower"},
           {"tower.b", Spellings(kTower, "b"), {1}, true, {Dtype::kBf16}, "tower"}},
          {{"mtp.", "prediction of later tokens"}}};
}

// A sound checkpoint of the toy, with the tower under `prefix`.
SafetensorsWriter Sound(const std::string& prefix = kTower[0]) {
  SafetensorsWriter writer;
  writer.AddZeros("model.embed.weight", {4, 2}).AddZeros("model.norm.weight", {2});
  return writer.AddZeros(prefix + "a", {1}).AddZeros(prefix + "b", {1});
}

// Binds what the writer holds; returns the refusal, or "" after `look`.
std::string Bind(
    const SafetensorsWriter& writer,
    const std::function<void(const BoundTensors&)>& look = [](const auto&) {}) {
  const TempFolder folder;
  folder.Write("model.safetensors", writer.Bytes());
  const Checkpoint checkpoint = Checkpoint::Open(folder.path());
  try {
    look(BindTensors(checkpoint, ToyTable()));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kModel);
    EXPECT_EQ(error.where(), "model.safetensors");
    return error.message();
  }
  return "";
}

TEST(TensorTable, GivesTensorsByOurNamesUnderEitherSpelling) {
  for (const std::string& prefix : kTower) {
    bool looked = false;
    EXPECT_EQ(Bind(Sound(prefix),
                   [&](const BoundTensors& bound) {
                     looked = true;
                     EXPECT_EQ(bound.Get("embed").name, "model.embed.weight");
                     EXPECT_EQ(bound.Get("tower.b").name, prefix + "b");
                     EXPECT_EQ(bound.Find("bias"), nullptr);
                     EXPECT_THAT(bound.notes(), IsEmpty());
                   }),
              "");
    EXPECT_TRUE(looked);
  }
}

TEST(TensorTable, TakesOptionalTensorsThatAreThere) {
  EXPECT_EQ(
      Bind(Sound().AddZeros("model.bias", {2}),
           [](const BoundTensors& bound) { EXPECT_EQ(bound.Get("bias").name, "model.bias"); }),
      "");
}

TEST(TensorTable, ListsEverythingThatIsWrongInOneError) {
  SafetensorsWriter writer;
  writer.AddZeros("model.embed.weight", {2, 4}).AddZeros("model.scale", {});
  for (const char* extra : {"x1", "x2", "x3", "x4", "x5"}) writer.AddZeros(extra, {1});
  writer.AddZeros("tower.a", {1});
  EXPECT_EQ(Bind(writer),
            "its tensors are not those of toy: 2 missing: model.norm.weight, tower.b; "
            "5 unused: x1, x2, x3 and 2 more; "
            "1 of another shape: model.embed.weight is [2, 4], should be [4, 2]; "
            "1 of a dtype that is not read: model.scale is BF16, should be F32");
}

TEST(TensorTable, ComparesTheWholeShape) {
  SafetensorsWriter writer;
  writer.AddZeros("model.embed.weight", {4, 2, 1}).AddZeros("model.norm.weight", {2});
  writer.AddZeros("tower.a", {1}).AddZeros("tower.b", {1});
  EXPECT_THAT(Bind(writer), HasSubstr("model.embed.weight is [4, 2, 1], should be [4, 2]"));
}

TEST(TensorTable, RefusesMixedSpellings) {
  SafetensorsWriter writer;
  writer.AddZeros("model.embed.weight", {4, 2}).AddZeros("model.norm.weight", {2});
  writer.AddZeros("tower.vision_model.a", {1}).AddZeros("tower.b", {1});
  EXPECT_THAT(Bind(writer), HasSubstr("1 mixed spellings: tower.vision_model.a beside tower.b"));
}

TEST(TensorTable, RefusesOneTensorUnderBothSpellings) {
  EXPECT_THAT(Bind(Sound().AddZeros("tower.a", {1})),
              HasSubstr("mixed spellings: tower.vision_model.a beside tower.a"));
}

TEST(TensorTable, SaysWhatItIgnores) {
  EXPECT_EQ(Bind(Sound().AddZeros("mtp.0", {1}).AddZeros("mtp.1", {1}),
                 [](const BoundTensors& bound) {
                   EXPECT_THAT(bound.notes(),
                               ElementsAre("model.safetensors: 2 tensors are not used (prediction "
                                           "of later tokens): mtp.0, mtp.1"));
                 }),
            "");
}

TEST(TensorTable, KeepsHostileNamesShort) {
  const std::string message = Bind(Sound().AddZeros(std::string(5000, 'x') + "\n", {1}));
  EXPECT_LT(message.size(), 300u);
  EXPECT_THAT(message, Not(HasSubstr("\n")));
}

}  // namespace
}  // namespace assay::formats

#include "formats/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/error.h"
#include "testing/safetensors_writer.h"
#include "testing/temp_folder.h"

namespace assay::formats {
namespace {

using ::assay::testing::SafetensorsWriter;
using ::assay::testing::TempFolder;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kIndex[] = "model.safetensors.index.json";

std::string OneTensor(std::string_view name, float value) {
  return SafetensorsWriter().AddF32(name, {1}, std::vector<float>{value}).Bytes();
}

std::string Problem(const std::filesystem::path& folder) {
  try {
    Checkpoint::Open(folder);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kModel);
    return error.what();
  }
  return "";
}

TEST(Checkpoint, ReadsASingleFile) {
  const TempFolder folder;
  folder.Write("model.safetensors", OneTensor("w", 5));
  const Checkpoint checkpoint = Checkpoint::Open(folder.path());
  EXPECT_EQ(checkpoint.name(), "model.safetensors");
  ASSERT_EQ(checkpoint.files().size(), 1u);
  EXPECT_EQ(checkpoint.files()[0].bytes, std::filesystem::file_size(checkpoint.files()[0].path));
  ASSERT_NE(checkpoint.Find("w"), nullptr);
  EXPECT_EQ(checkpoint.Find("v"), nullptr);
  EXPECT_EQ(checkpoint.Find("x"), nullptr);
  EXPECT_THAT(checkpoint.notes(), IsEmpty());
}

// Qwen3.5's bases are published under these unusual names.
TEST(Checkpoint, ReadsShardsWhoseNamesContainTheSuffixTwice) {
  const TempFolder folder;
  folder.Write("model.safetensors-00001-of-00002.safetensors", OneTensor("a", 1));
  folder.Write("model.safetensors-00002-of-00002.safetensors", OneTensor("b", 2));
  folder.Write(kIndex, R"({"weight_map":{"a":"model.safetensors-00001-of-00002.safetensors",
                           "b":"model.safetensors-00002-of-00002.safetensors"}})");
  const Checkpoint checkpoint = Checkpoint::Open(folder.path());
  ASSERT_EQ(checkpoint.tensors().size(), 2u);
  EXPECT_EQ(checkpoint.tensors()[1]->name, "b");
  EXPECT_THAT(checkpoint.notes(), IsEmpty());
}

TEST(Checkpoint, TensorsOutliveAMove) {
  const TempFolder folder;
  folder.Write("a.safetensors", OneTensor("a", 1));
  folder.Write("b.safetensors", OneTensor("b", 2));
  folder.Write(kIndex, R"({"weight_map":{"b":"b.safetensors","a":"a.safetensors"}})");
  Checkpoint first = Checkpoint::Open(folder.path());
  const Tensor* b = first.Find("b");
  const Checkpoint second = std::move(first);
  EXPECT_EQ(second.Find("b"), b);
  float value = 0;
  WidenTo(*b, 0, {&value, 1});
  EXPECT_EQ(value, 2);
  EXPECT_EQ(b->name, "b");
}

TEST(Checkpoint, HashesEachFile) {
  const TempFolder folder;
  folder.Write("model.safetensors", testing::WithHeader("{}", ""));
  // sha256 of 08 00 00 00 00 00 00 00 and "{}      ".
  EXPECT_EQ(Checkpoint::Open(folder.path()).Sha256(0),
            "9bbcbf73561f6bc5d0a17ea6a2081feed2d1304e87602d8c502d9a5c4bd85576");
}

TEST(Checkpoint, FollowsLinksAsTheHubCacheMakesThem) {
  const TempFolder folder;
  const auto blob = folder.Write("blobs/0123", OneTensor("w", 5));
  std::filesystem::create_directories(folder.path() / "snapshot");
  std::filesystem::create_symlink(blob, folder.path() / "snapshot/model.safetensors");
  EXPECT_NE(Checkpoint::Open(folder.path() / "snapshot").Find("w"), nullptr);
}

TEST(Checkpoint, RefusesAFolderThatIsNotThereOrIsAFile) {
  const TempFolder folder;
  EXPECT_THAT(Problem(folder.path() / "gone"), HasSubstr("gone: no such folder"));
  EXPECT_THAT(Problem(folder.path() / "gone/"), HasSubstr("gone: no such folder"));
  EXPECT_THAT(Problem(folder.Write("file", "x")), HasSubstr("file: is a file"));
}

TEST(Checkpoint, SaysWhatAFolderWithoutWeightsLacks) {
  const TempFolder folder;
  EXPECT_THAT(Problem(folder.path()), HasSubstr("holds no weights (the folder needs"));
  folder.Write("pytorch_model.bin", "x");
  EXPECT_THAT(Problem(folder.path()), HasSubstr("only safetensors is read"));
}

TEST(Checkpoint, ShardNamesAreCheckedBeforeAnyShardIsLookedFor) {
  for (const char* name :
       {"../b.safetensors", "/b.safetensors", "sub/b.safetensors", "..\\\\b.safetensors", "..", ".",
        "", "b.bin", ".safetensors", "b.safetensors\\u0000"}) {
    const TempFolder folder;
    folder.Write(kIndex,
                 std::string(R"({"weight_map":{"a":"a.safetensors","b":")") + name + "\"}}");
    EXPECT_THAT(Problem(folder.path()), HasSubstr("index.json: b: is said to be in")) << name;
  }
}

TEST(Checkpoint, RefusesAnIndexThatNamesATensorTwice) {
  const TempFolder folder;
  folder.Write("a.safetensors", OneTensor("a", 1));
  folder.Write(kIndex, R"({"weight_map":{"a":"b.safetensors","a":"a.safetensors"}})");
  EXPECT_THAT(Problem(folder.path()), HasSubstr("has the key 'a' twice"));
}

TEST(Checkpoint, RefusesAnIndexWithoutAMap) {
  for (const char* index : {"{}", "[]", R"({"weight_map":[]})", R"({"weight_map":null})"}) {
    const TempFolder folder;
    folder.Write(kIndex, index);
    EXPECT_THAT(Problem(folder.path()), HasSubstr("has no object weight_map")) << index;
  }
}

TEST(Checkpoint, ListsNamesShortened) {
  EXPECT_EQ(NameList({"a"}), "a");
  EXPECT_EQ(NameList({"a", "b", "c"}), "a, b, c");
  EXPECT_EQ(NameList({"a", "b", "c", "d", "e"}), "a, b, c and 2 more");
}

}  // namespace
}  // namespace assay::formats

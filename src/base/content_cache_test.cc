#include "base/content_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "base/sha256.h"
#include "testing/temp_folder.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

class ContentCacheTest : public ::testing::Test {
 protected:
  fs::path Write(const std::string& text) {
    const fs::path path = folder_.path() / "weights.bin";
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
    return path;
  }
  std::string Hash(const fs::path& file, bool verify = false) {
    return cache_.FileSha256(file, ErrorKind::kModel, verify);
  }
  // The one entry's file.
  fs::path EntryFile() {
    for (const auto& item : fs::directory_iterator(folder_.path() / "cache" / "sha256"))
      return item.path();
    return {};
  }
  void WaitUntilSettled() { usleep(2'100'000); }

  testing::TempFolder folder_;
  ContentCache cache_{folder_.path() / "cache"};
};

TEST_F(ContentCacheTest, RemembersAFileUntilItChanges) {
  const fs::path file = Write("one");
  EXPECT_EQ(Hash(file), Sha256("one"));
  EXPECT_TRUE(cache_.List().empty()) << "a file of this very moment may still change";
  WaitUntilSettled();
  EXPECT_EQ(Hash(file), Sha256("one"));
  ASSERT_EQ(cache_.List().size(), 1u);
  EXPECT_EQ(cache_.List()[0].name, "weights.bin");
  EXPECT_EQ(cache_.List()[0].bytes, 3u);
  // That the entry answers, and not the file: another hash in it comes back, and --verify mends it.
  const fs::path entry = EntryFile();
  std::string text;
  std::getline(std::ifstream(entry), text);
  text.replace(text.find(Sha256("one")), 64, Sha256("forged"));
  std::ofstream(entry, std::ios::trunc) << text;
  EXPECT_EQ(Hash(file), Sha256("forged"));
  EXPECT_EQ(Hash(file, true), Sha256("one"));
  EXPECT_EQ(Hash(file), Sha256("one"));
  // A changed file is another one, even of the same length.
  Write("two");
  EXPECT_EQ(Hash(file), Sha256("two"));
  // Cut and foreign entries count as missing.
  for (const char* spoiled : {"", "{", "[]", "{\"format\":\"other\"}"}) {
    std::ofstream(EntryFile(), std::ios::trunc) << spoiled;
    EXPECT_EQ(Hash(file), Sha256("two")) << spoiled;
    EXPECT_TRUE(cache_.List().empty());
  }
  std::ofstream(folder_.path() / "cache" / "sha256" / "mine.json") << "not assay's";
  EXPECT_EQ(cache_.Clear(), 1u);
  EXPECT_TRUE(fs::exists(folder_.path() / "cache" / "sha256" / "mine.json"));
}

TEST_F(ContentCacheTest, AFolderThatCannotBeWrittenKeepsNothing) {
  const fs::path file = Write("one");
  std::ofstream(folder_.path() / "cache") << "a file, where the folder should be";
  EXPECT_EQ(Hash(file), Sha256("one"));
  EXPECT_EQ(ContentCache({}).FileSha256(file, ErrorKind::kModel, false), Sha256("one"));
  EXPECT_EQ(cache_.Clear(), 0u);
}

TEST_F(ContentCacheTest, AMissingFileIsNamed) {
  try {
    Hash(folder_.path() / "none.safetensors");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kModel);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("none.safetensors"));
  }
}

}  // namespace
}  // namespace assay

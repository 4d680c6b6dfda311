#include "base/file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace assay {
namespace {

class FileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) /
              ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path Write(std::string_view name, std::string_view text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }
  std::filesystem::path folder_;
};

TEST_F(FileTest, MapsTheWholeFile) {
  EXPECT_EQ(MappedFile(Write("a", "hello"), ErrorKind::kModel).text(), "hello");
  EXPECT_EQ(MappedFile(Write("empty", ""), ErrorKind::kModel).bytes().size(), 0u);
}

TEST_F(FileTest, NamesTheMissingFileAndKeepsTheKind) {
  try {
    const MappedFile file(folder_ / "absent.bin", ErrorKind::kModel);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kModel);
    EXPECT_EQ(error.where(), "absent.bin");
    EXPECT_EQ(error.message(), "no such file");
  }
}

TEST_F(FileTest, RefusesAFolder) {
  EXPECT_THROW(MappedFile(folder_, ErrorKind::kFile), Error);
  EXPECT_THROW(ReadFile(folder_, ErrorKind::kFile, 10), Error);
}

TEST_F(FileTest, ReadsUpToTheLimitAndNoFurther) {
  const auto path = Write("ten", "0123456789");
  EXPECT_EQ(ReadFile(path, ErrorKind::kFile, 10), "0123456789");
  EXPECT_THROW(ReadFile(path, ErrorKind::kFile, 9), Error);
}

TEST_F(FileTest, AFolderIsCalledByItsLastName) {
  EXPECT_EQ(FolderName("a/b"), "b");
  EXPECT_EQ(FolderName("a/b/"), "b");
  EXPECT_EQ(FolderName("a/./b/../c/."), "c");
}

}  // namespace
}  // namespace assay

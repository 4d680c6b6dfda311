#include "families/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/fixtures.h"
#include "testing/temp_folder.h"

namespace assay::families {
namespace {

using ::testing::HasSubstr;
using testing::TempFolder;

// A folder that holds only this config.json; loading it must fail.
Error Problem(std::string_view config) {
  const TempFolder folder;
  folder.Write("config.json", config);
  try {
    LoadFamily(folder.path(), {});
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorKind::kUsage, "", "loaded");
}

TEST(Registry, OpensAFolderWithTheFamilyThatItsConfigNames) {
  const std::unique_ptr<Family> family = LoadFamily(testing::TinyD1(), {});
  EXPECT_EQ(family->Describe(false).family, "d1");
  EXPECT_EQ(family->decoder().hidden_size(), 96u);
}

TEST(Registry, AnUnknownFamilyIsNamedWithThoseThatAreKnown) {
  const Error error = Problem(R"({"model_type": "qwen3"})");
  EXPECT_EQ(error.kind(), ErrorKind::kModel);
  EXPECT_THAT(error.where(), ::testing::EndsWith("/config.json"));
  EXPECT_THAT(error.message(), HasSubstr("'qwen3'"));
  EXPECT_THAT(error.hint(), HasSubstr("lfm2_vl (d1)"));
}

TEST(Registry, AFamilyNameIsNotCutOrCompleted) {
  EXPECT_THAT(Problem(R"({"model_type": "lfm2"})").message(), HasSubstr("'lfm2'"));
  EXPECT_THAT(Problem(R"({"model_type": "lfm2_vl2"})").message(), HasSubstr("'lfm2_vl2'"));
}

TEST(Registry, AConfigWithoutAFamilyIsAModelError) {
  for (const char* config : {"{}", R"({"model_type": 3})", "[]", "", "{"}) {
    const Error error = Problem(config);
    EXPECT_EQ(error.kind(), ErrorKind::kModel) << config;
    EXPECT_THAT(error.where(), HasSubstr("config.json")) << config;
  }
}

TEST(Registry, AFolderWithoutAConfigIsAModelError) {
  const TempFolder folder;
  try {
    LoadFamily(folder.path(), {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kModel);
    EXPECT_THAT(error.what(), HasSubstr("config.json"));
  }
}

TEST(Registry, ErrorsNameTheFolderAsItWasGiven) {
  const auto where = [](const std::filesystem::path& folder) -> std::string {
    try {
      LoadFamily(folder, {});
    } catch (const Error& error) {
      return error.where();
    }
    return "loaded";
  };
  const TempFolder folder;
  folder.Write("config.json", "{}");
  EXPECT_EQ(where(folder.path()), folder.path().string() + "/config.json: model_type");
  EXPECT_EQ(where(folder.path() / "."), folder.path().string() + "/./config.json: model_type");
  EXPECT_EQ(where(folder.path() / ""), folder.path().string() + "/config.json: model_type");
  EXPECT_EQ(where(folder.path() / "none/"), folder.path().string() + "/none/");
  EXPECT_EQ(where(folder.path() / "config.json"), folder.path().string() + "/config.json");
  // A folder may have a file's name.
  const std::filesystem::path same = folder.Write("inner/config.json/config.json", "{}");
  EXPECT_EQ(where(same.parent_path()), same.string() + ": model_type");
}

TEST(Registry, TheRowLimitReachesTheFamily) {
  const auto limit = [](size_t max_row) {
    const ModelDescription model = LoadFamily(testing::TinyD1(), {max_row})->Describe(false);
    for (const auto& [name, value] : model.limits) {
      if (name == "row_tokens") return value.int64().value_or(-1);
    }
    return int64_t{-1};
  };
  EXPECT_EQ(limit(0), 4096);
  EXPECT_EQ(limit(128), 128);
}

TEST(Registry, ARowLimitPastTheContextIsAUsageError) {
  try {
    LoadFamily(testing::TinyD1(), {size_t{1} << 40});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_EQ(error.where(), "--max-row");
  }
}

}  // namespace
}  // namespace assay::families

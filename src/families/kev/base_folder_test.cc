#include "families/kev/base_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "assay/error.h"
#include "testing/temp_folder.h"

namespace assay::families::kev {
namespace {

namespace fs = std::filesystem;

using ::assay::testing::TempFolder;
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

// A folder with kev/ in it, and a cache at cache/.
class BaseFolder : public ::testing::Test {
 protected:
  BaseFolder() {
    folder_.Write("kev/adapter_config.json", "{}");
    head_.base = "Owner/Base";
    head_.base_revision = "abc123";
    environment_.hf_hub_cache = (folder_.path() / "cache").string();
  }

  fs::path Find() const {
    return FindBaseFolder(folder_.path() / "kev", head_, chosen_, environment_);
  }
  fs::path Write(const std::string& name) const { return folder_.Write(name, "{}").parent_path(); }

  TempFolder folder_;
  HeadFile head_;
  std::optional<fs::path> chosen_;
  CacheEnvironment environment_;
};

TEST_F(BaseFolder, TheFirstPlaceThatHasOneIsTaken) {
  const fs::path snapshot = Write("cache/models--Owner--Base/snapshots/abc123/config.json");
  EXPECT_EQ(Find(), snapshot);
  Write("base/config.json");
  EXPECT_EQ(Find(), folder_.path() / "kev/../base");
  const fs::path inside = Write("kev/base/config.json");
  EXPECT_EQ(Find(), inside);
  chosen_ = Write("elsewhere/config.json");
  EXPECT_EQ(Find(), *chosen_);
}

TEST_F(BaseFolder, ARefLeadsToItsCommit) {
  const fs::path snapshot = Write("cache/models--Owner--Base/snapshots/def456/config.json");
  folder_.Write("cache/models--Owner--Base/refs/v1.0", "def456\n");
  folder_.Write("cache/models--Owner--Base/refs/main", "def456");
  folder_.Write("cache/models--Owner--Base/refs/refs/pr/1", "def456");
  for (const char* revision : {"v1.0", "main", "refs/pr/1", "def456"}) {
    head_.base_revision = revision;
    EXPECT_EQ(Find(), snapshot) << revision;
  }
  head_.base_revision.reset();
  EXPECT_EQ(Find(), snapshot);
  // A ref that climbs out of the cache is not followed.
  folder_.Write("cache/models--Owner--Base/refs/evil", "../../../kev");
  head_.base_revision = "evil";
  EXPECT_THAT(Problem([&] { Find(); }), HasSubstr("snapshots/evil (no such folder)"));
}

TEST_F(BaseFolder, TheCacheIsWhereHuggingFaceSaysItIs) {
  const auto shown = [](const CacheEnvironment& environment) {
    const auto cache = FindHubCache(environment);
    return cache ? cache->shown + " " + cache->path.string() : "";
  };
  CacheEnvironment all{"/a", "/b", "/c", "/d", "/e"};
  EXPECT_EQ(shown(all), "HF_HUB_CACHE /a");
  all.hf_hub_cache = "~/x";
  EXPECT_EQ(shown(all), "HF_HUB_CACHE /e/x");
  all.hf_hub_cache = "";
  EXPECT_EQ(shown(all), "HUGGINGFACE_HUB_CACHE /b");
  all.huggingface_hub_cache = "";
  EXPECT_EQ(shown(all), "HF_HOME/hub /c/hub");
  all.hf_home = "";
  EXPECT_EQ(shown(all), "XDG_CACHE_HOME/huggingface/hub /d/huggingface/hub");
  all.xdg_cache_home = "";
  EXPECT_EQ(shown(all), "~/.cache/huggingface/hub /e/.cache/huggingface/hub");
  all.home = "";
  EXPECT_EQ(shown(all), "");
}

TEST_F(BaseFolder, EverythingThatWasTriedIsListed) {
  folder_.Write("kev/base/README.md", "");
  EXPECT_EQ(
      Problem([&] { Find(); }),
      "kev: needs its base model Owner/Base at abc123, which was not found; tried kev/base (has "
      "no config.json), kev/../base (no such folder), HF_HUB_CACHE/models--Owner--Base (no such "
      "folder) (name its folder with --base)");
  folder_.Write("cache/models--Owner--Base/refs/main", "def456");
  EXPECT_THAT(Problem([&] { Find(); }),
              HasSubstr("HF_HUB_CACHE/models--Owner--Base/snapshots/abc123 (no such folder)"));
  environment_ = {};
  EXPECT_THAT(Problem([&] { Find(); }), HasSubstr("the Hugging Face cache (no HF_HUB_CACHE"));
}

TEST_F(BaseFolder, AChosenFolderIsNotReplacedByAnother) {
  Write("kev/base/config.json");
  chosen_ = folder_.path() / "nowhere";
  EXPECT_EQ(Problem([&] { Find(); }),
            "nowhere: is not the base model: no such folder (the folder of Owner/Base)");
  folder_.Write("nowhere/README.md", "");
  EXPECT_THAT(Problem([&] { Find(); }), HasSubstr("has no config.json"));
}

TEST_F(BaseFolder, NamesThatAreNoneOfTheHubAreNotPaths) {
  Write("cache/models--evil/snapshots/abc123/config.json");
  Write("cache/models--..--evil/snapshots/abc123/config.json");
  for (const char* name :
       {"/data/base", "../evil", "./base", "a/b/c", "a/", "", "a b", "~", "a\\b"}) {
    head_.base = name;
    EXPECT_THAT(Problem([&] { Find(); }), HasSubstr("is none of the Hub")) << name;
  }
  head_.base = "Owner/Base";
  for (const char* revision : {"../x", "/x", "a b", "a/../b"}) {
    head_.base_revision = revision;
    EXPECT_THAT(Problem([&] { Find(); }), HasSubstr("is none of the Hub")) << revision;
  }
  head_.base_revision = "branch/name";
  folder_.Write("cache/models--Owner--Base/refs/main", "def456");
  EXPECT_THAT(Problem([&] { Find(); }), HasSubstr("refs/branch/name (no such ref)"));
}

TEST_F(BaseFolder, TellsAnAdapterFromFullWeights) {
  EXPECT_EQ(KindOfFolder(folder_.path() / "kev"), WeightsKind::kLora);
  folder_.Write("full/config.json", "{}");
  EXPECT_THAT(Problem([&] { KindOfFolder(folder_.path() / "full"); }),
              HasSubstr("full: is no Kev checkpoint (a folder with adapter_config.json"));
  folder_.Write("full/model.safetensors-00001-of-00001.safetensors", "");
  EXPECT_EQ(KindOfFolder(folder_.path() / "full"), WeightsKind::kFull);
  // The adapter decides, as in the makers' loader.
  folder_.Write("full/adapter_config.json", "{}");
  EXPECT_EQ(KindOfFolder(folder_.path() / "full"), WeightsKind::kLora);
  EXPECT_THAT(Problem([&] { KindOfFolder(folder_.path() / "none"); }),
              HasSubstr("none: no such folder"));
}

}  // namespace
}  // namespace assay::families::kev

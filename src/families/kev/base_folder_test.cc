#include "families/kev/base_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "assay/error.h"
#include "testing/temp_folder.h"

namespace assay::families::kev {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kCommit[] = "dc7cdfe2ee4154fa7e30f5b51ca41bfa40174e68";

class BaseFolderTest : public ::testing::Test {
 protected:
  BaseFolderTest() {
    request_.kev = folder_.path() / "kev";
    request_.name = "Qwen/Qwen3.5-0.8B-Base";
    request_.revision = kCommit;
    variables_["HOME"] = (folder_.path() / "home").string();
    fs::create_directories(request_.kev);
  }
  fs::path MakeModel(const fs::path& at) {
    fs::create_directories(folder_.path() / at);
    std::ofstream(folder_.path() / at / "config.json") << "{}";
    return folder_.path() / at;
  }
  fs::path Find() {
    return FindBase(request_, [this](const std::string& name) -> std::optional<std::string> {
      const auto found = variables_.find(name);
      if (found == variables_.end()) return std::nullopt;
      return found->second;
    });
  }
  std::string Refusal() {
    try {
      return "found " + Find().string();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kModel);
      return error.what();
    }
  }

  testing::TempFolder folder_;
  BaseRequest request_;
  std::map<std::string, std::string> variables_;
};

const std::string kRepository = "hub/models--Qwen--Qwen3.5-0.8B-Base/";

TEST_F(BaseFolderTest, LooksInThisOrder) {
  EXPECT_THAT(Refusal(), AllOf(HasSubstr("Qwen/Qwen3.5-0.8B-Base"), HasSubstr("kev/base"),
                               HasSubstr("kev/../base"), HasSubstr(kCommit), HasSubstr("--base")));
  const fs::path cached =
      MakeModel("home/.cache/huggingface/" + kRepository + "snapshots/" + kCommit);
  EXPECT_EQ(Find(), cached);
  const fs::path beside = MakeModel("base");
  EXPECT_TRUE(fs::equivalent(Find(), beside));
  const fs::path inside = MakeModel("kev/base");
  EXPECT_EQ(Find(), inside);
  request_.given = MakeModel("elsewhere");
  EXPECT_EQ(Find(), request_.given);
  // What is asked for by name is not replaced by what lies near.
  request_.given = folder_.path() / "none";
  EXPECT_THAT(Refusal(), AllOf(HasSubstr("--base"), HasSubstr("config.json")));
}

TEST_F(BaseFolderTest, TheCacheIsWhereHuggingFaceKeepsIt) {
  const fs::path at_home = MakeModel("hf/" + kRepository + "snapshots/" + kCommit);
  variables_["HF_HOME"] = (folder_.path() / "hf").string();
  EXPECT_EQ(Find(), at_home);
  const fs::path at_hub = MakeModel("other/" + kRepository + "snapshots/" + kCommit);
  variables_["HF_HUB_CACHE"] = (folder_.path() / "other" / "hub").string();
  EXPECT_EQ(Find(), at_hub);
  variables_.erase("HF_HUB_CACHE");
  variables_.erase("HF_HOME");
  const fs::path xdg = MakeModel("xdg/huggingface/" + kRepository + "snapshots/" + kCommit);
  variables_["XDG_CACHE_HOME"] = (folder_.path() / "xdg").string();
  EXPECT_EQ(Find(), xdg);
}

TEST_F(BaseFolderTest, ANamedRevisionIsLookedUp) {
  const fs::path cached =
      MakeModel("home/.cache/huggingface/" + kRepository + "snapshots/" + kCommit);
  const fs::path refs = folder_.path() / "home/.cache/huggingface" / kRepository / "refs";
  fs::create_directories(refs);
  std::ofstream(refs / "v1.0") << kCommit << "\n";
  std::ofstream(refs / "main") << kCommit;
  for (const char* revision : {"v1.0", "main", ""}) {
    request_.revision = revision;
    EXPECT_EQ(Find(), cached) << revision;
  }
  request_.revision = "v2.0";
  EXPECT_THAT(Refusal(), HasSubstr("v2.0"));
}

// Names come from a file: they lead nowhere but into the cache.
TEST_F(BaseFolderTest, NamesWithPathsInThemAreNotFollowed) {
  MakeModel("home/.cache/huggingface/hub/models--Qwen--x/snapshots/main");
  MakeModel("secret");
  for (const char* name : {"../../secret", "Qwen/../x", "/etc", "Qwen/x/../..", "", "Qwen/"}) {
    request_.name = name;
    request_.revision = "";
    EXPECT_THAT(Refusal(), HasSubstr("is not here")) << name;
  }
  request_.name = "Qwen/x";
  request_.revision = "../../../../../../../secret";
  EXPECT_THAT(Refusal(), HasSubstr("is not here"));
}

}  // namespace
}  // namespace assay::families::kev

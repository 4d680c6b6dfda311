// Prepared states on disk: what is loaded answers like what was saved, and nothing else is loaded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "assay/model.h"
#include "base/file.h"
#include "testing/temp_folder.h"

namespace assay::tests {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

fs::path Data(const std::string& name) {
  return fs::path(ASSAY_SOURCE_DIR) / "tests" / "data" / name;
}

constexpr std::string_view kRequest =
    R"({"state": "My card was charged twice, and nobody answers.", "questions": {
        "pay": {"type": "noul", "instructions": "Is this about a payment?"},
        "team": {"type": "choice", "instructions": "Who?", "criteria": {"a": "billing", "b": null}}}})";

class SessionFile : public ::testing::TestWithParam<std::string> {
 protected:
  Model Load(LoadOptions options = {}) const { return Model::Load(Data(GetParam()), options); }
  fs::path Saved(const Model& model) const {
    const fs::path file = folder_.path() / "state.assay";
    model.Prepare(Request::Parse(kRequest)).Save(file);
    return file;
  }
  static std::string Refusal(const Model& model, const fs::path& file) {
    try {
      model.LoadSession(file);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kFile);
      EXPECT_THAT(error.what(), HasSubstr(file.filename().string()));
      return error.what();
    }
    return "was loaded";
  }
  static std::string Read(const fs::path& file) {
    return ReadFile(file, ErrorKind::kFile, size_t{1} << 30);
  }
  static void Write(const fs::path& file, const std::string& bytes) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
  }

  testing::TempFolder folder_;
};

TEST_P(SessionFile, AnswersHaveTheBitsOfAFreshRun) {
  const Model model = Load();
  const fs::path file = Saved(model);
  const Request request = Request::Parse(kRequest);
  const Model again = Load();  // as another process would
  const Session session = again.LoadSession(file);
  EXPECT_EQ(session.tokens(), model.Prepare(request).tokens());
  EXPECT_EQ(session.bytes(), model.Prepare(request).bytes());
  EXPECT_EQ(session.Decide(request).TraceLines("x"), model.Decide(request).TraceLines("x"));
  // Twice: the state is not used up. And another state is run from its start.
  EXPECT_EQ(session.Decide(request).TraceLines("x"), model.Decide(request).TraceLines("x"));
  const Request other = Request::Parse(
      R"({"state": "Else.", "questions": {"q": {"type": "noul", "instructions": "Is it?"}}})");
  EXPECT_EQ(session.Decide(other).TraceLines("x"), model.Decide(other).TraceLines("x"));
}

TEST_P(SessionFile, AnotherModelOrArithmeticIsRefused) {
  const Model model = Load();
  const fs::path file = Saved(model);
  const bool kev = GetParam().starts_with("kev");
  const Model stranger = Model::Load(Data(kev ? "d1_tiny" : "kev_tiny/kev"));
  EXPECT_THAT(Refusal(stranger, file), HasSubstr("another model"));
  if (!kev) return;
  LoadOptions options;
  options.delta = "chunk32";
  EXPECT_THAT(Refusal(Load(options), file), HasSubstr("other kernels"));
  options.delta = "fused";
  options.merge = "f32";
  EXPECT_THAT(Refusal(Load(options), file), HasSubstr("other kernels"));
}

TEST_P(SessionFile, SpoiledFilesAreRefused) {
  const Model model = Load();
  const fs::path file = Saved(model);
  const std::string good = Read(file);
  Write(file, good.substr(0, good.size() - 4));
  EXPECT_THAT(Refusal(model, file), HasSubstr("another size"));
  Write(file, good + "1234");
  EXPECT_THAT(Refusal(model, file), HasSubstr("another size"));
  std::string flipped = good;
  flipped[good.size() - 5] = static_cast<char>(flipped[good.size() - 5] ^ 1);
  Write(file, flipped);
  EXPECT_THAT(Refusal(model, file), HasSubstr("other bytes"));
  for (const size_t size : {size_t{0}, size_t{5}, size_t{14}, size_t{40}}) {
    Write(file, good.substr(0, size));
    EXPECT_NE(Refusal(model, file), "was loaded") << size;
  }
  // Counts that would ask for memory before anything is compared.
  std::string huge = good;
  const size_t at = huge.find("\"ids\":");
  huge.insert(at + 6, "9999999999");
  Write(file, huge);
  EXPECT_THAT(Refusal(model, file), HasSubstr("another size"));
  Write(file, "{}");
  EXPECT_THAT(Refusal(model, file), HasSubstr("no prepared state"));
  EXPECT_THAT(Refusal(model, folder_.path() / "none"), HasSubstr("none"));
}

TEST_P(SessionFile, AFolderThatIsNotThereIsNamed) {
  const Session session = Load().Prepare(Request::Parse(kRequest));
  try {
    session.Save(folder_.path() / "none" / "state.assay");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kFile);
    EXPECT_THAT(error.what(), HasSubstr("state.assay"));
  }
}

INSTANTIATE_TEST_SUITE_P(Families, SessionFile, ::testing::Values("d1_tiny", "kev_tiny/kev"),
                         [](const auto& test) {
                           return test.param.substr(0, test.param.find('_'));
                         });

}  // namespace
}  // namespace assay::tests

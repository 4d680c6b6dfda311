#include "formats/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "assay/error.h"
#include "formats/config_parts.h"
#include "testing/safetensors_writer.h"
#include "testing/temp_folder.h"

namespace assay::formats {
namespace {

using ::assay::testing::SafetensorsWriter;
using ::assay::testing::TempFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// What `read` refuses in `text`, or "". `notes` receives what was said.
std::string Problem(const std::string& text, const std::function<void(const ConfigReader&)>& read,
                    std::vector<std::string>* notes = nullptr) {
  std::vector<std::string> own;
  const json::Value value = json::Parse(text, ErrorKind::kModel, "config.json");
  try {
    read(ConfigReader(value, "config.json", notes == nullptr ? own : *notes));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kModel);
    return error.what();
  }
  return "";
}

TEST(Config, NamesTheFullPathOfAKey) {
  const auto read = [](const ConfigReader& root) {
    root.Object("text_config").Object("inner").Int("hidden_size", {1, 10});
  };
  EXPECT_EQ(Problem(R"({"text_config":{"inner":{"hidden_size":"8"}}})", read),
            "config.json: text_config.inner.hidden_size: is \"8\", not an integer");
  EXPECT_EQ(Problem(R"({"text_config":{"inner":{}}})", read),
            "config.json: text_config.inner.hidden_size: is missing");
  EXPECT_EQ(Problem(R"({"text_config":[]})", read),
            "config.json: text_config: is [], not an object");
  EXPECT_EQ(Problem("{}", read), "config.json: text_config: is missing");
  EXPECT_EQ(Problem("[]", read), "config.json: is an array, not an object");
}

TEST(Config, IntegersAreWholeAndInRange) {
  const auto read = [](const ConfigReader& root) { root.Int("n", {1, 10}); };
  EXPECT_EQ(Problem(R"({"n":1})", read), "");
  EXPECT_EQ(Problem(R"({"n":10})", read), "");
  EXPECT_EQ(Problem(R"({"n":0})", read), "config.json: n: is 0 (from 1 to 10)");
  EXPECT_THAT(Problem(R"({"n":11})", read), HasSubstr("is 11"));
  EXPECT_THAT(Problem(R"({"n":18446744073709551617})", read), HasSubstr("is 18446744073709551617"));
  EXPECT_THAT(Problem(R"({"n":2.0})", read), HasSubstr("is 2.0, not an integer"));
  EXPECT_THAT(Problem(R"({"n":true})", read), HasSubstr("is true, not an integer"));
  EXPECT_THAT(Problem(R"({"n":null})", read), HasSubstr("is missing"));
}

TEST(Config, OtherTypesAreChecked) {
  EXPECT_EQ(Problem(R"({"x":1})", [](const auto& r) { EXPECT_EQ(r.Float("x", {0, 2}), 1.0); }), "");
  EXPECT_THAT(Problem(R"({"x":3})", [](const auto& r) { r.Float("x", {0, 2}); }),
              HasSubstr("is 3"));
  EXPECT_THAT(Problem(R"({"x":"1"})", [](const auto& r) { r.Float("x", {0, 2}); }),
              HasSubstr("not a number"));
  EXPECT_THAT(Problem(R"({"x":1})", [](const auto& r) { r.Bool("x"); }),
              HasSubstr("true or false"));
  EXPECT_THAT(Problem(R"({"x":1})", [](const auto& r) { r.String("x"); }), HasSubstr("a string"));
  EXPECT_EQ(Problem(R"({"x":"c"})", [](const auto& r) { r.OneOf("x", {"a", "b"}); }),
            "config.json: x: is 'c', which is not supported (a or b)");
  EXPECT_THAT(Problem("{}", [](const auto& r) { r.OneOf("x", {"a"}); }), HasSubstr("is missing"));
  EXPECT_THAT(Problem(R"({"x":[1,"b"]})", [](const auto& r) { r.FindInts("x", {0, 9}); }),
              HasSubstr("x[1]: is \"b\", not an integer"));
  EXPECT_THAT(Problem(R"({"x":["a",2]})", [](const auto& r) { r.FindStrings("x"); }),
              HasSubstr("x[1]: is 2, not a string"));
  EXPECT_EQ(Problem(R"({"x":7,"y":[7,8]})",
                    [](const ConfigReader& r) {
                      EXPECT_THAT(r.IntOrInts("x", {0, 9}), ElementsAre(7));
                      EXPECT_THAT(r.IntOrInts("y", {0, 9}), ElementsAre(7, 8));
                      EXPECT_THAT(r.IntOrInts("z", {0, 9}), IsEmpty());
                    }),
            "");
}

TEST(Config, SpellingsOfOneKeyMustAgree) {
  const auto read = [](const ConfigReader& root) {
    EXPECT_EQ(root.Int({"intermediate_size", "block_ff_dim"}, {1, 100}), 8);
  };
  EXPECT_EQ(Problem(R"({"intermediate_size":8})", read), "");
  EXPECT_EQ(Problem(R"({"block_ff_dim":8})", read), "");
  EXPECT_EQ(Problem(R"({"block_ff_dim":8,"intermediate_size":null})", read), "");
  EXPECT_EQ(Problem(R"({"block_ff_dim":8,"intermediate_size":8})", read), "");
  EXPECT_EQ(Problem(R"({"block_ff_dim":9,"intermediate_size":8})", read),
            "config.json: block_ff_dim: is 9, but its other spelling intermediate_size is 8 (keep "
            "the one that is right)");
  EXPECT_THAT(Problem("{}", read), HasSubstr("is missing (also read as block_ff_dim)"));
}

TEST(Config, SpellingsThatWriteOneNumberTwoWaysAgree) {
  EXPECT_EQ(Problem(R"({"theta":1000000,"rope_theta":1e6})",
                    [](const ConfigReader& root) {
                      EXPECT_EQ(root.Float({"theta", "rope_theta"}, {1, 1e9}), 1e6);
                    }),
            "");
}

TEST(Config, DefaultsAreSaidAloud) {
  std::vector<std::string> notes;
  EXPECT_EQ(Problem(
                R"({"text_config":{"there":3}})",
                [](const ConfigReader& root) {
                  const ConfigReader text = root.Object("text_config");
                  EXPECT_EQ(text.IntOr("there", {1, 9}, 5), 3);
                  EXPECT_EQ(text.IntOr("taps", {1, 9}, 5), 5);
                  EXPECT_EQ(text.OneOf("act", {"a", "b"}, 1), 1u);
                },
                &notes),
            "");
  EXPECT_THAT(notes,
              ElementsAre("config.json: text_config.taps is absent: the makers' default 5 is used",
                          "config.json: text_config.act is absent: the makers' default b is used"));
}

TEST(Config, ModelTypeNeedsAFolderWithASoundFile) {
  const TempFolder folder;
  const auto problem = [&](const std::filesystem::path& path) -> std::string {
    try {
      ReadModelType(path);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kModel);
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(problem(folder.path() / "gone"), HasSubstr("gone: no such folder"));
  EXPECT_THAT(problem(folder.path()), HasSubstr("config.json: no such file"));
  folder.Write("config.json", "{");
  EXPECT_THAT(problem(folder.path()), HasSubstr("config.json: not valid JSON"));
  folder.Write("config.json", "[]");
  EXPECT_EQ(problem(folder.path()), "config.json: is an array, not an object");
  folder.Write("config.json", R"({"architectures":["A"]})");
  EXPECT_EQ(problem(folder.path()), "config.json: model_type: is missing");
  folder.Write("config.json", R"({"model_type":"lfm2_vl","architectures":["A","B"]})");
  const ModelType type = ReadModelType(folder.path());
  EXPECT_EQ(type.model_type, "lfm2_vl");
  EXPECT_THAT(type.architectures, ElementsAre("A", "B"));
}

TEST(Rope, ReadsEveryPlaceAndRefusesContradictions) {
  const auto read = [](const ConfigReader& root) { EXPECT_EQ(ReadRope(root, "conv").theta, 1e6); };
  EXPECT_EQ(Problem(R"({"rope_theta":1000000})", read), "");
  EXPECT_EQ(Problem(R"({"rope_parameters":{"rope_theta":1e6}})", read), "");
  EXPECT_EQ(Problem(R"({"rope_theta":1e6,"rope_parameters":{"rope_theta":1000000}})", read), "");
  EXPECT_EQ(Problem(R"({"rope_theta":1e6,"rope_scaling":null})", read), "");
  EXPECT_THAT(Problem(R"({"rope_theta":1e6,"rope_scaling":{"type":"linear","factor":2}})", read),
              HasSubstr("rope_scaling.type: is 'linear', which is not supported (default)"));
  EXPECT_THAT(Problem(R"({"rope_parameters":{"full_attention":{"rope_theta":1e6}}})", read),
              HasSubstr("rope_parameters: has no block for the layer kind conv (it has full_att"));
  EXPECT_THAT(Problem(R"({"rope_theta":0})", read), HasSubstr("rope_theta: is 0"));
  EXPECT_THAT(Problem(R"({"rope_theta":1e6,"partial_rotary_factor":0.5,)"
                      R"("rope_parameters":{"partial_rotary_factor":0.25}})",
                      read),
              HasSubstr("partial_rotary_factor: is 0.5, but config.json: rope_parameters.partial"));
}

TEST(WeightsDtype, NewAndOldKeyMustAgree) {
  const auto read = [](const ConfigReader& root) {
    EXPECT_EQ(ReadWeightsDtype(root), Dtype::kF16);
  };
  EXPECT_EQ(Problem(R"({"dtype":"float16","torch_dtype":"float16"})", read), "");
  EXPECT_THAT(Problem(R"({"dtype":"float16","torch_dtype":"bfloat16"})", read),
              HasSubstr("torch_dtype: is \"bfloat16\", but its other spelling dtype is"));
  EXPECT_THAT(Problem(R"({"torch_dtype":"int8"})", read), HasSubstr("torch_dtype: is 'int8'"));
  EXPECT_EQ(Problem("{}", [](const auto& r) { EXPECT_EQ(ReadWeightsDtype(r), std::nullopt); }), "");
}

TEST(LayerTypes, GiveOneIndexPerLayer) {
  EXPECT_EQ(Problem(R"({"layer_types":["b","a","b"]})",
                    [](const ConfigReader& root) {
                      EXPECT_THAT(*ReadLayerTypes(root, 3, {"a", "b"}), ElementsAre(1, 0, 1));
                    }),
            "");
}

// Folder with a config and an embedding, and a head where `head` is not 0.
std::string HeadProblem(const std::string& config, bool class_default, float head,
                        std::string_view* chosen, std::vector<std::string>* notes) {
  const TempFolder folder;
  SafetensorsWriter writer;
  writer.AddF32("embed", {2}, std::vector<float>{1, 2});
  if (head != 0) writer.AddF32("head", {2}, std::vector<float>{1, head});
  folder.Write("model.safetensors", writer.Bytes());
  const Checkpoint checkpoint = Checkpoint::Open(folder.path());
  return Problem(
      config,
      [&](const ConfigReader& root) {
        *chosen = HeadTensor(ReadTied(root, class_default), checkpoint, "embed", "head", *notes);
      },
      notes);
}

TEST(Tied, EqualCopyOfTheEmbeddingIsNotedAndNotUsed) {
  std::string_view chosen;
  std::vector<std::string> notes;
  EXPECT_EQ(HeadProblem(R"({"tie_embedding":true})", false, 2, &chosen, &notes), "");
  EXPECT_EQ(chosen, "embed");
  EXPECT_THAT(notes, ElementsAre("model.safetensors: head: not used, an equal copy of embed (the "
                                 "head is tied)"));
}

TEST(Tied, AbsentKeyTakesTheFamilyDefaultAndSaysSo) {
  std::string_view chosen;
  std::vector<std::string> notes;
  EXPECT_EQ(HeadProblem("{}", true, 0, &chosen, &notes), "");
  EXPECT_EQ(chosen, "embed");
  EXPECT_THAT(notes,
              ElementsAre(HasSubstr("tie_word_embeddings is absent: the makers' default true")));
  // A stored head that contradicts the default is not passed over.
  EXPECT_THAT(HeadProblem("{}", true, 9, &chosen, &notes), HasSubstr("head: differs from embed"));
}

TEST(Tied, NestedSpellingsCount) {
  std::string_view chosen;
  std::vector<std::string> notes;
  EXPECT_EQ(HeadProblem(R"({"text_config":{"tie_embedding":false}})", true, 9, &chosen, &notes),
            "");
  EXPECT_EQ(chosen, "head");
  EXPECT_THAT(HeadProblem(R"({"tie_embedding":true,"text_config":{"tie_word_embeddings":false}})",
                          true, 9, &chosen, &notes),
              HasSubstr("tie_word_embeddings: is true, but config.json: text_config."));
}

}  // namespace
}  // namespace assay::formats

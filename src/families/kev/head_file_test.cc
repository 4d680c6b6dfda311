#include "families/kev/head_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <map>
#include <string>

#include "assay/error.h"
#include "testing/temp_folder.h"
#include "testing/torch_writer.h"

namespace assay::families::kev {
namespace {

using ::assay::testing::PickleWriter;
using ::assay::testing::RawF32;
using ::assay::testing::TempFolder;
using ::assay::testing::TorchSave;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Write = std::function<void(PickleWriter&)>;

// A head of head_dim 2 over a hidden size of 3; every key can be replaced or, with null, left out.
class HeadMaker {
 public:
  HeadMaker() {
    fields_["base"] = Words("Tiny/Base");
    fields_["head_dim"] = Number(2);
    tensors_["k.bias"] = Tensor(0, {2});
    tensors_["k.weight"] = Tensor(1, {2, 3});
    tensors_["q.bias"] = Tensor(2, {2});
    tensors_["q.weight"] = Tensor(3, {2, 3});
    fields_["head"] = [this](PickleWriter& pickle) {
      pickle.BeginDict();
      for (const auto& [name, write] : tensors_) {
        if (write == nullptr) continue;
        pickle.Text(name);
        write(pickle);
      }
      pickle.EndDict();
    };
  }

  static Write Words(const std::string& text) {
    return [text](PickleWriter& pickle) { pickle.Text(text); };
  }
  static Write Number(int64_t value) {
    return [value](PickleWriter& pickle) { pickle.Int(value); };
  }
  static Write Real(double value) {
    return [value](PickleWriter& pickle) { pickle.Float(value); };
  }
  static Write Truth(bool value) {
    return [value](PickleWriter& pickle) { pickle.Bool(value); };
  }
  static Write Nothing() {
    return [](PickleWriter& pickle) { pickle.None(); };
  }
  // A view of storage `key`; each storage has 12 elements.
  static Write Tensor(int key, const std::vector<uint64_t>& shape) {
    return [key, shape](PickleWriter& pickle) {
      const std::vector<uint64_t> strides =
          shape.size() == 2 ? std::vector<uint64_t>{shape[1], 1} : std::vector<uint64_t>{1};
      pickle.Tensor("FloatStorage", key, 12, 0, shape, strides);
    };
  }

  HeadMaker& Set(const std::string& key, Write write) {
    fields_[key] = std::move(write);
    return *this;
  }
  HeadMaker& SetTensor(const std::string& key, Write write) {
    tensors_[key] = std::move(write);
    return *this;
  }
  HeadMaker& SetValue(float value) {
    value_ = value;
    return *this;
  }

  std::string Bytes() const {
    PickleWriter pickle;
    pickle.BeginDict();
    for (const auto& [key, write] : fields_) {
      if (write == nullptr) continue;
      pickle.Text(key);
      write(pickle);
    }
    pickle.EndDict();
    std::vector<std::string> storages;
    for (int key = 0; key < 4; ++key) {
      std::vector<float> values;
      for (int i = 0; i < 12; ++i) values.push_back(static_cast<float>(100 * key + i));
      if (key == 2) values[1] = value_;
      storages.push_back(RawF32(values));
    }
    return TorchSave(pickle.Finish(), storages);
  }

 private:
  std::map<std::string, Write> fields_;
  std::map<std::string, Write> tensors_;
  float value_ = 201;
};

HeadFile Parse(const HeadMaker& maker) {
  const std::string bytes = maker.Bytes();
  return ParseHead(std::as_bytes(std::span(bytes)), "head.pt");
}

std::string Problem(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kModel);
    return error.what();
  }
  return "";
}

std::string Problem(const HeadMaker& maker) {
  return Problem([&] { Parse(maker); });
}

TEST(HeadFile, AbsentKeysTakeTheMakersDefaults) {
  const HeadFile head = Parse(HeadMaker());
  EXPECT_EQ(head.base, "Tiny/Base");
  EXPECT_EQ(head.base_revision, std::nullopt);
  EXPECT_EQ(head.weights, WeightsKind::kLora);
  EXPECT_EQ(head.weights_dtype, WeightsDtype::kFp32);
  EXPECT_EQ(head.lora, 0);
  EXPECT_EQ(head.temperature, 1.0);
  EXPECT_FALSE(head.option_isolation);
  EXPECT_FALSE(head.special_embeddings);
  EXPECT_THAT(head.other_keys, ElementsAre());
  // head_dim is 256, which these two rows are not.
  EXPECT_EQ(Problem(HeadMaker().Set("head_dim", nullptr)),
            "head.pt: head: q.weight: is [2, 3], but head_dim and q.weight ask for [256, 3]");
}

TEST(HeadFile, ReadsEveryKey) {
  HeadMaker maker;
  maker.Set("base_revision", HeadMaker::Words("abc"))
      .Set("weights", HeadMaker::Words("full"))
      .Set("weights_dtype", HeadMaker::Words("bf16"))
      .Set("lora", HeadMaker::Number(16))
      .Set("temperature", HeadMaker::Real(2.3510958125672174))
      .Set("option_isolation", HeadMaker::Truth(true))
      .Set("special_embeddings", HeadMaker::Truth(true))
      .Set("args", HeadMaker::Nothing())
      .Set("zz", HeadMaker::Number(3));
  const HeadFile head = Parse(maker);
  EXPECT_EQ(head.base_revision, "abc");
  EXPECT_EQ(head.weights, WeightsKind::kFull);
  EXPECT_EQ(head.weights_dtype, WeightsDtype::kBf16);
  EXPECT_EQ(head.lora, 16);
  EXPECT_EQ(head.temperature, 2.3510958125672174);
  EXPECT_TRUE(head.option_isolation);
  EXPECT_TRUE(head.special_embeddings);
  EXPECT_THAT(head.other_keys, ElementsAre("args", "zz"));
  EXPECT_EQ(head.head_dim, 2u);
  EXPECT_EQ(head.hidden, 3u);
  EXPECT_THAT(head.k_bias, ElementsAre(0, 1));
  EXPECT_THAT(head.k_weight, ElementsAre(100, 101, 102, 103, 104, 105));
  EXPECT_THAT(head.q_bias, ElementsAre(200, 201));
  EXPECT_THAT(head.q_weight, ElementsAre(300, 301, 302, 303, 304, 305));
}

TEST(HeadFile, ANullRevisionIsNoRevisionAndAWholeTemperatureIsANumber) {
  const HeadFile head = Parse(HeadMaker()
                                  .Set("base_revision", HeadMaker::Nothing())
                                  .Set("temperature", HeadMaker::Number(2)));
  EXPECT_EQ(head.base_revision, std::nullopt);
  EXPECT_EQ(head.temperature, 2.0);
}

TEST(HeadFile, RefusesKeysThatAreMissingOrOfAnotherKind) {
  const auto problem = [](const std::string& key, const Write& write) {
    return Problem(HeadMaker().Set(key, write));
  };
  EXPECT_EQ(problem("base", nullptr), "head.pt: base: is missing");
  EXPECT_EQ(problem("base", HeadMaker::Nothing()), "head.pt: base: is None, not a string");
  EXPECT_THAT(problem("base", HeadMaker::Words("")), HasSubstr("base: is empty"));
  EXPECT_EQ(problem("head", nullptr), "head.pt: head: is missing");
  EXPECT_THAT(problem("head", HeadMaker::Number(1)), HasSubstr("is an int, not a dict of tensors"));
  EXPECT_THAT(problem("base_revision", HeadMaker::Number(1)), HasSubstr("is an int, not a string"));
  EXPECT_EQ(problem("weights", HeadMaker::Words("half")),
            "head.pt: weights: is 'half' (lora or full)");
  EXPECT_THAT(problem("weights_dtype", HeadMaker::Words("fp16")), HasSubstr("(fp32 or bf16)"));
  EXPECT_THAT(problem("lora", HeadMaker::Number(-1)), HasSubstr("lora: is -1 (from 0"));
  EXPECT_THAT(problem("lora", HeadMaker::Real(16)), HasSubstr("is a float, not an int"));
  EXPECT_THAT(problem("head_dim", HeadMaker::Number(0)), HasSubstr("head_dim: is 0 (from 1"));
  EXPECT_THAT(problem("option_isolation", HeadMaker::Number(1)), HasSubstr("not a bool"));
  EXPECT_THAT(problem("special_embeddings", HeadMaker::Words("")), HasSubstr("not a bool"));
}

TEST(HeadFile, RefusesTemperaturesThatCannotDivide) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {0.0, -0.0, -1.5, infinity, -infinity, std::nan("")}) {
    EXPECT_THAT(Problem(HeadMaker().Set("temperature", HeadMaker::Real(bad))),
                HasSubstr("(finite and above zero)"))
        << bad;
  }
  EXPECT_THAT(Problem(HeadMaker().Set("temperature", HeadMaker::Number(0))),
              HasSubstr("temperature: is 0 (finite and above zero)"));
  EXPECT_THAT(Problem(HeadMaker().Set("temperature", HeadMaker::Truth(true))),
              HasSubstr("is a bool, not a number"));
  EXPECT_THAT(Problem(HeadMaker().Set("temperature", HeadMaker::Nothing())),
              HasSubstr("is None, not a number"));
}

TEST(HeadFile, RefusesOtherTensorsAndShapes) {
  const auto problem = [](const std::string& name, const Write& write) {
    return Problem(HeadMaker().SetTensor(name, write));
  };
  EXPECT_EQ(problem("k.bias", nullptr), "head.pt: head: k.bias: is missing");
  EXPECT_THAT(problem("q.weight", HeadMaker::Nothing()), HasSubstr("is None, not a tensor"));
  EXPECT_THAT(problem("r.bias", HeadMaker::Tensor(0, {2})), HasSubstr("has 'r.bias'"));
  EXPECT_EQ(problem("q.weight", HeadMaker::Tensor(0, {6})),
            "head.pt: head: q.weight: is [6] ([2, hidden size])");
  EXPECT_EQ(problem("q.weight", HeadMaker::Tensor(0, {3, 3})),
            "head.pt: head: q.weight: is [3, 3], but head_dim and q.weight ask for [2, 3]");
  EXPECT_THAT(problem("k.weight", HeadMaker::Tensor(0, {2, 4})), HasSubstr("k.weight: is [2, 4]"));
  EXPECT_THAT(problem("q.bias", HeadMaker::Tensor(0, {3})), HasSubstr("q.bias: is [3]"));
  EXPECT_THAT(problem("k.bias", HeadMaker::Tensor(0, {2, 1})), HasSubstr("k.bias: is [2, 1]"));
  EXPECT_THAT(problem("q.weight", HeadMaker::Tensor(0, {2, 0})), HasSubstr("has no columns"));
  EXPECT_THAT(Problem(HeadMaker().SetValue(std::nanf(""))),
              HasSubstr("q.bias: holds nan (finite numbers)"));
  EXPECT_THAT(Problem(HeadMaker().SetValue(std::numeric_limits<float>::infinity())),
              HasSubstr("q.bias: holds inf"));
}

TEST(HeadFile, RefusesWhatIsNoDict) {
  const std::string bytes = TorchSave(PickleWriter().None().Finish(), {});
  EXPECT_THAT(Problem([&] { ParseHead(std::as_bytes(std::span(bytes)), "head.pt"); }),
              HasSubstr("head.pt: holds None, not a dict"));
}

TEST(HeadFile, MustFitItsSurroundings) {
  const TempFolder folder;
  const HeadFile head = ReadHead(folder.Write("head.pt", HeadMaker().Bytes()));
  EXPECT_EQ(Problem([&] { CheckHead(head, {WeightsKind::kLora, 3, true}); }), "");
  EXPECT_THAT(Problem([&] { CheckHead(head, {WeightsKind::kFull, 3, true}); }),
              HasSubstr("head.pt: weights: is 'lora', but the folder holds full weights"));
  EXPECT_THAT(Problem([&] { CheckHead(head, {WeightsKind::kLora, 4, true}); }),
              HasSubstr("has 3 columns, but the base's hidden size is 4 (the base is Tiny/Base)"));
  HeadFile full = head;
  full.weights = WeightsKind::kFull;
  EXPECT_THAT(Problem([&] { CheckHead(full, {WeightsKind::kLora, 3, true}); }),
              HasSubstr("is 'full', but the folder holds an adapter"));
  HeadFile isolated = head;
  isolated.option_isolation = true;
  EXPECT_EQ(Problem([&] { CheckHead(isolated, {WeightsKind::kLora, 3, false}); }), "");
  EXPECT_THAT(Problem([&] { CheckHead(isolated, {WeightsKind::kLora, 3, true}); }),
              HasSubstr("head.pt: option_isolation: is true"));
  HeadFile special = head;
  special.special_embeddings = true;
  EXPECT_THAT(Problem([&] { CheckHead(special, {WeightsKind::kLora, 3, true}); }),
              HasSubstr("head.pt: special_embeddings: is true"));
}

}  // namespace
}  // namespace assay::families::kev

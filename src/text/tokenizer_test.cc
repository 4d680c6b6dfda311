#include "text/tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "base/file.h"
#include "base/json.h"

namespace assay::text {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace std::string_view_literals;

const std::filesystem::path kData = ASSAY_TEST_DATA;

json::Value ReadJson(const std::filesystem::path& path) {
  return json::Parse(ReadFile(path, ErrorKind::kFile, 1 << 24), ErrorKind::kFile, path.string());
}

const json::Value& Tiny() {
  static const json::Value value = ReadJson(kData / "text/tiny.json");
  return value;
}

// The tiny file with some of its fields replaced.
Tokenizer With(const json::Value& fields) {
  json::Value file = Tiny();
  for (auto& [name, value] : file.members()) {
    if (const json::Value* other = fields.Find(name)) value = *other;
  }
  return Tokenizer::FromJson(json::PrintCompact(file), "edited.json");
}

std::vector<int32_t> Ids(const json::Value& list) {
  std::vector<int32_t> out;
  for (const json::Value& id : list.items()) out.push_back(static_cast<int32_t>(*id.int64()));
  return out;
}

std::string LoadRefusal(const std::filesystem::path& path) {
  try {
    Tokenizer::Load(path);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kModel);
    return error.what();
  }
  return "accepted";
}

TEST(Tokenizer, CaseFilesGiveTheIdsOnRecord) {
  const std::filesystem::path folder = kData / "cases/17_tokenizer_json";
  const json::Value expected = ReadJson(folder / "expected.json");
  ASSERT_EQ(expected.members().size(), 5u);
  for (const auto& [name, texts] : expected.members()) {
    const Tokenizer tokenizer = Tokenizer::Load(folder / name);
    for (const auto& [text, ids] : texts.members()) {
      EXPECT_EQ(tokenizer.Encode(text), Ids(ids)) << name << ": " << text;
    }
  }
}

TEST(Tokenizer, CaseFilesAreReadOrRefusedAsTheTableSays) {
  const std::filesystem::path folder = kData / "cases/17_tokenizer_json";
  const json::Value rows = ReadJson(kData / "cases/17_tokenizer_json.expected.json");
  const json::Value recorded = ReadJson(folder / "expected.json");
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    files.insert(entry.path().filename().string());
  files.erase("expected.json");
  for (const auto& [name, outcome] : rows.members()) {
    EXPECT_EQ(files.erase(name), 1u) << name;
    if (outcome.string() == "the ids on record") {
      EXPECT_NE(recorded.Find(name), nullptr) << name;
    } else {
      EXPECT_THAT(LoadRefusal(folder / name), HasSubstr(outcome.string()));
    }
  }
  EXPECT_THAT(files, ::testing::IsEmpty());
  EXPECT_THAT(LoadRefusal(folder / "absent.json"), HasSubstr("no such file"));
}

TEST(Tokenizer, RecordedTextsGiveTheIdsOfTheReference) {
  size_t texts = 0;
  const json::Value recorded = ReadJson(kData / "text/recorded.json");
  for (const json::Value& entry : recorded.items()) {
    const Tokenizer tokenizer = With(*entry.Find("fields"));
    for (const json::Value& text : entry.Find("texts")->items()) {
      EXPECT_EQ(tokenizer.Encode(text.Find("text")->string()), Ids(*text.Find("ids")))
          << entry.Find("pipeline")->string() << ": " << text.Find("text")->string();
      ++texts;
    }
  }
  EXPECT_GE(texts, 300u);
}

TEST(Tokenizer, ControlTokensKeepTheirIdInEveryPlace) {
  const Tokenizer tokenizer = With({});
  const int32_t end = *tokenizer.TokenId("<|im_end|>");
  for (const std::string before : {"", ".", "?", "a", " ", "\n", "<", "<|im_end|>"}) {
    const std::vector<int32_t> ids = tokenizer.Encode(before + "<|im_end|>");
    EXPECT_EQ(ids.back(), end) << before;
    std::vector<int32_t> wanted = tokenizer.Encode(before);
    wanted.push_back(end);
    EXPECT_EQ(ids, wanted) << before;
  }
}

TEST(Tokenizer, NothingIsAddedAndALeadingMarkIsKept) {
  const Tokenizer tokenizer = With({});
  EXPECT_THAT(tokenizer.Encode(""), ElementsAre());
  EXPECT_EQ(tokenizer.Decode(tokenizer.Encode("\uFEFFa")), "\uFEFFa");
}

TEST(Tokenizer, DecodingGivesTheTextBack) {
  const Tokenizer tokenizer = With({});
  for (const std::string_view text :
       {"Hello world"sv, "<|im_start|>user\n caf\u00E9 \U0001F642\t"sv, "a\0b"sv, ""sv}) {
    EXPECT_EQ(tokenizer.Decode(tokenizer.Encode(text)), text);
  }
}

TEST(Tokenizer, BrokenBytesDecodeToOneReplacementEach) {
  const Tokenizer tokenizer = With({});
  const auto decode = [&](std::string_view bytes) {
    std::vector<int32_t> ids;
    for (const char byte : bytes) {
      for (int32_t id = 0; id < 300; ++id) {
        if (tokenizer.TokenBytes(id) == std::string_view(&byte, 1)) ids.push_back(id);
      }
    }
    return tokenizer.Decode(ids);
  };
  EXPECT_EQ(decode("a\xF0\x9F\x98z"), "a\uFFFDz");
  EXPECT_EQ(decode("\xC0\x80"), "\uFFFD\uFFFD");
  EXPECT_EQ(decode("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(decode("\xF4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(decode("\xE2\x82"), "\uFFFD");
  EXPECT_EQ(decode("\xE2\x82\xAC"), "\u20AC");
}

TEST(Tokenizer, TokensAreFoundByTheirExactText) {
  const Tokenizer tokenizer = With({});
  EXPECT_EQ(tokenizer.TokenId("<|pad|>"), 3102);
  EXPECT_EQ(tokenizer.TokenId("yes"), tokenizer.Encode("yes")[0]);
  EXPECT_EQ(tokenizer.TokenId("\u0120the"), tokenizer.Encode(" the")[0]);
  EXPECT_EQ(tokenizer.TokenId(" the"), std::nullopt);
  EXPECT_EQ(tokenizer.TokenId("<|pad|> "), std::nullopt);
  EXPECT_EQ(tokenizer.TokenId(""), std::nullopt);
  EXPECT_EQ(tokenizer.TokenId("\xFF"), std::nullopt);
  EXPECT_EQ(tokenizer.vocab_size(), 3226u);
  EXPECT_EQ(tokenizer.TokenBytes(3102), "<|pad|>");
  EXPECT_EQ(tokenizer.TokenBytes(3226), "");
  EXPECT_EQ(tokenizer.TokenBytes(-1), "");
}

TEST(Tokenizer, RefusesBytesThatAreNotUtf8) {
  const Tokenizer tokenizer = With({});
  for (const std::string text :
       {"ab\xFF", "\xC3", "\xED\xA0\x80", "<|im_end|>\x80", "\xF5\x80\x80\x80"}) {
    try {
      tokenizer.Encode(text);
      FAIL() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kRequest);
      EXPECT_THAT(error.what(), HasSubstr("is not UTF-8"));
    }
  }
}

TEST(Tokenizer, AMillionCharactersOfOneKindComeBack) {
  const Tokenizer d1 = With({});
  for (const std::string unit :
       {"a", " ", "\n\n", "us", ".", "7", "\u4E2D", "aB", "\"", "\t", "\u0301"}) {
    std::string run;
    while (run.size() < 1'000'000) run += unit;
    const std::vector<int32_t> ids = d1.Encode(run + "x");
    EXPECT_TRUE(d1.Decode(ids) == run + "x") << unit;
  }
  // Numbers are cut in threes, so the parts can be encoded one by one.
  std::string digits;
  std::vector<int32_t> wanted;
  const std::vector<int32_t> one = d1.Encode("173");
  for (int i = 0; i < 300'000; ++i) {
    digits += "173";
    wanted.insert(wanted.end(), one.begin(), one.end());
  }
  EXPECT_TRUE(d1.Encode(digits) == wanted);
}

TEST(Tokenizer, ThreadsShareOneObject) {
  const Tokenizer tokenizer = With({});
  const std::string text = "I was charged twice, don't you see? \u00FCber 1234 <|im_end|>\n\n";
  const std::vector<int32_t> wanted = tokenizer.Encode(text);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        EXPECT_EQ(tokenizer.Encode(text), wanted);
      }
    });
  }
}

// The Kev file has Qwen2's pattern, where a mark ends a run of letters; in Qwen3.5's it belongs to
// them (spec kev 0.1).
TEST(Tokenizer, TheQwenPatternsCanBeExchanged) {
  const std::filesystem::path file = kData / "kev/tokenizer.json";
  const Tokenizer written = Tokenizer::Load(file);
  const Tokenizer qwen2 = Tokenizer::Load(file, {SplitPattern::kQwen2});
  const Tokenizer qwen35 = Tokenizer::Load(file, {SplitPattern::kQwen35});
  std::string json = ReadFile(file, ErrorKind::kFile, 1 << 24);
  for (const auto& [from, to] :
       {std::pair(R"(\\p{L}+|)", R"([\\p{L}\\p{M}]+|)"),
        std::pair(R"( ?[^\\s\\p{L}\\p{N}]+)", R"( ?[^\\s\\p{L}\\p{M}\\p{N}]+)")}) {
    const size_t at = json.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    json.replace(at, std::string_view(from).size(), to);
  }
  const Tokenizer base = Tokenizer::FromJson(json, "base.json");
  const std::string marks = "we\u0336've q\u0323";
  EXPECT_NE(base.Encode(marks), written.Encode(marks));
  EXPECT_EQ(qwen2.Encode(marks), written.Encode(marks));
  EXPECT_EQ(qwen35.Encode(marks), base.Encode(marks));
  EXPECT_EQ(Tokenizer::FromJson(json, "base.json", {SplitPattern::kQwen2}).Encode(marks),
            written.Encode(marks));
  EXPECT_EQ(qwen35.Encode("no marks here"), written.Encode("no marks here"));
}

TEST(Tokenizer, OnlyTheQwenPatternsCanBeExchanged) {
  for (const SplitPattern split : {SplitPattern::kQwen2, SplitPattern::kQwen35}) {
    try {
      Tokenizer::Load(kData / "text/tiny.json", {split});
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kModel);
      EXPECT_STREQ(error.what(),
                   "tiny.json: its split pattern is neither Qwen2's nor Qwen3.5's, so it cannot be "
                   "exchanged (the tokenizer.json of a Qwen3.5 base)");
    }
  }
}

}  // namespace
}  // namespace assay::text

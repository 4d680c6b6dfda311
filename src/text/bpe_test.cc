#include "text/bpe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "text/byte_alphabet.h"

namespace assay::text {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A byte-level source: the 256 bytes have their own value as id, then the given tokens.
class Builder {
 public:
  Builder() {
    for (unsigned byte = 0; byte < 256; ++byte) {
      Entry(CharsOfBytes(std::string(1, static_cast<char>(byte))), byte);
    }
  }
  Builder& Entry(std::string_view text, uint32_t id) {
    source.vocabulary.push_back({Keep(text), id});
    return *this;
  }
  Builder& Token(std::string_view text) {
    return Entry(text, static_cast<uint32_t>(source.vocabulary.size()));
  }
  // A merge whose result becomes a token.
  Builder& Merge(std::string_view left, std::string_view right) {
    Token(std::string(left) + std::string(right));
    return Pair(left, right);
  }
  Builder& Pair(std::string_view left, std::string_view right) {
    source.merges.push_back({Keep(left), Keep(right)});
    return *this;
  }
  BpeSource::Span Keep(std::string_view text) {
    const auto first = static_cast<uint32_t>(source.texts.size());
    source.texts += text;
    return {first, static_cast<uint32_t>(text.size())};
  }
  std::vector<int32_t> Encode(std::string_view piece) const {
    std::vector<int32_t> out;
    Bpe::Scratch scratch;
    Bpe(source, "t.json").Encode(piece, scratch, out);
    return out;
  }
  std::string Refusal() const {
    try {
      const Bpe bpe(source, "t.json");
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kModel);
      return error.what();
    }
    return "accepted";
  }

  BpeSource source;
};

TEST(Bpe, MergesByRankAndLeftmostAmongEquals) {
  const Builder builder = Builder().Merge("b", "c").Merge("a", "b").Merge("a", "a");
  EXPECT_THAT(builder.Encode("abc"), ElementsAre('a', 256));
  EXPECT_THAT(builder.Encode("abab"), ElementsAre(257, 257));
  EXPECT_THAT(builder.Encode("aaaaa"), ElementsAre(258, 258, 'a'));
  EXPECT_THAT(builder.Encode(""), ElementsAre());
}

TEST(Bpe, IgnoreMergesTakesWholePiecesFirst) {
  Builder builder;
  builder.Merge("d", "o").Token("dog");
  EXPECT_THAT(builder.Encode("dog"), ElementsAre(256, 'g'));
  builder.source.ignore_merges = true;
  EXPECT_THAT(builder.Encode("dog"), ElementsAre(257));
  EXPECT_THAT(builder.Encode("dogs"), ElementsAre(256, 'g', 's'));
}

TEST(Bpe, ReadsTheByteAlphabet) {
  const Builder builder = Builder().Merge("\u0120", "a").Merge("\u00C3", "\u00A9");
  EXPECT_THAT(builder.Encode(" a"), ElementsAre(256));
  EXPECT_THAT(builder.Encode("\u00E9"), ElementsAre(257));
  EXPECT_THAT(builder.Encode(std::string_view("\0\xFF", 2)), ElementsAre(0, 255));
}

TEST(Bpe, ARepeatedPairHasItsLastRank) {
  EXPECT_THAT(Builder().Merge("a", "b").Merge("b", "c").Encode("abc"), ElementsAre(256, 'c'));
  EXPECT_THAT(Builder().Merge("a", "b").Merge("b", "c").Pair("a", "b").Encode("abc"),
              ElementsAre('a', 257));
}

TEST(Bpe, LongPiecesGiveWhatTheSlowRuleGives) {
  Builder builder;
  for (const char* pair : {"ab", "ba", "aa", "bb"}) builder.Merge({pair, 1}, {pair + 1, 1});
  builder.Merge("ab", "ab").Merge("aa", "b").Merge("ba", "ba").Merge("abab", "aa").Merge("b", "aa");
  builder.Merge("b", "c").Merge("a", "bc").Merge("bc", "c").Merge("c", "a").Merge("aa", "bc");
  const Bpe bpe(builder.source, "t.json");
  std::mt19937 random(1);
  for (size_t size = 1; size < 400; size += 3) {
    std::vector<std::string> parts;
    std::string text;
    for (size_t i = 0; i < size; ++i) {
      text += "aaaabbcc"[random() % 8];
      parts.emplace_back(1, text.back());
    }
    // The definition: while a pair has a merge, the first of lowest rank is joined.
    for (;;) {
      size_t best = parts.size();
      size_t best_rank = builder.source.merges.size();
      for (size_t i = 0; i + 1 < parts.size(); ++i) {
        for (size_t rank = 0; rank < best_rank; ++rank) {
          const BpeSource::Pair& pair = builder.source.merges[rank];
          if (builder.source.TextOf(pair.left) == parts[i] &&
              builder.source.TextOf(pair.right) == parts[i + 1]) {
            best = i;
            best_rank = rank;
          }
        }
      }
      if (best == parts.size()) break;
      parts[best] += parts[best + 1];
      parts.erase(parts.begin() + static_cast<ptrdiff_t>(best) + 1);
    }
    std::vector<int32_t> wanted;
    for (const std::string& part : parts) wanted.push_back(static_cast<int32_t>(*bpe.Find(part)));
    std::vector<int32_t> got;
    Bpe::Scratch scratch;
    bpe.Encode(text, scratch, got);
    ASSERT_EQ(got, wanted) << text;
  }
}

TEST(Bpe, AbsorbedSymbolsTakeNoPartAnyMore) {
  const Builder builder = Builder().Merge("a", "a").Merge("b", "c").Merge("a", "bc");
  std::vector<int32_t> wanted(100, 'x');
  wanted.insert(wanted.end(), {256, 258});
  EXPECT_EQ(builder.Encode(std::string(100, 'x') + "aaabc"), wanted);
}

TEST(Bpe, ScratchMemoryCarriesNothingOver) {
  const Builder builder = Builder().Merge("a", "b");
  const Bpe bpe(builder.source, "t.json");
  Bpe::Scratch scratch;
  std::vector<int32_t> out;
  bpe.Encode(std::string(1000, 'a'), scratch, out);
  out.clear();
  bpe.Encode("ab", scratch, out);
  EXPECT_THAT(out, ElementsAre(256));
  out.clear();
  bpe.Encode(std::string(100, 'b'), scratch, out);
  EXPECT_EQ(out, std::vector<int32_t>(100, 'b'));
}

TEST(Bpe, RefusesIdsAndTextsThatAppearTwice) {
  EXPECT_THAT(Builder().Entry("ab", 7).Refusal(), HasSubstr("two vocabulary entries have id 7"));
  EXPECT_THAT(Builder().Token("ab").Token("ab").Refusal(), HasSubstr("\"ab\" appears twice"));
  EXPECT_THAT(Builder().Token("a b").Token("a b").Refusal(), HasSubstr("\"a b\" appears twice"));
}

TEST(Bpe, RefusesMergesOutsideTheVocabularyByName) {
  EXPECT_THAT(Builder().Merge("a", "b").Pair("x", "yz").Refusal(),
              HasSubstr("merge 1 (\"x\" and \"yz\") needs \"yz\""));
  EXPECT_THAT(Builder().Pair("xy", "z").Refusal(), HasSubstr("needs \"xy\""));
  EXPECT_THAT(Builder().Pair("a", "b").Refusal(), HasSubstr("needs \"ab\""));
}

TEST(Bpe, RefusesAVocabularyThatLacksAByte) {
  Builder builder;
  builder.source.vocabulary.erase(builder.source.vocabulary.begin() + 'q');
  EXPECT_THAT(builder.Refusal(), HasSubstr("no token for byte 0x71"));
  Builder without_ff;
  without_ff.source.vocabulary.pop_back();  // no UTF-8 text has it
  EXPECT_EQ(without_ff.Refusal(), "accepted");
}

TEST(Bpe, EntriesOutsideTheByteAlphabetCanBeAskedForOnly) {
  Builder builder;
  builder.Token("\u65E5\u672C").source.ignore_merges = true;
  const Bpe bpe(builder.source, "t.json");
  EXPECT_EQ(bpe.Find("\u65E5\u672C"), 256u);
  EXPECT_EQ(bpe.BytesOf(256), "\u65E5\u672C");
  EXPECT_EQ(builder.Encode("\u65E5\u672C").size(), 6u);
}

TEST(Bpe, AModelOnCharactersRefusesUnknownOnes) {
  Builder builder;
  builder.source = {};
  builder.Token("a").Token("\u00E9").Merge("a", "\u00E9").source.byte_level = false;
  EXPECT_THAT(builder.Encode("aa\u00E9"), ElementsAre(0, 2));
  try {
    builder.Encode("ab");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kRequest);
    EXPECT_THAT(error.what(), HasSubstr("no token for \"b\""));
  }
}

TEST(ByteAlphabet, EveryByteReadsBack) {
  for (unsigned byte = 0; byte < 256; ++byte) {
    EXPECT_EQ(ByteOfChar(CharOfByte(static_cast<uint8_t>(byte))), byte);
  }
  EXPECT_EQ(CharOfByte(' '), U'\u0120');
  EXPECT_EQ(CharOfByte('\n'), U'\u010A');
  EXPECT_EQ(ByteOfChar(' '), std::nullopt);
  EXPECT_EQ(ByteOfChar(0x144), std::nullopt);
}

}  // namespace
}  // namespace assay::text

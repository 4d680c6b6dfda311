#include "cli/table.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "base/utf8.h"
#include "decide/answers.h"

namespace assay::cli {
namespace {

using ::testing::HasSubstr;

Answers AnswersOf(std::vector<Answer> list) {
  families::EncodedRequest request;
  request.input_tokens = 57;
  return Answers(std::make_shared<Answers::Impl>(
      Answers::Impl{"tiny", std::move(request), {}, std::move(list)}));
}

Answer Choice(std::vector<std::string> options, std::vector<double> probabilities) {
  Answer answer;
  answer.question = "team";
  answer.kind = "choice";
  answer.best = options[0];
  answer.options = std::move(options);
  answer.value = answer.confidence = probabilities[0];
  answer.probabilities = std::move(probabilities);
  return answer;
}

Answer Noul(double yes) {
  Answer answer;
  answer.question = "urgent?";
  answer.kind = "noul";
  answer.options = {"yes", "no"};
  answer.probabilities = {yes, 1 - yes};
  answer.value = yes;
  return answer;
}

std::vector<std::string> LinesOf(const std::string& table) {
  std::vector<std::string> lines;
  std::istringstream in(table);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

size_t Columns(const std::string& text) {
  size_t count = 0;
  for (size_t at = 0; at < text.size(); at += DecodeUtf8(text, at).bytes) ++count;
  return count;
}

constexpr TableStyle kAscii{80, false};
constexpr TableStyle kUnicode{80, true};

TEST(Table, ANoulHasALineAndABarForEachSide) {
  EXPECT_EQ(AnswerTable(AnswersOf({Noul(0.75)}), "", kAscii),
            "57 tokens\n"
            "  urgent?: yes (0.7500)\n"
            "    yes                         0.7500  ###############\n"
            "    no                          0.2500  #####\n");
}

TEST(Table, ANoulsHeadlineHasTheProbabilityOfItsAnswer) {
  EXPECT_THAT(AnswerTable(AnswersOf({Noul(0.4)}), "", kAscii), HasSubstr(": no (0.6000)\n"));
  EXPECT_THAT(AnswerTable(AnswersOf({Noul(0.5)}), "", kAscii), HasSubstr(": yes (0.5000)\n"));
}

TEST(Table, AChoiceHasALineAndABarForEachOption) {
  EXPECT_EQ(AnswerTable(AnswersOf({Choice({"tech", "billing"}, {0.75, 0.25})}), "in.json", kAscii),
            "in.json  (57 tokens)\n"
            "  team: tech (0.7500, confidence 0.7500)\n"
            "    tech                        0.7500  ###############\n"
            "    billing                     0.2500  #####\n");
}

TEST(Table, AScoreShowsLevelsAndTheTopOne) {
  Answer answer = Choice({"0", "1", "2"}, {0.5, 0.5, 0});
  answer.kind = "score";
  answer.value = 0.5;
  answer.levels = {"low", "middle", "high"};
  EXPECT_EQ(AnswerTable(AnswersOf({answer}), "", kAscii),
            "57 tokens\n"
            "  team: 0.5000 of 2 (confidence 0.5000)\n"
            "    0 low                       0.5000  ##########\n"
            "    1 middle                    0.5000  ##########\n"
            "    2 high                      0.0000\n");
}

TEST(Table, BarsHaveEighthsWhereTheTerminalCan) {
  const std::string table = AnswerTable(
      AnswersOf({Choice({"a", "b", "c"}, {1.0, 1.0 / 160, 0.5 + 3.0 / 160})}), "", kUnicode);
  const std::vector<std::string> lines = LinesOf(table);
  std::string full;
  for (int i = 0; i < 20; ++i) full += "\u2588";
  EXPECT_THAT(lines[2], ::testing::EndsWith("1.0000  " + full));
  EXPECT_THAT(lines[3], ::testing::EndsWith("0.0063  \u258f"));
  EXPECT_THAT(lines[4], ::testing::EndsWith("\u2588\u258d"));
}

TEST(Table, LabelsOfAnyLengthAndScriptKeepTheColumns) {
  const std::vector<std::string> labels = {"a",
                                           std::string(26, 'b'),
                                           std::string(27, 'c'),
                                           std::string(5000, 'd'),
                                           "Gr\u00fc\u00dfe",
                                           std::string(600, 'e') + "\u00e9",
                                           ""};
  for (const TableStyle& style : {kAscii, kUnicode}) {
    const std::vector<std::string> lines =
        LinesOf(AnswerTable(AnswersOf({Choice(labels, std::vector<double>(7, 0.125))}), "", style));
    ASSERT_EQ(lines.size(), 9u);
    for (size_t i = 2; i < lines.size(); ++i) {
      const size_t number = lines[i].find("0.1250");
      ASSERT_NE(number, std::string::npos) << lines[i];
      EXPECT_EQ(Columns(lines[i].substr(0, number)), 32u) << lines[i];
    }
  }
}

TEST(Table, RowsOfOptionsFitTheTerminal) {
  const Answers answers = AnswersOf({Choice({std::string(100, 'x'), "y"}, {1, 0})});
  for (const size_t width : {40u, 41u, 60u, 79u, 80u, 200u}) {
    const std::vector<std::string> lines = LinesOf(AnswerTable(answers, "", {width, true}));
    for (size_t i = 2; i < lines.size(); ++i) EXPECT_LE(Columns(lines[i]), width) << lines[i];
  }
}

TEST(Table, ControlCharactersNeverReachTheTerminal) {
  const std::string evil = "\x1b[31mred\x07\r\n\t\u009b2J\u2028end";
  Answer choice = Choice({evil, "y"}, {0.5, 0.5});
  choice.question = evil;
  Answer score = Choice({"0", "1"}, {0.5, 0.5});
  score.kind = "score";
  score.levels = {evil, evil};
  Answer noul = Noul(1);
  noul.question = evil;
  const std::string table = AnswerTable(AnswersOf({choice, score, noul}), evil, kUnicode);
  for (size_t at = 0; at < table.size();) {
    const Utf8Char next = DecodeUtf8(table, at);
    EXPECT_TRUE(next.valid);
    if (next.code != '\n') {
      EXPECT_FALSE(next.code < 0x20 || (next.code >= 0x7f && next.code < 0xa0) ||
                   next.code == 0x2028)
          << "byte " << at;
    }
    at += next.bytes;
  }
  EXPECT_EQ(LinesOf(table).size(), 1u + 3 + 3 + 3);
}

TEST(Table, TheAsciiStyleAddsNoOtherCharacters) {
  const std::string table =
      AnswerTable(AnswersOf({Choice({std::string(100, 'x'), std::string(1000, 'y')}, {0.7, 0.3})}),
                  std::string(500, 't'), kAscii);
  for (const char c : table) EXPECT_LT(static_cast<unsigned char>(c), 0x7f) << table;
}

TEST(Table, BytesThatAreNotUtf8AreReplaced) {
  EXPECT_TRUE(IsUtf8(AnswerTable(AnswersOf({Choice({"a\xff", "b"}, {1, 0})}), "\xc3", kUnicode)));
}

}  // namespace
}  // namespace assay::cli

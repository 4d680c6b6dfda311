#include "cli/line_reader.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <thread>
#include <vector>

#include "assay/error.h"
#include "testing/temp_folder.h"

namespace assay::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr size_t kBlock = 1 << 16;  // what the reader asks for at a time
constexpr size_t kNoLimit = size_t{1} << 30;

std::vector<Line> ReadAll(int descriptor, size_t limit) {
  LineReader reader(descriptor, "input", limit);
  std::vector<Line> lines;
  while (std::optional<Line> line = reader.Next()) lines.push_back(std::move(*line));
  EXPECT_EQ(reader.Next(), std::nullopt) << "after the end";
  return lines;
}

std::vector<Line> LinesOf(std::string_view content, size_t limit = kNoLimit) {
  const testing::TempFolder folder;
  const int descriptor = open(folder.Write("lines", content).c_str(), O_RDONLY | O_CLOEXEC);
  std::vector<Line> lines = ReadAll(descriptor, limit);
  close(descriptor);
  return lines;
}

std::vector<std::string> TextsOf(const std::vector<Line>& lines) {
  std::vector<std::string> out;
  for (const Line& line : lines) out.push_back(line.text);
  return out;
}

std::vector<size_t> EndsOf(const std::vector<Line>& lines) {
  std::vector<size_t> out;
  for (const Line& line : lines) out.push_back(line.end_offset);
  return out;
}

TEST(LineReader, CountsLinesFromOne) {
  const std::vector<Line> lines = LinesOf("a\nbc\n");
  EXPECT_THAT(TextsOf(lines), ElementsAre("a", "bc"));
  EXPECT_EQ(lines[0].number, 1u);
  EXPECT_EQ(lines[1].number, 2u);
}

TEST(LineReader, AnEmptyInputHasNoLines) { EXPECT_TRUE(LinesOf("").empty()); }

TEST(LineReader, ALastLineWithoutALineFeedCounts) {
  EXPECT_THAT(TextsOf(LinesOf("a\nb")), ElementsAre("a", "b"));
}

TEST(LineReader, EmptyLinesCountButNotAfterTheLastLineFeed) {
  EXPECT_THAT(TextsOf(LinesOf("\n\na\n\n")), ElementsAre("", "", "a", ""));
}

TEST(LineReader, KeepsCarriageReturnsAndZeroBytes) {
  EXPECT_THAT(TextsOf(LinesOf(std::string_view("a\r\n\rb\0c\n", 8))),
              ElementsAre("a\r", std::string("\rb\0c", 4)));
}

TEST(LineReader, OffsetsAreTheBytesUpToTheEndOfALine) {
  EXPECT_THAT(EndsOf(LinesOf("a\n\nbcd\r\nlast")), ElementsAre(2, 3, 8, 12));
}

TEST(LineReader, LinesAroundTheEdgesOfABlock) {
  for (const size_t size :
       {kBlock - 2, kBlock - 1, kBlock, kBlock + 1, 3 * kBlock - 1, 3 * kBlock}) {
    const std::string line(size, 'x');
    const std::vector<Line> lines = LinesOf(line + "\n" + "y\n" + line);
    EXPECT_THAT(TextsOf(lines), ElementsAre(line, "y", line)) << size;
    EXPECT_THAT(EndsOf(lines), ElementsAre(size + 1, size + 3, 2 * size + 3)) << size;
  }
}

TEST(LineReader, ManyLinesInABlock) {
  std::string content;
  for (int i = 0; i < 50000; ++i) content += std::to_string(i) + "\n";
  const std::vector<Line> lines = LinesOf(content);
  ASSERT_EQ(lines.size(), 50000u);
  for (int i = 0; i < 50000; ++i) ASSERT_EQ(lines[static_cast<size_t>(i)].text, std::to_string(i));
  EXPECT_EQ(lines.back().end_offset, content.size());
}

TEST(LineReader, ALineOfTheLimitIsReadAndALongerOneIsPassedOver) {
  const std::vector<Line> lines = LinesOf("12345\n123456\nab\n", 5);
  EXPECT_THAT(TextsOf(lines), ElementsAre("12345", "", "ab"));
  EXPECT_FALSE(lines[0].too_long);
  EXPECT_TRUE(lines[1].too_long);
  EXPECT_FALSE(lines[2].too_long);
  EXPECT_EQ(lines[2].number, 3u);
  EXPECT_THAT(EndsOf(lines), ElementsAre(6, 13, 16));
}

TEST(LineReader, ALongLineOverSeveralBlocksIsOneLine) {
  const std::string content = "a\n" + std::string(5 * kBlock + 7, 'x') + "\nb\n";
  const std::vector<Line> lines = LinesOf(content, 100);
  EXPECT_THAT(TextsOf(lines), ElementsAre("a", "", "b"));
  EXPECT_TRUE(lines[1].too_long);
  EXPECT_EQ(lines[2].end_offset, content.size());
}

TEST(LineReader, ALongLastLineWithoutALineFeedIsStillReported) {
  for (const size_t size : {size_t{101}, kBlock, kBlock + 1, 2 * kBlock}) {
    const std::vector<Line> lines = LinesOf("a\n" + std::string(size, 'x'), 100);
    ASSERT_EQ(lines.size(), 2u) << size;
    EXPECT_TRUE(lines[1].too_long) << size;
    EXPECT_EQ(lines[1].end_offset, size + 2) << size;
  }
}

TEST(LineReader, APipeGivesLinesAsTheyArrive) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  LineReader reader(ends[0], "input", kNoLimit);
  const auto send = [&](std::string_view text) {
    ASSERT_EQ(write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  };
  send("one\ntw");
  EXPECT_EQ(reader.Next()->text, "one");
  // The writer is still there: the line ends when its line feed comes, not when a read returns.
  std::thread writer([&] {
    send("o");
    send("\n\xf0\x9f");
    send("\x99\x82");
    close(ends[1]);
  });
  EXPECT_EQ(reader.Next()->text, "two");
  EXPECT_EQ(reader.Next()->text, "\U0001F642");
  EXPECT_EQ(reader.Next(), std::nullopt);
  writer.join();
  close(ends[0]);
}

TEST(LineReader, ReadyKnowsWhatNeedNotBeWaitedFor) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  LineReader reader(ends[0], "pipe", kNoLimit);
  EXPECT_FALSE(reader.Ready()) << "nothing was written";
  ASSERT_EQ(write(ends[1], "one\ntw", 6), 6);
  EXPECT_TRUE(reader.Ready());
  EXPECT_EQ(reader.Next()->text, "one");
  EXPECT_FALSE(reader.Ready()) << "half a line";
  close(ends[1]);
  EXPECT_TRUE(reader.Ready()) << "the end of the input ends the line";
  EXPECT_EQ(reader.Next()->text, "tw");
  EXPECT_TRUE(reader.Ready());
  EXPECT_EQ(reader.Next(), std::nullopt);
  close(ends[0]);
}

TEST(LineReader, AReadThatFailsNamesTheInput) {
  const testing::TempFolder folder;
  const int descriptor = open(folder.path().c_str(), O_RDONLY | O_CLOEXEC);
  LineReader reader(descriptor, "requests.jsonl", kNoLimit);
  try {
    reader.Next();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kFile);
    EXPECT_EQ(error.where(), "requests.jsonl");
    EXPECT_THAT(error.message(), HasSubstr("cannot be read"));
  }
  close(descriptor);
}

}  // namespace
}  // namespace assay::cli

#include "families/kev/date_facts.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace assay::families::kev {
namespace {

std::string WithFacts(std::string_view state) {
  return json::PrintCompact(WithDateFacts(json::Parse(state, ErrorKind::kRequest, "state")));
}

// The vectors of spec kev 4.6.
TEST(DateFacts, TheVectorsOfTheSpecification) {
  EXPECT_EQ(DateFacts("due July 4, 2026, filed 2026-06-26"),
            "2026-06-26 is 8 days before July 4, 2026.");
  EXPECT_EQ(DateFacts("2026-07-04 ... July 4, 2026"),
            "July 4, 2026 is the same day as 2026-07-04.");
  EXPECT_EQ(DateFacts("2026-02-30 jul 4, 2026 2026-01-01"), "");
}

TEST(DateFacts, EveryPairHasItsSentence) {
  EXPECT_EQ(DateFacts("2024-02-28 2024-02-29 March 1, 2024 2024-02-28"),
            "2024-02-29 is 1 day after 2024-02-28. March 1, 2024 is 2 days after 2024-02-28. "
            "March 1, 2024 is 1 day after 2024-02-29.");
  EXPECT_EQ(DateFacts("9999-12-31, 0001-01-01"), "0001-01-01 is 3652058 days before 9999-12-31.");
}

TEST(DateFacts, OnlyWholeAndPossibleDatesCount) {
  const auto counts = [](std::string_view text) {
    return !DateFacts(fmt::format("2026-01-01 | {}", text)).empty();
  };
  for (const char* text : {"2026-01-02", "(2026-01-02)", "May 01, 2026", "\u20142026-01-02.",
                           "at 2026-01-02-x", "x-2026-01-02"}) {
    EXPECT_TRUE(counts(text)) << text;
  }
  for (const char* text :
       {"12026-01-02",      "2026-01-023",      "x2026-01-02",      "2026-01-02T10:00",
        "_2026-01-02",      "2026-1-02",        "2026-13-01",       "2026-00-10",
        "2026-04-31",       "2025-02-29",       "0000-01-01",       "May 0, 2026",
        "May 32, 2026",     "May 123, 2026",    "May 1,2026",       "May  1, 2026",
        "May 1, 20261",     "MAY 1, 2026",      "Mayday 1, 2026",   "DisMay 1, 2026",
        "\u00e92026-01-02", "2026-01-02\u00e9", "\u06612026-01-02", "26-01-02"}) {
    EXPECT_FALSE(counts(text)) << text;
  }
}

TEST(DateFacts, TheirPlaceDependsOnTheState) {
  const std::string fact = "2026-01-03 is 2 days after 2026-01-01.";
  EXPECT_EQ(WithFacts(R"("2026-01-01 2026-01-03")"),
            fmt::format(R"("2026-01-01 2026-01-03\n\ndate_facts: {}")", fact));
  EXPECT_EQ(WithFacts(R"(["2026-01-01","2026-01-03"])"),
            fmt::format(R"(["2026-01-01","2026-01-03",{{"date_facts":"{}"}}])", fact));
  EXPECT_EQ(WithFacts(R"({"a":"2026-01-01","b":["2026-01-03"]})"),
            fmt::format(R"({{"a":"2026-01-01","b":["2026-01-03"],"date_facts":"{}"}})", fact));
  EXPECT_EQ(WithFacts(R"({"a":"2026-01-01","date_facts":7,"b":"2026-01-03"})"),
            fmt::format(R"({{"a":"2026-01-01","date_facts":"{}","b":"2026-01-03"}})", fact));
  for (const char* same : {"null", "20260101", "true", R"("2026-01-01")", "[]", R"({"a":1})"})
    EXPECT_EQ(WithFacts(same), same);
}

// Pairs grow with the square of the dates.
TEST(DateFacts, ThousandsOfDatesAreRefused) {
  std::string text;
  for (int i = 0; i < 9000; ++i) text += fmt::format("{:04}-01-01 ", 1000 + i);
  try {
    DateFacts(text);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kRequest);
    EXPECT_EQ(error.where(), "state");
  }
}

}  // namespace
}  // namespace assay::families::kev

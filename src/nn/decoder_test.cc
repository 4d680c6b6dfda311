#include "nn/decoder.h"

#include <gtest/gtest.h>

namespace assay::nn {
namespace {

std::vector<std::vector<std::vector<size_t>>> Plan(std::vector<size_t> rows,
                                                   ForwardOptions options) {
  std::vector<std::vector<std::vector<size_t>>> out;
  for (const auto& pass : PlanPasses(rows, options)) {
    out.emplace_back();
    for (const Piece& piece : pass) out.back().push_back({piece.segment, piece.first, piece.count});
  }
  return out;
}

using Passes = std::vector<std::vector<std::vector<size_t>>>;

TEST(PlanPasses, OnePassWhenEverythingFits) {
  EXPECT_EQ(Plan({3, 0, 2}, {0, 512}), (Passes{{{0, 0, 3}, {2, 0, 2}}}));
  EXPECT_EQ(Plan({}, {0, 512}), Passes{});
}

TEST(PlanPasses, ChunksEverySegmentAndKeepsItsOrder) {
  EXPECT_EQ(Plan({5, 2}, {2, 512}), (Passes{{{0, 0, 2}, {1, 0, 2}}, {{0, 2, 2}}, {{0, 4, 1}}}));
}

TEST(PlanPasses, NeverPassesTheRowBound) {
  EXPECT_EQ(Plan({5, 2}, {0, 4}), (Passes{{{0, 0, 4}}, {{0, 4, 1}, {1, 0, 2}}}));
}

}  // namespace
}  // namespace assay::nn

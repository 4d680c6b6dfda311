// Replays a golden file on a checkpoint and says where the engine differs from the makers' code.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "families/family.h"
#include "families/registry.h"
#include "gate/golden.h"

namespace assay::tests {

struct ReplayOptions {
  size_t chunk = 0;
  size_t threads = 2;
  kernels::Compute compute = {};
  std::string delta = "fused";
  std::string merge = "none";
  bool alone =
      false;  // ask every question of a tree by itself, and compare with the golden's row form
};

struct ReplayResult {
  size_t answered = 0;
  size_t refused = 0;
  size_t questions = 0;
  size_t rounded_equal =
      0;  // requests whose answers, rounded as Kev's server does, are the golden's
  std::vector<std::string>
      problems;  // differences other than in numbers: ids, codes, groups, refusals, answers
  double max_dp = 0;
  std::string worst;  // the question with max_dp
  double max_hidden = 0;
  // Probabilities of every question in order, for bit-for-bit comparisons of two runs.
  std::vector<double> probabilities;

  std::string Text() const;
};

// A golden file and the requests that it answers; text requests only.
struct Corpus {
  gate::Golden golden;
  std::vector<gate::GoldenRequest> requests;
};
Corpus ReadCorpus(const std::string& golden, const std::string& requests);

// Names under tools/oracle of this source tree.
std::filesystem::path OraclePath(const std::string& name);

families::LoadOptions OptionsOf(const ReplayOptions& options);

ReplayResult Replay(const std::filesystem::path& folder, const Corpus& corpus,
                    const ReplayOptions& options = {});

}  // namespace assay::tests

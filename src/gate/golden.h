// Golden files: what the makers' code answered in fp32. One reader maps every format to this form.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace assay::gate {

struct GoldenQuestion {
  std::string name;
  std::vector<int32_t> ids;  // the whole row; empty where the file keeps only its hash
  std::string ids_sha256;    // over little-endian int32
  size_t slot = 0;
  std::vector<size_t> marks;  // places in ids that speak for the options, where the family has them
  std::vector<std::string> codes;
  std::vector<std::string> options;
  std::vector<std::vector<int32_t>> groups;
  std::vector<double> scores;  // before any temperature; empty where the file has none
  std::vector<double> probabilities;
  std::vector<double> hidden_first;  // first values of the read row
  double hidden_l2 = 0;
  // A question of a tree, asked alone: the row's ids and answer where they differ from trunk +
  // branch.
  std::vector<int32_t> alone_ids;
  std::vector<double> alone_probabilities;
};

struct GoldenRow {
  std::string id;
  bool refused = false;
  std::string reason;  // of the refusal
  bool pictures = false;
  size_t trunk_rows = 0;  // 0 for the row form
  std::vector<GoldenQuestion> questions;
  json::Value answers;
  json::Value usage;
};

// What an engine must show that it notices: the answers when something inside is spoiled.
struct GoldenArm {
  std::string of;                                  // the row
  std::string arm;                                 // "first_id_only", ...
  std::vector<std::vector<double>> probabilities;  // per question
};

struct Golden {
  std::string format;
  std::string weights_sha256;  // of model.safetensors
  double noise_dp = 0;         // max |dp| of the makers' fp32 against float64
  double noise_hidden = 0;     // likewise on hidden values
  std::vector<GoldenRow> rows;
  std::vector<GoldenArm> arms;
};

struct GoldenRequest {
  std::string id;
  std::string text;  // one request object, as it is to be parsed
  std::vector<std::string> pictures;
  std::string red_of = {};  // the request that this one must differ from
};

// Throws Error(kFile) for a file that is missing, not JSON or of an unknown format.
Golden ReadGolden(const std::filesystem::path& path);
std::vector<GoldenRequest> ReadGoldenRequests(const std::filesystem::path& path);

}  // namespace assay::gate

// Files of this repository that tests read.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"

namespace assay::testing {

// The random checkpoint that goes with golden/d1_tiny_seed1.json.
std::filesystem::path TinyD1();

// A request of tools/oracle/requests, as the text that a caller would send.
struct PublicRequest {
  std::string id;
  std::string text;
};
std::vector<PublicRequest> PublicD1Requests();

// tools/oracle/golden/`name`.
json::Value Golden(const std::string& name);

}  // namespace assay::testing

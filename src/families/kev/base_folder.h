// Where the base model of a Kev folder is (spec kev 1.2).
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace assay::families::kev {

// A variable of the environment; nothing when it is unset or empty. Passed in, so that tests have
// their own.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
std::optional<std::string> ProcessEnvironment(const std::string& name);

struct BaseRequest {
  std::filesystem::path kev;         // the folder with the adapter
  std::filesystem::path given = {};  // --base, or empty
  std::string name = {};             // head.pt's `base`: "Qwen/Qwen3.5-0.8B-Base"
  std::string revision = {};         // head.pt's `base_revision`; "" means main
};

// The first of these that is a folder with a config.json: `given`, and then no other; KEV/base;
// KEV/../base; the Hugging Face cache's snapshot of that name and revision. Throws Error(kModel)
// that lists what was tried.
std::filesystem::path FindBase(const BaseRequest& request, const Environment& environment);

}  // namespace assay::families::kev

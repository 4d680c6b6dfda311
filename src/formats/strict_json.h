// JSON that describes a model (config.json, the shard index): nothing in it may be ambiguous.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/json.h"

namespace assay::formats {

// As json::Parse with Error(kModel, where), and also refused: a key that one object has twice (the
// makers' readers keep the last, silently), a zero byte anywhere.
json::Value ParseStrictJson(std::string_view text, std::string_view where);

// Reads and parses a file of at most `max_bytes`. A Git LFS pointer or a web page is called what it
// is. A missing file is Error(kModel) too.
json::Value ReadStrictJson(const std::filesystem::path& path, size_t max_bytes);

}  // namespace assay::formats

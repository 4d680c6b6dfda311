#include "cli/counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "assay/error.h"

namespace assay::cli {
namespace {

std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(' ');
  if (first == text.npos) return "";
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

}  // namespace

std::vector<size_t> ParseCounts(const std::string& option, const std::string& value) {
  std::vector<size_t> counts;
  if (value == "none") return counts;
  for (size_t at = 0; at <= value.size();) {
    const size_t comma = std::min(value.find(',', at), value.size());
    const std::string_view part = Trimmed(std::string_view(value).substr(at, comma - at));
    size_t count = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), count);
    if (error != std::errc() || end != part.data() + part.size() || count == 0) {
      throw Error(ErrorKind::kUsage, option,
                  fmt::format("'{}' is not a whole number of 1 or more", OneLine(part, 40)),
                  "16,64,128, or none");
    }
    counts.push_back(count);
    at = comma + 1;
  }
  return counts;
}

}  // namespace assay::cli

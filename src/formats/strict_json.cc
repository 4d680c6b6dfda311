#include "formats/strict_json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <unordered_set>
#include <vector>

#include "assay/error.h"
#include "base/file.h"
#include "formats/foreign.h"

namespace assay::formats {
namespace {

// Stops at the first repeated key. The text has passed json::Parse, so it is sound and not deep;
// only integers past the double range stop this pass too.
class RepeatFinder final : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return true; }
  bool boolean(bool /*value*/) override { return true; }
  bool number_integer(number_integer_t /*value*/) override { return true; }
  bool number_unsigned(number_unsigned_t /*value*/) override { return true; }
  bool number_float(number_float_t /*value*/, const string_t& /*source*/) override { return true; }
  bool string(string_t& /*value*/) override { return true; }
  bool binary(binary_t& /*value*/) override { return true; }
  bool start_array(size_t /*count*/) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::json::exception& /*error*/) override {
    return false;
  }
  bool start_object(size_t /*count*/) override {
    open_.emplace_back();
    return true;
  }
  bool end_object() override {
    open_.pop_back();
    return true;
  }
  bool key(string_t& name) override {
    if (open_.back().insert(name).second) return true;
    repeated_ = name;
    found_ = true;
    return false;
  }

  bool found() const { return found_; }
  const std::string& repeated() const { return repeated_; }

 private:
  std::vector<std::unordered_set<std::string>> open_;
  std::string repeated_;
  bool found_ = false;
};

constexpr std::string_view kDownload = "download the file again";

json::Value ParseOrSayHow(std::string_view text, std::string_view where) {
  try {
    return json::Parse(text, ErrorKind::kModel, where);
  } catch (const Error& error) {
    if (!error.hint().empty()) throw;
    throw Error(error.kind(), error.where(), error.message(), kDownload);
  }
}

}  // namespace

json::Value ParseStrictJson(std::string_view text, std::string_view where) {
  if (const size_t zero = text.find('\0'); zero != std::string_view::npos) {
    throw Error(ErrorKind::kModel, where, fmt::format("has a zero byte at byte {}", zero),
                kDownload);
  }
  json::Value value = ParseOrSayHow(text, where);
  RepeatFinder finder;
  if (!nlohmann::json::sax_parse(text.begin(), text.end(), &finder)) {
    if (!finder.found()) {
      throw Error(ErrorKind::kModel, where, "holds an integer of more than 300 digits", kDownload);
    }
    throw Error(ErrorKind::kModel, where,
                fmt::format("has the key '{}' twice in one object", OneLine(finder.repeated(), 80)),
                "keep the one that is right");
  }
  return value;
}

json::Value ReadStrictJson(const std::filesystem::path& path, size_t max_bytes) {
  const std::string text = ReadFile(path, ErrorKind::kModel, max_bytes);
  const std::string name = path.filename().string();
  const ForeignContent foreign = RecogniseForeign(text);
  if (!foreign.what.empty()) throw Error(ErrorKind::kModel, name, foreign.what, foreign.hint);
  return ParseStrictJson(text, name);
}

}  // namespace assay::formats

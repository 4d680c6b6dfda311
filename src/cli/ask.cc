#include "cli/ask.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/file.h"
#include "base/utf8.h"
#include "cli/limits.h"

namespace assay::cli {
namespace {

bool EndsLikeAFile(const std::string& text) {
  return text.ends_with(".json") || text.ends_with(".txt");
}

void RequireUtf8(const std::string& text, const std::string& where) {
  if (!IsUtf8(text)) throw Error(ErrorKind::kRequest, where, "is not UTF-8", "text in UTF-8");
}

void AddState(const std::string& state, RequestBuilder& builder) {
  std::error_code ignored;
  const std::filesystem::path path(state);
  // Names longer than the system allows are texts; asking about them is an error that says nothing.
  if (std::filesystem::is_directory(path, ignored)) {
    throw Error(ErrorKind::kFile, state, "is a folder",
                "--state takes a file or a text; a text that is a folder's name too goes in a "
                "file");
  }
  if (!std::filesystem::exists(path, ignored)) {
    if (EndsLikeAFile(state))
      throw Error(ErrorKind::kFile, state, "no such file", "the name of a state file, or a text");
    RequireUtf8(state, "--state");
    builder.StateText(state);
    return;
  }
  const std::string text = ReadFile(path, ErrorKind::kFile, kMaxRequestBytes);
  const std::string name = path.filename().string();
  if (state.ends_with(".json")) {
    builder.StateJson(text, name);
  } else {
    RequireUtf8(text, name);
    builder.StateText(text);
  }
}

// "a, b" means the answers "a" and "b": spaces beside a comma are for the eye.
std::string Trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(' ');
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

class Names {
 public:
  std::string Add(const std::string& option, const std::string& name) {
    RequireUtf8(name, option);
    if (!names_.insert(name).second) {
      throw Error(ErrorKind::kUsage, option, fmt::format("'{}' is asked twice", OneLine(name, 80)),
                  "each question once");
    }
    return name;
  }

 private:
  std::set<std::string> names_;
};

}  // namespace

NamedList ParseNamedList(const std::string& option, const std::string& value) {
  const std::string hint = fmt::format("{} \"QUESTION=one,two,three\"", option);
  const size_t equals = value.rfind('=');
  if (equals == std::string::npos)
    throw Error(ErrorKind::kUsage, option, "has no '=' between question and answers", hint);
  NamedList out{value.substr(0, equals), {}};
  RequireUtf8(value, option);
  for (size_t at = equals + 1; at <= value.size();) {
    const size_t comma = std::min(value.find(',', at), value.size());
    std::string part = Trimmed(value.substr(at, comma - at));
    if (part.empty()) throw Error(ErrorKind::kUsage, option, "has an empty answer", hint);
    if (std::find(out.parts.begin(), out.parts.end(), part) != out.parts.end() &&
        option == "--choice") {
      throw Error(ErrorKind::kUsage, option,
                  fmt::format("has the answer '{}' twice", OneLine(part, 60)), hint);
    }
    out.parts.push_back(std::move(part));
    at = comma + 1;
  }
  return out;
}

Request RequestFromOptions(const AskOptions& options) {
  RequestBuilder builder;
  Names names;
  if (options.has_state) AddState(options.state, builder);
  for (const std::string& text : options.nouls) builder.Noul(names.Add("--noul", text), text);
  for (const std::string& value : options.choices) {
    const NamedList list = ParseNamedList("--choice", value);
    builder.Choice(names.Add("--choice", list.text), list.text, list.parts);
  }
  for (const std::string& value : options.scores) {
    const NamedList list = ParseNamedList("--score", value);
    builder.Score(names.Add("--score", list.text), list.text, list.parts);
  }
  return builder.Build();
}

}  // namespace assay::cli

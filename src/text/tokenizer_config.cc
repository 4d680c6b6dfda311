#include "text/tokenizer_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "base/json.h"
#include "text/tokenizer_json.h"

namespace assay::text {
namespace {

[[noreturn]] void Refuse(std::string_view file, const std::string& message,
                         std::string_view hint = "") {
  throw Error(ErrorKind::kModel, file, message, hint);
}

std::optional<int32_t> IdOf(std::string_view key) {
  int64_t id = 0;
  const char* begin = key.data();
  const char* end = begin + key.size();
  const auto read = std::from_chars(begin, end, id);
  const bool number = read.ec == std::errc() && read.ptr == end;
  if (!number || id < 0 || id > kMaxTokenId) return std::nullopt;
  return static_cast<int32_t>(id);
}

// One entry: {"content": ..., flags}.
class Entry {
 public:
  Entry(const std::string& key, const json::Value& value, std::string_view file)
      : key_(key), value_(value), file_(file) {}

  AddedToken Read() const {
    AddedToken token;
    const std::optional<int32_t> id = IdOf(key_);
    if (!id) {
      Refuse(file_, fmt::format("added_tokens_decoder has the id \"{}\"", key_),
             fmt::format("ids are whole numbers from 0 to {}", kMaxTokenId));
    }
    token.id = *id;
    const json::Value* content = value_.Find("content");
    if (content == nullptr || !content->is_string() || content->string().empty() ||
        content->string().size() > kMaxAddedTokenBytes) {
      RefuseField("content", fmt::format("a text of 1 to {} bytes", kMaxAddedTokenBytes));
    }
    token.content = content->string();
    token.single_word = Flag("single_word", false);
    token.lstrip = Flag("lstrip", false);
    token.rstrip = Flag("rstrip", false);
    token.special = Flag("special", false);
    token.normalized = Flag("normalized", !token.special);
    return token;
  }

 private:
  bool Flag(std::string_view field, bool otherwise) const {
    const json::Value* value = value_.Find(field);
    if (value == nullptr) return otherwise;
    if (value->kind() != json::Kind::kBool) RefuseField(field, "true or false");
    return value->boolean();
  }

  [[noreturn]] void RefuseField(std::string_view field, std::string_view hint) const {
    Refuse(file_, fmt::format("added_tokens_decoder.{}.{} is missing or wrong", key_, field), hint);
  }

  const std::string& key_;
  const json::Value& value_;
  std::string_view file_;
};

}  // namespace

std::vector<AddedToken> ReadAddedTokensDecoder(std::string_view text, std::string_view file) {
  const json::Value root = json::Parse(text, ErrorKind::kModel, file);
  if (!root.is_object()) Refuse(file, fmt::format("is {}, not an object", KindName(root.kind())));
  std::vector<AddedToken> out;
  const json::Value* list = root.Find("added_tokens_decoder");
  if (list == nullptr || list->is_null()) return out;
  if (!list->is_object()) {
    Refuse(file, fmt::format("added_tokens_decoder is {}", KindName(list->kind())),
           "an object of id to token");
  }
  for (const auto& [key, value] : list->members()) out.push_back(Entry(key, value, file).Read());
  return out;
}

void AddListedTokens(const std::vector<AddedToken>& listed, std::vector<AddedToken>& tokens,
                     std::string_view file) {
  std::map<std::string, int32_t, std::less<>> ids;
  std::map<int32_t, std::string> texts;
  for (const AddedToken& token : tokens) {
    ids.emplace(token.content, token.id);
    texts.emplace(token.id, token.content);
  }
  for (const AddedToken& token : listed) {
    const auto [id, new_text] = ids.emplace(token.content, token.id);
    const auto [other, new_id] = texts.emplace(token.id, token.content);
    if (id->second != token.id || other->second != token.content) {
      Refuse(file,
             fmt::format("added token \"{}\" has id {} here, and tokenizer.json says otherwise",
                         token.content, token.id),
             "both files must come from the same model");
    }
    if (new_text) tokens.push_back(token);
  }
  std::sort(tokens.begin(), tokens.end(),
            [](const AddedToken& a, const AddedToken& b) { return a.id < b.id; });
}

}  // namespace assay::text

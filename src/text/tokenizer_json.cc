// tokenizer.json in two steps: a streaming reader, which puts the vocabulary and the merges
// straight into one block of text and everything else into a small JSON value; then the checks of
// that value.
#include "text/tokenizer_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "base/json.h"

namespace assay::text {
namespace {

constexpr size_t kMaxFileBytes = size_t{1} << 30;
constexpr size_t kMaxDepth = 32;
// Members of one object and items of one array, outside vocabulary and merges.
constexpr size_t kMaxMembers = 4096;
constexpr size_t kMaxItems = 100'000;

[[noreturn]] void Refuse(std::string_view file, const std::string& message,
                         std::string_view hint = "") {
  throw Error(ErrorKind::kModel, file, message, hint);
}

constexpr std::string_view kOnlyByteLevelBpe = "only byte-level BPE models are supported";

// ------------------------------------------------------------------ reading
class Reader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  Reader(BpeSource& bpe, std::string_view file) : bpe_(bpe), file_(file) {}

  bool null() override { return Put(json::Value()); }
  bool boolean(bool value) override { return Put(json::Value::Bool(value)); }
  bool number_integer(number_integer_t value) override {
    if (place_ == Place::kVocabulary) RefuseId(fmt::format("{}", value));
    return Put(json::Value::Integer(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (place_ != Place::kVocabulary) {
      return Put(json::Value::BigInteger(std::to_string(value)));
    }
    if (value > static_cast<uint64_t>(kMaxTokenId)) RefuseId(fmt::format("{}", value));
    bpe_.vocabulary.push_back({token_, static_cast<uint32_t>(value)});
    return true;
  }
  bool number_float(number_float_t value, const string_t& source) override {
    if (place_ == Place::kVocabulary) RefuseId(source);
    return Put(json::Value::Float(value));
  }
  bool string(string_t& value) override {
    switch (place_) {
      case Place::kMerges: AddJoinedMerge(value); return true;
      case Place::kPair: AddPart(value); return true;
      default: return Put(json::Value::String(value));
    }
  }
  bool binary(binary_t& /*value*/) override { return false; }

  bool start_object(size_t /*count*/) override {
    if (place_ == Place::kElsewhere && At("model", "vocab")) {
      place_ = Place::kVocabulary;
      seen_vocabulary = true;
      return true;
    }
    return Open(json::Value::Object());
  }
  bool start_array(size_t /*count*/) override {
    if (place_ == Place::kElsewhere && At("model", "merges")) {
      place_ = Place::kMerges;
      seen_merges = true;
      return true;
    }
    if (place_ == Place::kMerges) {
      place_ = Place::kPair;
      parts_ = 0;
      return true;
    }
    return Open(json::Value::Array());
  }
  bool end_object() override {
    if (place_ == Place::kVocabulary) {
      place_ = Place::kElsewhere;
      return true;
    }
    return Close();
  }
  bool end_array() override {
    if (place_ == Place::kPair) {
      if (parts_ != 2) RefuseMerge(fmt::format("has {} parts", parts_));
      place_ = Place::kMerges;
      return true;
    }
    if (place_ == Place::kMerges) {
      place_ = Place::kElsewhere;
      return true;
    }
    return Close();
  }

  bool key(string_t& name) override {
    if (place_ == Place::kVocabulary) {
      token_ = Keep(name);
      return true;
    }
    json::Value& object = open_.back();
    if (object.members().size() >= kMaxMembers) {
      Refuse(file_, fmt::format("an object has more than {} fields", kMaxMembers));
    }
    if (object.Find(name) != nullptr) Refuse(file_, fmt::format("\"{}\" appears twice", name));
    keys_.back() = name;
    const bool again =
        (seen_vocabulary && At("model", "vocab")) || (seen_merges && At("model", "merges"));
    if (again) Refuse(file_, fmt::format("\"{}\" appears twice", name));
    return true;
  }

  bool parse_error(size_t position, const std::string& /*token*/,
                   const nlohmann::json::exception& /*error*/) override {
    Refuse(file_, fmt::format("not valid JSON at byte {}", position),
           "the file is cut or damaged; download it again");
  }

  json::Value Take() { return std::move(root_); }
  bool seen_vocabulary = false;
  bool seen_merges = false;

 private:
  enum class Place { kElsewhere, kVocabulary, kMerges, kPair };

  // True when the value that comes next is the member `inner` of the member `outer` of the file.
  bool At(std::string_view outer, std::string_view inner) const {
    return open_.size() == 2 && open_[0].is_object() && open_[1].is_object() && keys_[0] == outer &&
           keys_[1] == inner;
  }

  BpeSource::Span Keep(const std::string& text) {
    const BpeSource::Span span{static_cast<uint32_t>(bpe_.texts.size()),
                               static_cast<uint32_t>(text.size())};
    bpe_.texts += text;
    return span;
  }

  // "a b": two parts around the one space; a part with a space of its own can only be written as
  // a pair.
  void AddJoinedMerge(const std::string& text) {
    const size_t space = text.find(' ');
    if (space == std::string::npos || text.find(' ', space + 1) != std::string::npos) {
      RefuseMerge(fmt::format("is \"{}\", which is not two parts around a space", text));
    }
    const BpeSource::Span whole = Keep(text);
    const auto at = static_cast<uint32_t>(space);
    bpe_.merges.push_back({{whole.first, at}, {whole.first + at + 1, whole.bytes - at - 1}});
  }
  void AddPart(const std::string& text) {
    ++parts_;
    if (parts_ == 1) {
      bpe_.merges.push_back({Keep(text), {}});
    } else if (parts_ == 2) {
      bpe_.merges.back().right = Keep(text);
    }
  }

  bool Put(json::Value value) {
    if (place_ == Place::kVocabulary) {
      Refuse(file_, fmt::format("vocabulary entry \"{}\" has {} for an id", bpe_.TextOf(token_),
                                json::KindName(value.kind())));
    }
    if (place_ != Place::kElsewhere) {
      RefuseMerge(fmt::format("holds {}", json::KindName(value.kind())));
    }
    if (open_.empty()) {
      root_ = std::move(value);
      return true;
    }
    json::Value& parent = open_.back();
    if (parent.is_object()) {
      parent.Add(keys_.back(), std::move(value));
      return true;
    }
    if (parent.items().size() >= kMaxItems) {
      Refuse(file_, fmt::format("a list has more than {} items", kMaxItems));
    }
    parent.items().push_back(std::move(value));
    return true;
  }
  bool Open(json::Value value) {
    if (place_ != Place::kElsewhere) return Put(std::move(value));
    if (open_.size() >= kMaxDepth) {
      Refuse(file_, fmt::format("more than {} levels of objects and lists", kMaxDepth));
    }
    open_.push_back(std::move(value));
    keys_.emplace_back();
    return true;
  }
  bool Close() {
    json::Value done = std::move(open_.back());
    open_.pop_back();
    keys_.pop_back();
    return Put(std::move(done));
  }

  [[noreturn]] void RefuseId(const std::string& id) {
    Refuse(file_, fmt::format("vocabulary entry \"{}\" has the id {}", bpe_.TextOf(token_), id),
           fmt::format("ids are whole numbers from 0 to {}", kMaxTokenId));
  }
  [[noreturn]] void RefuseMerge(const std::string& problem) {
    const size_t number = bpe_.merges.size() - (place_ == Place::kPair && parts_ > 0 ? 1 : 0);
    Refuse(file_, fmt::format("merge {} {}", number, problem),
           "a merge is \"a b\" or [\"a\", \"b\"]");
  }

  BpeSource& bpe_;
  std::string_view file_;
  Place place_ = Place::kElsewhere;
  BpeSource::Span token_;
  size_t parts_ = 0;
  json::Value root_;
  std::vector<json::Value> open_;
  std::vector<std::string>
      keys_;  // keys_[i]: the member of open_[i] that is being read; empty in lists
};

// ------------------------------------------------------------------ checks
// One object of the file and its name in messages ("pre_tokenizer.pretokenizers[0]").
class Object {
 public:
  Object(const json::Value& value, std::string name, std::string_view file)
      : value_(value), name_(std::move(name)), file_(file) {
    if (!value.is_object()) {
      RefuseHere(fmt::format("is {}, not an object", json::KindName(value.kind())));
    }
  }

  const std::string& name() const { return name_; }
  std::string_view file() const { return file_; }
  std::string Path(std::string_view field) const {
    return name_.empty() ? std::string(field) : fmt::format("{}.{}", name_, field);
  }
  [[noreturn]] void RefuseHere(std::string_view problem, std::string_view hint = "") const {
    Refuse(file_, fmt::format("{} {}", name_.empty() ? "the file" : name_, problem), hint);
  }
  [[noreturn]] void RefuseField(std::string_view field, std::string_view problem,
                                std::string_view hint = "") const {
    Refuse(file_, fmt::format("{} {}", Path(field), problem), hint);
  }

  // The field, or null when it is absent or null.
  const json::Value* Find(std::string_view field) const {
    const json::Value* value = value_.Find(field);
    return value == nullptr || value->is_null() ? nullptr : value;
  }
  bool Bool(std::string_view field, std::optional<bool> otherwise = std::nullopt) const {
    const json::Value* value = Find(field);
    if (value == nullptr && otherwise) return *otherwise;
    if (value == nullptr) RefuseField(field, "is missing");
    if (value->kind() != json::Kind::kBool) RefuseField(field, "is not true or false");
    return value->boolean();
  }
  const std::string& String(std::string_view field) const {
    const json::Value* value = Find(field);
    if (value == nullptr) RefuseField(field, "is missing");
    if (!value->is_string()) RefuseField(field, "is not a string");
    return value->string();
  }
  const std::vector<json::Value>& Array(std::string_view field) const {
    const json::Value* value = Find(field);
    if (value == nullptr) RefuseField(field, "is missing");
    if (!value->is_array()) RefuseField(field, "is not a list");
    return value->items();
  }
  Object Item(std::string_view list, size_t index) const {
    return {Array(list)[index], fmt::format("{}[{}]", Path(list), index), file_};
  }
  void OnlyFields(std::initializer_list<std::string_view> known) const {
    for (const auto& [field, value] : value_.members()) {
      if (std::find(known.begin(), known.end(), field) == known.end()) {
        RefuseField(field, "is a field that assay does not know",
                    "files as tokenizers 0.23 writes them are supported");
      }
    }
  }

 private:
  const json::Value& value_;
  std::string name_;
  std::string_view file_;
};

// NFC, alone or in sequences.
bool ReadNormalizer(const Object& object) {
  const std::string& type = object.String("type");
  if (type == "NFC") {
    object.OnlyFields({"type"});
    return true;
  }
  if (type != "Sequence") {
    object.RefuseField("type", fmt::format("\"{}\" is not supported", type), "NFC is, or none");
  }
  object.OnlyFields({"type", "normalizers"});
  bool nfc = false;
  for (size_t i = 0; i < object.Array("normalizers").size(); ++i) {
    nfc = ReadNormalizer(object.Item("normalizers", i)) || nfc;
  }
  return nfc;
}

// Returns use_regex.
bool ReadByteLevel(const Object& object) {
  if (object.String("type") != "ByteLevel") {
    object.RefuseField("type", fmt::format("\"{}\" is not supported here", object.String("type")),
                       kOnlyByteLevelBpe);
  }
  object.OnlyFields({"type", "add_prefix_space", "trim_offsets", "use_regex"});
  if (object.Bool("add_prefix_space")) {
    object.RefuseField("add_prefix_space", "true is not supported");
  }
  return object.Bool("use_regex", true);
}

const SplitRules* ReadSplit(const Object& object) {
  if (object.String("type") != "Split") {
    object.RefuseField("type", fmt::format("\"{}\" is not supported here", object.String("type")),
                       "a sequence is Split and then ByteLevel");
  }
  object.OnlyFields({"type", "pattern", "behavior", "invert"});
  if (object.Find("pattern") == nullptr) object.RefuseField("pattern", "is missing");
  const Object pattern(*object.Find("pattern"), object.Path("pattern"), object.file());
  pattern.OnlyFields({"Regex"});
  const std::string& regex = pattern.String("Regex");
  if (object.String("behavior") != "Isolated") {
    object.RefuseField("behavior",
                       fmt::format("\"{}\" is not supported", object.String("behavior")),
                       "\"Isolated\" is");
  }
  if (object.Bool("invert")) object.RefuseField("invert", "true is not supported");
  const SplitRules* rules = FindSplitRules(regex);
  if (rules == nullptr) {
    object.RefuseField("pattern",
                       fmt::format("is a split pattern that assay does not know: {}", regex),
                       "the patterns of d1, Qwen2, Qwen3.5 and Llama 3 are known");
  }
  return rules;
}

void ReadPreTokenizer(const Object& root, TokenizerSource& out) {
  out.bpe.byte_level = false;
  if (root.Find("pre_tokenizer") == nullptr) return;
  out.bpe.byte_level = true;
  const Object object(*root.Find("pre_tokenizer"), "pre_tokenizer", root.file());
  if (object.String("type") != "Sequence") {
    out.split = ReadByteLevel(object) ? &ByteLevelSplitRules() : nullptr;
    return;
  }
  object.OnlyFields({"type", "pretokenizers"});
  if (object.Array("pretokenizers").size() != 2) {
    object.RefuseField("pretokenizers", "does not have two steps",
                       "a sequence is Split and then ByteLevel");
  }
  out.split = ReadSplit(object.Item("pretokenizers", 0));
  const Object byte_level = object.Item("pretokenizers", 1);
  if (ReadByteLevel(byte_level)) {
    byte_level.RefuseField("use_regex", "true after a Split is not supported");
  }
}

// Accepts what adds no token to a single text.
void ReadPostProcessor(const Object& object) {
  const std::string& type = object.String("type");
  if (type == "ByteLevel") return;  // moves offsets only
  if (type == "Sequence") {
    for (size_t i = 0; i < object.Array("processors").size(); ++i) {
      ReadPostProcessor(object.Item("processors", i));
    }
    return;
  }
  if (type != "TemplateProcessing") {
    object.RefuseField("type", fmt::format("\"{}\" is not supported", type));
  }
  const auto& single = object.Array("single");
  const bool adds_nothing = single.size() == 1 && single[0].Find("Sequence") != nullptr;
  if (!adds_nothing) {
    object.RefuseField("single", "adds tokens to a text, which is not supported",
                       "assay puts control tokens by the rules of the family");
  }
}

void ReadDecoder(const Object& object) {
  const std::string& type = object.String("type");
  if (type != "ByteLevel") {
    object.RefuseField("type", fmt::format("\"{}\" is not supported", type), kOnlyByteLevelBpe);
  }
}

void ReadAddedTokens(const Object& root, TokenizerSource& out) {
  if (root.Find("added_tokens") == nullptr) return;
  for (size_t i = 0; i < root.Array("added_tokens").size(); ++i) {
    const Object object = root.Item("added_tokens", i);
    object.OnlyFields(
        {"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"});
    AddedToken token;
    token.content = object.String("content");
    if (token.content.empty()) object.RefuseField("content", "is empty");
    if (token.content.size() > kMaxAddedTokenBytes) {
      object.RefuseField("content", fmt::format("has more than {} bytes", kMaxAddedTokenBytes));
    }
    const json::Value* number = object.Find("id");
    const std::optional<int64_t> id = number == nullptr ? std::nullopt : number->int64();
    if (!id || *id < 0 || *id > kMaxTokenId) {
      object.RefuseField("id", "is not a token id",
                         fmt::format("ids are whole numbers from 0 to {}", kMaxTokenId));
    }
    token.id = static_cast<int32_t>(*id);
    token.single_word = object.Bool("single_word");
    token.lstrip = object.Bool("lstrip");
    token.rstrip = object.Bool("rstrip");
    token.normalized = object.Bool("normalized");
    token.special = object.Bool("special");
    out.added.push_back(std::move(token));
  }
}

void ReadModel(const Object& root, TokenizerSource& out) {
  if (root.Find("model") == nullptr) Refuse(root.file(), "there is no model");
  const Object model(*root.Find("model"), "model", root.file());
  if (model.String("type") != "BPE") {
    model.RefuseField("type", fmt::format("\"{}\" is not supported", model.String("type")),
                      kOnlyByteLevelBpe);
  }
  model.OnlyFields({"type", "dropout", "unk_token", "continuing_subword_prefix",
                    "end_of_word_suffix", "fuse_unk", "byte_fallback", "ignore_merges"});
  if (const json::Value* dropout = model.Find("dropout")) {
    const bool number =
        dropout->kind() == json::Kind::kInteger || dropout->kind() == json::Kind::kFloat;
    if (!number || dropout->number() != 0) model.RefuseField("dropout", "is not supported");
  }
  // A byte-level vocabulary knows every byte, so that nothing is unknown to it.
  if (model.Find("unk_token") != nullptr && !out.bpe.byte_level) {
    model.RefuseField("unk_token", "is not supported");
  }
  for (const std::string_view affix : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    if (model.Find(affix) != nullptr && !model.String(affix).empty()) {
      model.RefuseField(affix, "is not supported");
    }
  }
  model.Bool("fuse_unk", false);
  if (model.Bool("byte_fallback", false)) {
    model.RefuseField("byte_fallback", "true is not supported", kOnlyByteLevelBpe);
  }
  out.bpe.ignore_merges = model.Bool("ignore_merges", false);
}

json::Value ReadText(std::string_view text, std::string_view file, BpeSource& bpe) {
  if (text.starts_with("\xEF\xBB\xBF")) {
    Refuse(file, "starts with a byte-order mark", "save it as UTF-8 without one");
  }
  if (text.size() > kMaxFileBytes) {
    Refuse(file, fmt::format("has more than {} bytes", kMaxFileBytes));
  }
  Reader reader(bpe, file);
  bpe.texts.reserve(text.size() / 2);
  nlohmann::json::sax_parse(text.data(), text.data() + text.size(), &reader);
  json::Value value = reader.Take();
  if (value.is_object()) {
    if (!reader.seen_vocabulary) Refuse(file, "model.vocab is missing or not an object");
    if (!reader.seen_merges) Refuse(file, "model.merges is missing or not a list");
  }
  return value;
}

}  // namespace

TokenizerSource ReadTokenizerJson(std::string_view json, std::string_view file) {
  TokenizerSource out;
  const json::Value value = ReadText(json, file, out.bpe);
  const Object root(value, "", file);
  root.OnlyFields({"version", "truncation", "padding", "added_tokens", "normalizer",
                   "pre_tokenizer", "post_processor", "decoder", "model"});
  if (root.Find("version") != nullptr && root.String("version") != "1.0") {
    root.RefuseField("version", fmt::format("\"{}\" is not known", root.String("version")));
  }
  for (const std::string_view field : {"truncation", "padding"}) {
    if (root.Find(field) != nullptr) {
      root.RefuseField(field, "is not supported", "texts are never cut or filled up");
    }
  }
  if (root.Find("normalizer") != nullptr) {
    out.nfc = ReadNormalizer(Object(*root.Find("normalizer"), "normalizer", file));
  }
  ReadPreTokenizer(root, out);
  if (root.Find("post_processor") != nullptr) {
    ReadPostProcessor(Object(*root.Find("post_processor"), "post_processor", file));
  }
  if (root.Find("decoder") != nullptr) {
    ReadDecoder(Object(*root.Find("decoder"), "decoder", file));
  }
  ReadAddedTokens(root, out);
  ReadModel(root, out);
  return out;
}

}  // namespace assay::text

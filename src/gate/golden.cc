#include "gate/golden.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/sha256.h"

namespace assay::gate {
namespace {

using json::Value;

constexpr size_t kMaxGoldenBytes = size_t{1} << 30;

// Reading members of a file that a person wrote: each miss names the file and the member.
class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  const Value& Get(const Value& object, std::string_view key) const {
    const Value* value = object.Find(key);
    if (value == nullptr)
      throw Error(ErrorKind::kFile, file_, fmt::format("has no '{}' where one is needed", key));
    return *value;
  }
  std::string Text(const Value& object, std::string_view key) const {
    const Value& value = Get(object, key);
    if (!value.is_string()) Wrong(key, "a string");
    return value.string();
  }
  double Number(const Value& object, std::string_view key) const {
    return AsNumber(Get(object, key), key);
  }
  const std::vector<Value>& Items(const Value& object, std::string_view key) const {
    const Value& value = Get(object, key);
    if (!value.is_array()) Wrong(key, "an array");
    return value.items();
  }
  std::vector<int32_t> Ids(const Value& object, std::string_view key) const {
    return AsIds(Get(object, key), key);
  }
  std::vector<int32_t> AsIds(const Value& value, std::string_view key) const {
    if (!value.is_array()) Wrong(key, "an array of ids");
    std::vector<int32_t> out;
    for (const Value& item : value.items()) {
      const std::optional<int64_t> id = item.int64();
      if (!id || *id < 0 || *id > INT32_MAX) Wrong(key, "an array of ids");
      out.push_back(static_cast<int32_t>(*id));
    }
    return out;
  }
  std::vector<double> Numbers(const Value& object, std::string_view key) const {
    std::vector<double> out;
    for (const Value& item : Items(object, key)) out.push_back(AsNumber(item, key));
    return out;
  }
  std::vector<std::string> Texts(const Value& object, std::string_view key) const {
    std::vector<std::string> out;
    for (const Value& item : Items(object, key)) {
      if (!item.is_string()) Wrong(key, "an array of strings");
      out.push_back(item.string());
    }
    return out;
  }

 private:
  [[noreturn]] void Wrong(std::string_view key, std::string_view right) const {
    throw Error(ErrorKind::kFile, file_, fmt::format("'{}' is not what it should be", key), right);
  }
  double AsNumber(const Value& value, std::string_view key) const {
    if (value.kind() != json::Kind::kInteger && value.kind() != json::Kind::kFloat)
      Wrong(key, "a number");
    return value.number();
  }

  std::string file_;
};

// "d1-golden/1" (tools/oracle/README.md).
class D1Golden {
 public:
  explicit D1Golden(const Reader& reader) : reader_(reader) {}

  Golden Read(const Value& root) const {
    Golden golden;
    golden.format = reader_.Text(root, "format");
    golden.weights_sha256 =
        reader_.Text(reader_.Get(reader_.Get(root, "model"), "sha256"), "model.safetensors");
    const Value& noise = reader_.Get(reader_.Get(root, "summary"), "noise_fp32_vs_fp64");
    golden.noise_dp = reader_.Number(noise, "p");
    golden.noise_hidden = reader_.Number(noise, "hidden_abs");
    for (const Value& item : reader_.Items(root, "requests")) golden.rows.push_back(Row(item));
    for (const Value& item : reader_.Items(root, "arms")) {
      GoldenArm arm{reader_.Text(item, "of"), reader_.Text(item, "arm"), {}};
      for (const Value& question : reader_.Items(item, "questions")) {
        arm.probabilities.push_back(reader_.Numbers(question, "probabilities"));
      }
      golden.arms.push_back(std::move(arm));
    }
    return golden;
  }

 private:
  GoldenRow Row(const Value& item) const {
    GoldenRow row;
    row.id = reader_.Text(item, "id");
    row.pictures = item.Find("pictures") != nullptr;
    if (const Value* refused = item.Find("refused")) {
      row.refused = true;
      row.reason = reader_.Text(*refused, "why");
      return row;
    }
    std::vector<int32_t> trunk;
    if (item.Find("state_ids") != nullptr) trunk = reader_.Ids(item, "state_ids");
    row.trunk_rows = trunk.size();
    for (const Value& question : reader_.Items(item, "questions"))
      row.questions.push_back(Question(question, trunk));
    if (const Value* answers = item.Find("answers")) row.answers = *answers;
    if (const Value* usage = item.Find("usage")) row.usage = *usage;
    return row;
  }

  GoldenQuestion Question(const Value& item, const std::vector<int32_t>& trunk) const {
    GoldenQuestion question;
    question.name = reader_.Text(item, "question");
    question.ids_sha256 = reader_.Text(item, "ids_sha256");
    question.slot = static_cast<size_t>(reader_.Number(item, "slot"));
    question.probabilities = reader_.Numbers(item, "probabilities");
    const Value& hidden = reader_.Get(item, "hidden");
    question.hidden_first = reader_.Numbers(hidden, "first8");
    question.hidden_l2 = reader_.Number(hidden, "l2");
    if (item.Find("branch_ids") == nullptr) return question;  // a --small file
    question.ids = trunk;
    const std::vector<int32_t> branch = reader_.Ids(item, "branch_ids");
    question.ids.insert(question.ids.end(), branch.begin(), branch.end());
    question.codes = reader_.Texts(item, "codes");
    question.options = reader_.Texts(item, "keys");
    for (const Value& group : reader_.Items(item, "groups"))
      question.groups.push_back(reader_.AsIds(group, "groups"));
    question.alone_ids = question.ids;
    question.alone_probabilities = question.probabilities;
    const Value* alone = item.Find("row_form");
    if (alone != nullptr && alone->Find("ids") != nullptr) {
      question.alone_ids = reader_.Ids(*alone, "ids");
      question.alone_probabilities = reader_.Numbers(*alone, "probabilities");
    }
    return question;
  }

  const Reader& reader_;
};

// "oracle-golden/1", Kev's: one direct row a question (tools/oracle/README.md).
class KevGolden {
 public:
  explicit KevGolden(const Reader& reader) : reader_(reader) {}

  Golden Read(const Value& root) const {
    Golden golden;
    golden.format = reader_.Text(root, "format");
    golden.weights_sha256 =
        reader_.Text(reader_.Get(reader_.Get(root, "model"), "sha256"), "base/model.safetensors");
    const Value& noise = reader_.Get(root, "noise_fp32_vs_fp64");
    golden.noise_dp = reader_.Number(noise, "max_dp");
    for (const Value& item : reader_.Items(root, "requests")) golden.rows.push_back(Row(item));
    return golden;
  }

 private:
  GoldenRow Row(const Value& item) const {
    GoldenRow row;
    row.id = reader_.Text(item, "id");
    if (const Value* refused = item.Find("refused")) {
      row.refused = true;
      row.reason = reader_.Text(*refused, "reason");
      return row;
    }
    const std::vector<int32_t> trunk = reader_.Ids(item, "state_ids");
    row.trunk_rows = trunk.size();
    for (const Value& question : reader_.Items(item, "questions"))
      row.questions.push_back(Question(question, trunk));
    row.answers = reader_.Get(item, "answers");
    row.usage = reader_.Get(item, "usage");
    return row;
  }

  GoldenQuestion Question(const Value& item, const std::vector<int32_t>& trunk) const {
    GoldenQuestion question;
    question.name = reader_.Text(item, "question");
    question.ids = trunk;
    const std::vector<int32_t> branch = reader_.Ids(item, "branch_ids");
    question.ids.insert(question.ids.end(), branch.begin(), branch.end());
    question.ids_sha256 = Sha256(std::as_bytes(std::span(question.ids)));
    question.slot = static_cast<size_t>(reader_.Number(item, "decide_index"));
    question.options = reader_.Texts(item, "keys");
    for (const int32_t mark : reader_.Ids(item, "option_index"))
      question.marks.push_back(static_cast<size_t>(mark));
    question.scores = reader_.Numbers(item, "z");
    question.probabilities = reader_.Numbers(item, "probabilities");
    question.hidden_first = reader_.Numbers(item, "decide_hidden_first8");
    question.hidden_l2 = reader_.Number(item, "decide_hidden_l2");
    question.alone_ids = question.ids;
    question.alone_probabilities = question.probabilities;
    return question;
  }

  const Reader& reader_;
};

Value ReadJsonFile(const std::filesystem::path& path) {
  return json::Parse(ReadFile(path, ErrorKind::kFile, kMaxGoldenBytes), ErrorKind::kFile,
                     path.filename().string());
}

}  // namespace

Golden ReadGolden(const std::filesystem::path& path) {
  const Value root = ReadJsonFile(path);
  const Reader reader(path.filename().string());
  const std::string format = reader.Text(root, "format");
  if (format == "d1-golden/1") return D1Golden(reader).Read(root);
  if (format == "oracle-golden/1" && reader.Text(root, "family") == "kev")
    return KevGolden(reader).Read(root);
  throw Error(ErrorKind::kFile, path.filename().string(),
              fmt::format("'{}' is no golden format assay reads", format),
              "d1-golden/1, or oracle-golden/1 of the kev family");
}

std::vector<GoldenRequest> ReadGoldenRequests(const std::filesystem::path& path) {
  const Value root = ReadJsonFile(path);
  const Reader reader(path.filename().string());
  std::vector<GoldenRequest> out;
  for (const Value& item : reader.Items(root, "requests")) {
    GoldenRequest request;
    request.id = reader.Text(item, "id");
    const Value* raw = item.Find("raw");
    request.text =
        raw != nullptr ? reader.Text(item, "raw") : json::PrintCompact(reader.Get(item, "request"));
    if (item.Find("red_of") != nullptr) request.red_of = reader.Text(item, "red_of");
    if (item.Find("pictures") != nullptr) request.pictures = reader.Texts(item, "pictures");
    out.push_back(std::move(request));
  }
  return out;
}

}  // namespace assay::gate

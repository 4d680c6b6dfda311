#include "families/kev/head_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "assay/error.h"

namespace assay::families::kev {
namespace {

using formats::PickleKind;
using formats::PickleValue;
using formats::TorchFile;
using formats::TorchTensor;

// The dict of a head, read key by key.
class Reader {
 public:
  Reader(const TorchFile& file, const std::string& name) : file_(file), name_(name) {
    if (file.root.kind != PickleKind::kDict)
      throw Error(ErrorKind::kModel, name, "holds no dict", "the head.pt of a Kev checkpoint");
  }

  [[noreturn]] void Refuse(const std::string& key, std::string problem, std::string hint) const {
    throw Error(ErrorKind::kModel, name_ + ": " + key, std::move(problem), std::move(hint));
  }

  // Null when absent or None.
  const PickleValue* Find(const std::string& key, PickleKind kind) const {
    const PickleValue* value = file_.root.Find(key);
    if (value == nullptr || value->kind == PickleKind::kNone) return nullptr;
    if (value->kind != kind) {
      Refuse(key, fmt::format("is {}", PickleKindName(value->kind)),
             std::string(PickleKindName(kind)));
    }
    return value;
  }

  std::string Text(const std::string& key, std::string otherwise) const {
    const PickleValue* value = Find(key, PickleKind::kString);
    return value == nullptr ? std::move(otherwise) : value->text;
  }

  double Temperature() const {
    const PickleValue* value = file_.root.Find("temperature");
    if (value == nullptr || value->kind == PickleKind::kNone) return 1;
    const bool is_int = value->kind == PickleKind::kInt;
    if (!is_int && value->kind != PickleKind::kFloat)
      Refuse("temperature", fmt::format("is {}", PickleKindName(value->kind)), "a float");
    const double number = is_int ? static_cast<double>(value->integer) : value->number;
    if (!std::isfinite(number) || number <= 0)
      Refuse("temperature", fmt::format("is {}", number), "a number above 0");
    return number;
  }

  const PickleValue& Tensors() const {
    const PickleValue* head = Find("head", PickleKind::kDict);
    if (head == nullptr) Refuse("head", "is missing", "a dict of four tensors");
    return *head;
  }

  // A tensor of the head. A vector has `cols` 0; a size of 0 takes what the file has.
  const TorchTensor& Tensor(const std::string& key, size_t rows, size_t cols, bool matrix) const {
    const PickleValue* value = Tensors().Find(key);
    if (value == nullptr || value->kind != PickleKind::kTensor)
      Refuse("head." + key, value == nullptr ? "is missing" : "is no tensor", "a tensor");
    const TorchTensor& tensor = file_.tensors[value->tensor];
    const std::vector<uint64_t>& shape = tensor.shape;
    const bool fits = shape.size() == (matrix ? 2u : 1u) && shape[0] == rows &&
                      (!matrix || (shape[1] > 0 && (cols == 0 || shape[1] == cols)));
    if (!fits) {
      const std::string wanted =
          !matrix ? fmt::format("[{}]", rows)
                  : fmt::format("[{}, {}]", rows, cols == 0 ? "hidden" : fmt::format("{}", cols));
      Refuse("head." + key, fmt::format("is [{}]", fmt::join(shape, ", ")), wanted);
    }
    if (!std::ranges::all_of(tensor.values, [](float x) { return std::isfinite(x); }))
      Refuse("head." + key, "holds values that are not finite", "finite numbers");
    return tensor;
  }

 private:
  const TorchFile& file_;
  const std::string& name_;
};

}  // namespace

PointerHead HeadFile::head() const {
  return {{query_weight.data(), head_dim, hidden},
          {key_weight.data(), head_dim, hidden},
          query_bias,
          key_bias};
}

HeadFile HeadOf(const TorchFile& file, const std::string& name) {
  const Reader reader(file, name);
  HeadFile out;
  out.base = reader.Text("base", "");
  if (out.base.empty()) reader.Refuse("base", "is missing", "the name of the base model");
  out.revision = reader.Text("base_revision", "");
  const std::string weights = reader.Text("weights", "lora");
  if (weights != "lora" && weights != "full")
    reader.Refuse("weights", fmt::format("is '{}'", OneLine(weights, 40)), "lora or full");
  out.full_weights = weights == "full";
  for (const char* key : {"option_isolation", "special_embeddings"}) {
    const PickleValue* value = reader.Find(key, PickleKind::kBool);
    if (value != nullptr && value->boolean)
      reader.Refuse(key, "is set, which these bases do not take", "False");
  }
  out.temperature = reader.Temperature();
  if (const PickleValue* dim = reader.Find("head_dim", PickleKind::kInt)) {
    if (dim->integer < 1 || dim->integer > 1 << 16)
      reader.Refuse("head_dim", fmt::format("is {}", dim->integer), "1 to 65536");
    out.head_dim = static_cast<size_t>(dim->integer);
  }
  const TorchTensor& query = reader.Tensor("q.weight", out.head_dim, 0, true);
  out.hidden = query.shape[1];
  out.query_weight = query.values;
  out.key_weight = reader.Tensor("k.weight", out.head_dim, out.hidden, true).values;
  out.query_bias = reader.Tensor("q.bias", out.head_dim, 0, false).values;
  out.key_bias = reader.Tensor("k.bias", out.head_dim, 0, false).values;
  if (reader.Tensors().items.size() != 8)
    reader.Refuse("head", "holds more than four tensors", "q and k, weight and bias of each");
  return out;
}

HeadFile ReadHeadFile(const std::filesystem::path& file) {
  return HeadOf(formats::ReadTorchFile(file), file.filename().string());
}

}  // namespace assay::families::kev

#include "formats/tensor_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "assay/error.h"
#include "base/check.h"

namespace assay::formats {
namespace {

// What is wrong, by kind; each becomes a part of the one message.
struct Findings {
  std::vector<std::string> missing;
  std::vector<std::string> unused;
  std::vector<std::string> shapes;
  std::vector<std::string> dtypes;
  std::vector<std::string> mixed;
};

const std::string& GroupOf(const TensorRow& row) {
  return row.group.empty() ? row.name : row.group;
}

// Which spelling a group uses, and the first tensor seen in it.
struct Spelling {
  size_t index = 0;
  std::string example;  // empty until one is found
};

std::map<std::string, Spelling> ChooseSpellings(const Checkpoint& checkpoint,
                                                const TensorTable& table, Findings& findings) {
  std::map<std::string, Spelling> chosen;
  std::unordered_set<std::string> reported;
  for (const TensorRow& row : table.rows) {
    ASSAY_CHECK(!row.sources.empty());
    Spelling& spelling = chosen[GroupOf(row)];
    for (size_t i = 0; i < row.sources.size(); ++i) {
      if (checkpoint.Find(row.sources[i]) == nullptr) continue;
      if (spelling.example.empty()) {
        spelling = {i, row.sources[i]};
      } else if (spelling.index != i && reported.insert(GroupOf(row)).second) {
        findings.mixed.push_back(fmt::format("{} beside {}", OneLine(spelling.example, 100),
                                             OneLine(row.sources[i], 100)));
      }
    }
  }
  return chosen;
}

void CheckTensor(const Tensor& tensor, const TensorRow& row, Findings& findings) {
  if (tensor.shape != row.shape) {
    findings.shapes.push_back(fmt::format("{} is {}, should be {}", OneLine(tensor.name, 100),
                                          OneLine(ShapeText(tensor.shape), 60),
                                          ShapeText(row.shape)));
  }
  if (std::find(row.dtypes.begin(), row.dtypes.end(), tensor.dtype) == row.dtypes.end()) {
    std::vector<std::string_view> accepted;
    for (const Dtype dtype : row.dtypes) accepted.push_back(DtypeName(dtype));
    findings.dtypes.push_back(fmt::format("{} is {}, should be {}", OneLine(tensor.name, 100),
                                          DtypeName(tensor.dtype), fmt::join(accepted, " or ")));
  }
}

const IgnoredTensors* IgnoreRule(const TensorTable& table, std::string_view name) {
  for (const IgnoredTensors& rule : table.ignored) {
    if (name.starts_with(rule.prefix)) return &rule;
  }
  return nullptr;
}

// Tensors of no row: ignored by a rule (noted), or unused (an error).
void SortOutTheRest(const Checkpoint& checkpoint, const TensorTable& table, Findings& findings,
                    std::vector<std::string>& notes) {
  std::unordered_set<std::string_view> known;
  for (const TensorRow& row : table.rows) known.insert(row.sources.begin(), row.sources.end());
  std::map<const IgnoredTensors*, std::vector<std::string>> ignored;
  for (const Tensor* tensor : checkpoint.tensors()) {
    if (known.contains(tensor->name)) continue;
    const IgnoredTensors* rule = IgnoreRule(table, tensor->name);
    (rule == nullptr ? findings.unused : ignored[rule]).push_back(tensor->name);
  }
  for (const IgnoredTensors& rule : table.ignored) {
    const auto found = ignored.find(&rule);
    if (found == ignored.end()) continue;
    notes.push_back(fmt::format("{}: {} not used ({}): {}", checkpoint.name(),
                                found->second.size() == 1
                                    ? "one tensor is"
                                    : fmt::format("{} tensors are", found->second.size()),
                                rule.why, NameList(found->second)));
  }
}

void Append(std::string_view what, const std::vector<std::string>& names, std::string& message) {
  if (names.empty()) return;
  message +=
      fmt::format("{}{} {}: {}", message.empty() ? "" : "; ", names.size(), what, NameList(names));
}

void ThrowIfAny(const Findings& findings, const Checkpoint& checkpoint, const TensorTable& table) {
  std::string message;
  Append("mixed spellings", findings.mixed, message);
  Append("missing", findings.missing, message);
  Append("unused", findings.unused, message);
  Append("of another shape", findings.shapes, message);
  Append("of a dtype that is not read", findings.dtypes, message);
  if (message.empty()) return;
  throw Error(ErrorKind::kModel, checkpoint.name(),
              fmt::format("its tensors are not those of {}: {}", table.architecture, message),
              "weights and config.json must come from the same download");
}

}  // namespace

const Tensor& BoundTensors::Get(std::string_view name) const {
  const Tensor* tensor = Find(name);
  ASSAY_CHECK(tensor != nullptr);
  return *tensor;
}

const Tensor* BoundTensors::Find(std::string_view name) const {
  const auto at = by_name_.find(name);
  ASSAY_CHECK(at != by_name_.end());
  return at->second;
}

BoundTensors BindTensors(const Checkpoint& checkpoint, const TensorTable& table) {
  BoundTensors bound;
  Findings findings;
  const auto spellings = ChooseSpellings(checkpoint, table, findings);
  for (const TensorRow& row : table.rows) {
    const size_t index = spellings.at(GroupOf(row)).index;
    // A row of a group may accept fewer spellings than the group has.
    const std::string& source = row.sources[std::min(index, row.sources.size() - 1)];
    const Tensor* tensor = checkpoint.Find(source);
    if (tensor != nullptr) {
      CheckTensor(*tensor, row, findings);
    } else if (row.required) {
      findings.missing.push_back(source);
    }
    ASSAY_CHECK(bound.by_name_.emplace(row.name, tensor).second);
  }
  SortOutTheRest(checkpoint, table, findings, bound.notes_);
  ThrowIfAny(findings, checkpoint, table);
  return bound;
}

std::vector<std::string> Spellings(const std::vector<std::string>& prefixes,
                                   std::string_view rest) {
  std::vector<std::string> sources;
  for (const std::string& prefix : prefixes) sources.push_back(prefix + std::string(rest));
  return sources;
}

}  // namespace assay::formats

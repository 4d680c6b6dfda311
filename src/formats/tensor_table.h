// One table per architecture says which tensors a checkpoint must hold. Binding a checkpoint to it
// either gives every tensor by our own name or lists all that is wrong in one error.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "formats/checkpoint.h"
#include "formats/dtype.h"
#include "formats/safetensors.h"

namespace assay::formats {

struct TensorRow {
  std::string name;  // ours; every row has its own
  // Accepted names in a checkpoint, preferred one first. At least one.
  std::vector<std::string> sources;
  std::vector<uint64_t> shape;
  bool required = true;
  std::vector<Dtype> dtypes = {Dtype::kBf16, Dtype::kF16, Dtype::kF32};
  // Rows of one group use the same spelling: all their first sources, or all their second, and so
  // on. A checkpoint that mixes them is refused. "" makes the row a group of its own.
  std::string group = {};
};

// Tensors that may be present and are not used.
struct IgnoredTensors {
  std::string prefix;  // of the source name; a whole name works too
  std::string why;     // goes into a note: "the tower is not used by this family"
};

struct TensorTable {
  std::string architecture;  // for messages
  std::vector<TensorRow> rows;
  std::vector<IgnoredTensors> ignored = {};
};

// Tensors by our names. Borrows from the checkpoint, which must outlive it.
class BoundTensors {
 public:
  // Every required row's tensor, and the optional ones that are present (a programmer's error for
  // any other name).
  const Tensor& Get(std::string_view name) const;
  // Null for an optional row whose tensor is absent.
  const Tensor* Find(std::string_view name) const;
  // Lines that a front door may print: which tensors are ignored, and why.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  friend BoundTensors BindTensors(const Checkpoint& checkpoint, const TensorTable& table);
  std::map<std::string, const Tensor*, std::less<>> by_name_;
  std::vector<std::string> notes_;
};

// Throws one Error(kModel, checkpoint.name()) that lists missing tensors, tensors no row uses,
// wrong shapes and dtypes, and mixed spellings; each list shows its first few names and its count.
BoundTensors BindTensors(const Checkpoint& checkpoint, const TensorTable& table);

// prefix + rest for every prefix: the `sources` of one row.
std::vector<std::string> Spellings(const std::vector<std::string>& prefixes, std::string_view rest);

}  // namespace assay::formats

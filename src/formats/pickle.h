// A restricted reader of Python pickles: the data.pkl inside a file of torch.save. A pickle is a
// program for a stack machine; this machine knows only the instructions that build plain values,
// and only the names that a dict of tensors needs (spec kev 1.6). Nothing is imported, called or
// run.
//
// Rules that are ours (all refusals are Error(kModel)):
//  * Names: collections.OrderedDict, torch._utils._rebuild_tensor_v2 and the storages of floating
//  types.
//    Any other is refused where it is asked for, by its full name, used or not; module and name are
//    compared whole, so a dotted name that walks out of an allowed module is another name.
//  * Calls: OrderedDict(), and _rebuild_tensor_v2 of six arguments. BUILD only on an OrderedDict
//  and only
//    with {'_metadata': ...}, which is dropped. Persistent ids only as torch writes them for
//    storages.
//  * Protocols 2 to 5. Bytes after STOP are not read (as Python's reader).
//  * A dict key is a string, a number, a boolean or None, and no key comes twice.
//  * Nothing is taken from below a mark, and a name or a storage is never a value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::formats {

// A head's pickle has a few kilobytes. Each value that is built costs some hundred bytes.
inline constexpr size_t kMaxPickleBytes = 4'000'000;
inline constexpr size_t kMaxPickleValues = 250'000;
inline constexpr size_t kMaxPickleTextBytes =
    16'000'000;  // of all strings, shared ones counted each time
inline constexpr size_t kMaxPickleDepth = 64;
inline constexpr size_t kMaxTensorDimensions = 16;

enum class PickleKind {
  kNone,
  kBool,
  kInt,
  kBigInt,
  kFloat,
  kString,
  kTuple,
  kList,
  kDict,
  kTensor
};

// "None", "a bool", "an int", ...: for messages.
std::string_view PickleKindName(PickleKind kind);

// A value, and everything in it. Values that Python shares between two places are here twice.
struct PickleValue {
  PickleKind kind = PickleKind::kNone;
  bool boolean = false;
  int64_t integer = 0;
  double number = 0;
  // A string's UTF-8, or the little-endian two's complement of an integer that int64 cannot hold.
  std::string text = {};
  // Of a tuple or a list; of a dict key, value, key, value, ... in file order.
  std::vector<PickleValue> items = {};
  size_t tensor = 0;  // index into Pickled::tensors

  // The value of a string key; null when this is not a dict or has no such key.
  const PickleValue* Find(std::string_view key) const;
};

enum class StorageType { kFloat, kDouble, kHalf, kBf16 };
// 4, 8, 2, 2.
size_t StorageElementBytes(StorageType type);

// A tensor as the pickle describes it: which elements of which storage. Sizes are as the file says
// them and not compared with anything yet.
struct TensorView {
  std::string key;  // the storage's name in the archive: 1 to 20 digits
  StorageType type = StorageType::kFloat;
  uint64_t storage_elements = 0;
  uint64_t offset = 0;            // in elements
  std::vector<uint64_t> shape;    // outermost first
  std::vector<uint64_t> strides;  // in elements; as many as the shape
};

struct Pickled {
  PickleValue root;
  std::vector<TensorView> tensors;
};

// Runs a pickle. `where` names it in errors ("head.pt: data.pkl").
Pickled ParsePickle(std::string_view pickle, std::string_view where);

}  // namespace assay::formats

#include "formats/pickle.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "assay/error.h"
#include "base/utf8.h"
#include "formats/pickle_opcodes.h"

namespace assay::formats {
namespace {

// While the pickle runs, values are nodes that refer to each other by index, as Python's objects
// do: a list that is memoised and filled later is one node. The tree is made from them at the end.
using Id = uint32_t;

enum class NodeKind {
  kNone,
  kBool,
  kInt,
  kBigInt,
  kFloat,
  kString,
  kTuple,
  kList,
  kDict,
  kTensor,
  kGlobal,
  kStorage,
};

enum class Global { kOrderedDict, kRebuildTensor, kStorage };

struct Node {
  NodeKind kind = NodeKind::kNone;
  bool boolean = false;        // kBool; kDict: made by OrderedDict()
  Global global = {};          // kGlobal
  StorageType storage = {};    // kGlobal of a storage; kStorage
  int64_t integer = 0;         // kInt; kStorage: its elements; kTensor: index into the views
  double number = 0;           // kFloat
  std::string_view text = {};  // kString, kBigInt; kStorage: its key
  std::vector<Id> items = {};  // kTuple, kList; kDict: key, value, ...
};

struct GlobalRow {
  std::string_view module;
  std::string_view name;
  Global global;
  StorageType storage = StorageType::kFloat;
};

constexpr std::array kGlobals = {
    GlobalRow{"collections", "OrderedDict", Global::kOrderedDict},
    GlobalRow{"torch._utils", "_rebuild_tensor_v2", Global::kRebuildTensor},
    GlobalRow{"torch", "FloatStorage", Global::kStorage, StorageType::kFloat},
    GlobalRow{"torch", "DoubleStorage", Global::kStorage, StorageType::kDouble},
    GlobalRow{"torch", "HalfStorage", Global::kStorage, StorageType::kHalf},
    GlobalRow{"torch", "BFloat16Storage", Global::kStorage, StorageType::kBf16},
};

constexpr std::string_view kDanger =
    "nothing was imported or run; take the file from a source that you trust";
constexpr std::string_view kAgain = "download the file again";

uint64_t LittleEndian(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes.size() && i < 8; ++i) {
    value |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  return value;
}

double BigEndianDouble(std::string_view bytes) {
  uint64_t value = 0;
  for (const char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
  return std::bit_cast<double>(value);
}

class Machine {
 public:
  Machine(std::string_view pickle, std::string_view where) : pickle_(pickle), where_(where) {}

  // Runs to STOP; returns the value on top.
  Id Run() {
    if (pickle_.size() > kMaxPickleBytes) {
      Refuse(fmt::format("has {} bytes; at most {} are read", pickle_.size(), kMaxPickleBytes));
    }
    while (at_ < pickle_.size()) {
      const PickleInstruction next = DecodePickle(pickle_, at_);
      if (next.name.empty()) {
        Refuse(fmt::format("byte {} is {:#04x}, which is no pickle opcode", at_,
                           static_cast<unsigned>(next.op)),
               kAgain);
      }
      if (next.cut) Refuse(fmt::format("ends inside {} at byte {}", next.name, at_), kAgain);
      op_ = next;
      if (next.op == PickleOp::kStop) return Stop();
      Step();
      at_ = next.next;
    }
    Refuse("ends without STOP", kAgain);
  }

  const Node& node(Id id) const { return nodes_[id]; }
  std::vector<TensorView>& tensors() { return tensors_; }

  [[noreturn]] void Refuse(std::string_view problem, std::string_view hint = "") const {
    throw Error(ErrorKind::kModel, where_, problem, hint);
  }

 private:
  [[noreturn]] void Misuse(std::string_view problem) const {
    Refuse(fmt::format("{} at byte {} {}", op_.name, at_, problem), kAgain);
  }

  [[noreturn]] void RefuseOpcode() const {
    std::string global;
    if (op_.op == PickleOp::kInst) {
      global = fmt::format("{}.{}", op_.argument, op_.second);
    } else {
      global = NextPickleGlobal(pickle_, at_);
    }
    const std::string asks =
        global.empty() ? "" : fmt::format("; it asks for {}", OneLine(global, 120));
    Refuse(fmt::format("uses the pickle opcode {} at byte {}, which is not allowed{}", op_.name,
                       at_, asks),
           kDanger);
  }

  void Step() {
    switch (op_.op) {
      case PickleOp::kProto: return Protocol();
      case PickleOp::kFrame: return;  // a hint for buffering
      case PickleOp::kNone: return Push(Node{.kind = NodeKind::kNone});
      case PickleOp::kNewTrue: return Push(Node{.kind = NodeKind::kBool, .boolean = true});
      case PickleOp::kNewFalse: return Push(Node{.kind = NodeKind::kBool});
      case PickleOp::kBinInt1:
      case PickleOp::kBinInt2: return PushInt(static_cast<int64_t>(LittleEndian(op_.argument)));
      case PickleOp::kBinInt:
        return PushInt(static_cast<int32_t>(static_cast<uint32_t>(LittleEndian(op_.argument))));
      case PickleOp::kLong1: return PushLong();
      case PickleOp::kBinFloat:
        return Push(Node{.kind = NodeKind::kFloat, .number = BigEndianDouble(op_.argument)});
      case PickleOp::kBinUnicode:
      case PickleOp::kShortBinUnicode: return PushText();
      case PickleOp::kEmptyTuple: return Push(Node{.kind = NodeKind::kTuple});
      case PickleOp::kEmptyList: return Push(Node{.kind = NodeKind::kList});
      case PickleOp::kEmptyDict: return Push(Node{.kind = NodeKind::kDict});
      default: return StepOnStack();
    }
  }

  void StepOnStack() {
    switch (op_.op) {
      case PickleOp::kMark: marks_.push_back(stack_.size()); return;
      case PickleOp::kTuple: return MakeTuple(CountFromMark());
      case PickleOp::kTuple1: return MakeTuple(1);
      case PickleOp::kTuple2: return MakeTuple(2);
      case PickleOp::kTuple3: return MakeTuple(3);
      case PickleOp::kAppend: return Extend(NodeKind::kList, 1);
      case PickleOp::kAppends: return Extend(NodeKind::kList, CountFromMark());
      case PickleOp::kSetItem: return Extend(NodeKind::kDict, 2);
      case PickleOp::kSetItems: return Extend(NodeKind::kDict, CountFromMark());
      case PickleOp::kBinPut:
      case PickleOp::kLongBinPut: return Memoize(static_cast<uint32_t>(LittleEndian(op_.argument)));
      case PickleOp::kMemoize: return Memoize(static_cast<uint32_t>(memo_.size()));
      case PickleOp::kBinGet:
      case PickleOp::kLongBinGet: return Recall(static_cast<uint32_t>(LittleEndian(op_.argument)));
      case PickleOp::kGlobal: return PushGlobal(op_.argument, op_.second);
      case PickleOp::kStackGlobal: return StackGlobal();
      case PickleOp::kBinPersId: return PersistentId();
      case PickleOp::kReduce: return Reduce();
      case PickleOp::kBuild: return Build();
      default: RefuseOpcode();
    }
  }

  Id Stop() {
    const Id top = Pop();
    if (!stack_.empty() || !marks_.empty()) Misuse("leaves values on the stack");
    return top;
  }

  void Protocol() {
    const auto protocol = LittleEndian(op_.argument);
    if (protocol < 2 || protocol > 5) {
      Refuse(fmt::format("is written in pickle protocol {}", protocol), "torch.save writes 2");
    }
  }

  // --- the stack: nothing below the last mark can be taken ---

  void Push(Node node) {
    if (nodes_.size() >= kMaxPickleValues) {
      Refuse(fmt::format("builds more than {} values", kMaxPickleValues));
    }
    nodes_.push_back(std::move(node));
    stack_.push_back(static_cast<Id>(nodes_.size() - 1));
  }

  size_t Available() const { return stack_.size() - (marks_.empty() ? 0 : marks_.back()); }

  void Need(size_t count) const {
    if (Available() < count) {
      Misuse(fmt::format("needs {} values and finds {}", count, Available()));
    }
  }

  Id Pop() {
    Need(1);
    const Id top = stack_.back();
    stack_.pop_back();
    return top;
  }

  // How many values lie above the last mark, which is removed.
  size_t CountFromMark() {
    if (marks_.empty()) Misuse("finds no mark");
    const size_t count = Available();
    marks_.pop_back();
    return count;
  }

  std::vector<Id> PopMany(size_t count) {
    Need(count);
    std::vector<Id> out(stack_.end() - static_cast<ptrdiff_t>(count), stack_.end());
    stack_.resize(stack_.size() - count);
    return out;
  }

  void PushInt(int64_t value) { Push(Node{.kind = NodeKind::kInt, .integer = value}); }

  void PushLong() {
    const std::string_view bytes = op_.argument;
    if (bytes.size() > 8) return Push(Node{.kind = NodeKind::kBigInt, .text = bytes});
    uint64_t value = LittleEndian(bytes);
    const bool negative = !bytes.empty() && (static_cast<unsigned char>(bytes.back()) & 0x80u) != 0;
    if (negative && bytes.size() < 8) value |= ~uint64_t{0} << (8 * bytes.size());
    PushInt(static_cast<int64_t>(value));
  }

  void PushText() {
    if (!IsUtf8(op_.argument)) Misuse("holds bytes that are not UTF-8");
    Push(Node{.kind = NodeKind::kString, .text = op_.argument});
  }

  void MakeTuple(size_t count) { Push(Node{.kind = NodeKind::kTuple, .items = PopMany(count)}); }

  void Extend(NodeKind kind, size_t count) {
    if (kind == NodeKind::kDict && count % 2 != 0) Misuse("finds a key without a value");
    const std::vector<Id> added = PopMany(count);
    Need(1);
    Node& target = nodes_[stack_.back()];
    if (target.kind != kind) {
      Misuse(fmt::format("does not find a {} to fill", kind == NodeKind::kDict ? "dict" : "list"));
    }
    target.items.insert(target.items.end(), added.begin(), added.end());
  }

  void Memoize(uint32_t slot) {
    Need(1);
    memo_[slot] = stack_.back();
  }

  void Recall(uint32_t slot) {
    const auto found = memo_.find(slot);
    if (found == memo_.end()) Misuse(fmt::format("asks for memo entry {}, which is not set", slot));
    stack_.push_back(found->second);
  }

  // --- names, storages and the two calls ---

  void PushGlobal(std::string_view module, std::string_view name) {
    const auto* row = std::find_if(kGlobals.begin(), kGlobals.end(), [&](const GlobalRow& r) {
      return r.module == module && r.name == name;
    });
    if (row == kGlobals.end()) {
      Refuse(fmt::format("asks for {} ({} at byte {}), which is not allowed",
                         OneLine(fmt::format("{}.{}", module, name), 120), op_.name, at_),
             kDanger);
    }
    Push(Node{.kind = NodeKind::kGlobal, .global = row->global, .storage = row->storage});
  }

  void StackGlobal() {
    const std::vector<Id> parts = PopMany(2);
    const Node& module = nodes_[parts[0]];
    const Node& name = nodes_[parts[1]];
    if (module.kind != NodeKind::kString || name.kind != NodeKind::kString) {
      Misuse("does not find two strings");
    }
    PushGlobal(module.text, name.text);
  }

  bool IsText(Id id, std::string_view text) const {
    return nodes_[id].kind == NodeKind::kString && nodes_[id].text == text;
  }

  // ('storage', class, key, location, elements); the location is where the tensor was, not where it
  // goes.
  void PersistentId() {
    const Node& id = nodes_[Pop()];
    if (id.kind != NodeKind::kTuple || id.items.size() != 5 || !IsText(id.items[0], "storage") ||
        nodes_[id.items[1]].kind != NodeKind::kGlobal ||
        nodes_[id.items[1]].global != Global::kStorage ||
        nodes_[id.items[2]].kind != NodeKind::kString ||
        nodes_[id.items[3]].kind != NodeKind::kString) {
      Misuse("is not the id of a storage as torch writes it");
    }
    // It becomes part of a file name in the archive.
    const std::string_view key = nodes_[id.items[2]].text;
    if (key.empty() || key.size() > 20 || key.find_first_not_of("0123456789") != key.npos) {
      Misuse(fmt::format("names the storage '{}', not a number as torch does", OneLine(key, 60)));
    }
    const auto elements = static_cast<int64_t>(Size(id.items[4], "storage size"));
    Push(Node{.kind = NodeKind::kStorage,
              .storage = nodes_[id.items[1]].storage,
              .integer = elements,
              .text = key});
  }

  uint64_t Size(Id id, std::string_view what) const {
    const Node& node = nodes_[id];
    if (node.kind != NodeKind::kInt) Misuse(fmt::format("has no integer as {}", what));
    if (node.integer < 0) Misuse(fmt::format("has the negative {} {}", what, node.integer));
    return static_cast<uint64_t>(node.integer);
  }

  std::vector<uint64_t> Sizes(Id id, std::string_view what) const {
    const Node& node = nodes_[id];
    if (node.kind != NodeKind::kTuple) Misuse(fmt::format("has no tuple of {}s", what));
    if (node.items.size() > kMaxTensorDimensions) {
      Misuse(fmt::format("makes a tensor of {} dimensions; at most {} are read", node.items.size(),
                         kMaxTensorDimensions));
    }
    std::vector<uint64_t> out;
    out.reserve(node.items.size());
    for (const Id item : node.items) out.push_back(Size(item, what));
    return out;
  }

  void Reduce() {
    const std::vector<Id> parts = PopMany(2);
    const Node& callee = nodes_[parts[0]];
    const Node& arguments = nodes_[parts[1]];
    if (callee.kind != NodeKind::kGlobal || callee.global == Global::kStorage) {
      Misuse("calls something other than OrderedDict and _rebuild_tensor_v2");
    }
    if (arguments.kind != NodeKind::kTuple) Misuse("has no tuple of arguments");
    if (callee.global == Global::kRebuildTensor) return RebuildTensor(arguments.items);
    if (!arguments.items.empty()) Misuse("calls OrderedDict with arguments");
    Push(Node{.kind = NodeKind::kDict, .boolean = true});
  }

  // (storage, offset, size, stride, requires_grad, backward_hooks): the last two mean nothing here.
  void RebuildTensor(const std::vector<Id>& arguments) {
    if (arguments.size() != 6) {
      Misuse(fmt::format("calls _rebuild_tensor_v2 with {} arguments, not 6", arguments.size()));
    }
    const Node& storage = nodes_[arguments[0]];
    if (storage.kind != NodeKind::kStorage) Misuse("makes a tensor without a storage");
    TensorView view;
    view.key = std::string(storage.text);
    view.type = storage.storage;
    view.storage_elements = static_cast<uint64_t>(storage.integer);
    view.offset = Size(arguments[1], "offset");
    view.shape = Sizes(arguments[2], "size");
    view.strides = Sizes(arguments[3], "stride");
    if (view.shape.size() != view.strides.size()) {
      Misuse(fmt::format("makes a tensor of {} sizes and {} strides", view.shape.size(),
                         view.strides.size()));
    }
    tensors_.push_back(std::move(view));
    Push(Node{.kind = NodeKind::kTensor, .integer = static_cast<int64_t>(tensors_.size() - 1)});
  }

  void Build() {
    const Node& state = nodes_[Pop()];
    Need(1);
    const Node& target = nodes_[stack_.back()];
    if (target.kind != NodeKind::kDict || !target.boolean) {
      Misuse("sets the state of something other than an OrderedDict");
    }
    if (state.kind != NodeKind::kDict || state.items.size() != 2 ||
        !IsText(state.items[0], "_metadata")) {
      Misuse("sets a state other than {'_metadata': ...}");
    }
  }

  std::string_view pickle_;
  std::string_view where_;
  size_t at_ = 0;
  PickleInstruction op_;
  std::vector<Node> nodes_;
  std::vector<Id> stack_;
  std::vector<size_t> marks_;
  std::unordered_map<uint32_t, Id> memo_;
  std::vector<TensorView> tensors_;
};

// Copies the nodes into a tree, counting what it builds before it builds it: shared lists inside
// shared lists would grow without end, and a list can hold itself.
class TreeMaker {
 public:
  explicit TreeMaker(const Machine& machine) : machine_(machine) {}

  PickleValue Make(Id id, size_t depth) {
    const Node& node = machine_.node(id);
    if (depth > kMaxPickleDepth) {
      machine_.Refuse(fmt::format("has values nested more than {} deep", kMaxPickleDepth));
    }
    if (++values_ > kMaxPickleValues) {
      machine_.Refuse(fmt::format("holds more than {} values", kMaxPickleValues));
    }
    text_bytes_ += node.text.size();
    if (text_bytes_ > kMaxPickleTextBytes) {
      machine_.Refuse(fmt::format("holds more than {} bytes of text", kMaxPickleTextBytes));
    }
    PickleValue value;
    value.kind = KindOf(node);
    value.boolean = node.kind == NodeKind::kBool && node.boolean;
    value.integer = node.kind == NodeKind::kInt ? node.integer : 0;
    value.number = node.number;
    value.text = std::string(node.text);
    if (node.kind == NodeKind::kTensor) value.tensor = static_cast<size_t>(node.integer);
    for (const Id item : node.items) value.items.push_back(Make(item, depth + 1));
    if (node.kind == NodeKind::kDict) CheckKeys(value);
    return value;
  }

 private:
  PickleKind KindOf(const Node& node) const {
    switch (node.kind) {
      case NodeKind::kNone: return PickleKind::kNone;
      case NodeKind::kBool: return PickleKind::kBool;
      case NodeKind::kInt: return PickleKind::kInt;
      case NodeKind::kBigInt: return PickleKind::kBigInt;
      case NodeKind::kFloat: return PickleKind::kFloat;
      case NodeKind::kString: return PickleKind::kString;
      case NodeKind::kTuple: return PickleKind::kTuple;
      case NodeKind::kList: return PickleKind::kList;
      case NodeKind::kDict: return PickleKind::kDict;
      case NodeKind::kTensor: return PickleKind::kTensor;
      case NodeKind::kGlobal: machine_.Refuse("holds a class where a value belongs", kDanger);
      case NodeKind::kStorage: machine_.Refuse("holds a storage where a value belongs");
    }
    machine_.Refuse("holds a value of no kind");
  }

  // What Python compares of a key; 1, 1.0 and True are one key there and three here, which no
  // pickle of a Python dict can show.
  void CheckKeys(const PickleValue& dict) const {
    std::set<std::string> seen;
    for (size_t i = 0; i < dict.items.size(); i += 2) {
      const PickleValue& key = dict.items[i];
      if (!key.items.empty() || key.kind >= PickleKind::kTuple) {
        machine_.Refuse(fmt::format("has {} as a dict key", PickleKindName(key.kind)),
                        "a string or a number");
      }
      const std::string identity =
          fmt::format("{} {} {} {} {}", static_cast<int>(key.kind), key.boolean, key.integer,
                      std::bit_cast<uint64_t>(key.number), key.text);
      if (!seen.insert(identity).second) {
        machine_.Refuse(fmt::format("has a dict with the key '{}' twice", OneLine(key.text, 60)),
                        kAgain);
      }
    }
  }

  const Machine& machine_;
  size_t values_ = 0;
  size_t text_bytes_ = 0;
};

}  // namespace

std::string_view PickleKindName(PickleKind kind) {
  switch (kind) {
    case PickleKind::kNone: return "None";
    case PickleKind::kBool: return "a bool";
    case PickleKind::kInt:
    case PickleKind::kBigInt: return "an int";
    case PickleKind::kFloat: return "a float";
    case PickleKind::kString: return "a string";
    case PickleKind::kTuple: return "a tuple";
    case PickleKind::kList: return "a list";
    case PickleKind::kDict: return "a dict";
    case PickleKind::kTensor: return "a tensor";
  }
  return "unknown";
}

const PickleValue* PickleValue::Find(std::string_view key) const {
  if (kind != PickleKind::kDict) return nullptr;
  for (size_t i = 0; i < items.size(); i += 2) {
    if (items[i].kind == PickleKind::kString && items[i].text == key) return &items[i + 1];
  }
  return nullptr;
}

size_t StorageElementBytes(StorageType type) {
  switch (type) {
    case StorageType::kFloat: return 4;
    case StorageType::kDouble: return 8;
    case StorageType::kHalf:
    case StorageType::kBf16: return 2;
  }
  return 0;
}

Pickled ParsePickle(std::string_view pickle, std::string_view where) {
  Machine machine(pickle, where);
  const Id root = machine.Run();
  PickleValue value = TreeMaker(machine).Make(root, 0);
  return {std::move(value), std::move(machine.tensors())};
}

}  // namespace assay::formats

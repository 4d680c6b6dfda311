#include "formats/pickle_opcodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace assay::formats {
namespace {

// What follows the opcode's byte: that many bytes, lines that end in a line feed, or a
// little-endian count and then that many bytes.
enum class Argument { kBytes, kLines, kCounted };

struct Row {
  PickleOp op;
  std::string_view name;
  Argument argument = Argument::kBytes;
  size_t size = 0;  // bytes, lines, or bytes of the count
};

constexpr Argument kLines = Argument::kLines;
constexpr Argument kBytes = Argument::kBytes;
constexpr Argument kCounted = Argument::kCounted;

constexpr std::array kRows = {
    Row{PickleOp::kMark, "MARK"},
    Row{PickleOp::kStop, "STOP"},
    Row{PickleOp::kPop, "POP"},
    Row{PickleOp::kPopMark, "POP_MARK"},
    Row{PickleOp::kDup, "DUP"},
    Row{PickleOp::kFloat, "FLOAT", kLines, 1},
    Row{PickleOp::kInt, "INT", kLines, 1},
    Row{PickleOp::kBinInt, "BININT", kBytes, 4},
    Row{PickleOp::kBinInt1, "BININT1", kBytes, 1},
    Row{PickleOp::kLong, "LONG", kLines, 1},
    Row{PickleOp::kBinInt2, "BININT2", kBytes, 2},
    Row{PickleOp::kNone, "NONE"},
    Row{PickleOp::kPersId, "PERSID", kLines, 1},
    Row{PickleOp::kBinPersId, "BINPERSID"},
    Row{PickleOp::kReduce, "REDUCE"},
    Row{PickleOp::kString, "STRING", kLines, 1},
    Row{PickleOp::kBinString, "BINSTRING", kCounted, 4},
    Row{PickleOp::kShortBinString, "SHORT_BINSTRING", kCounted, 1},
    Row{PickleOp::kUnicode, "UNICODE", kLines, 1},
    Row{PickleOp::kBinUnicode, "BINUNICODE", kCounted, 4},
    Row{PickleOp::kAppend, "APPEND"},
    Row{PickleOp::kBuild, "BUILD"},
    Row{PickleOp::kGlobal, "GLOBAL", kLines, 2},
    Row{PickleOp::kDict, "DICT"},
    Row{PickleOp::kAppends, "APPENDS"},
    Row{PickleOp::kGet, "GET", kLines, 1},
    Row{PickleOp::kBinGet, "BINGET", kBytes, 1},
    Row{PickleOp::kInst, "INST", kLines, 2},
    Row{PickleOp::kLongBinGet, "LONG_BINGET", kBytes, 4},
    Row{PickleOp::kList, "LIST"},
    Row{PickleOp::kObj, "OBJ"},
    Row{PickleOp::kPut, "PUT", kLines, 1},
    Row{PickleOp::kBinPut, "BINPUT", kBytes, 1},
    Row{PickleOp::kLongBinPut, "LONG_BINPUT", kBytes, 4},
    Row{PickleOp::kSetItem, "SETITEM"},
    Row{PickleOp::kTuple, "TUPLE"},
    Row{PickleOp::kSetItems, "SETITEMS"},
    Row{PickleOp::kEmptyDict, "EMPTY_DICT"},
    Row{PickleOp::kEmptyList, "EMPTY_LIST"},
    Row{PickleOp::kEmptyTuple, "EMPTY_TUPLE"},
    Row{PickleOp::kBinFloat, "BINFLOAT", kBytes, 8},
    Row{PickleOp::kBinBytes, "BINBYTES", kCounted, 4},
    Row{PickleOp::kShortBinBytes, "SHORT_BINBYTES", kCounted, 1},
    Row{PickleOp::kProto, "PROTO", kBytes, 1},
    Row{PickleOp::kNewObj, "NEWOBJ"},
    Row{PickleOp::kExt1, "EXT1", kBytes, 1},
    Row{PickleOp::kExt2, "EXT2", kBytes, 2},
    Row{PickleOp::kExt4, "EXT4", kBytes, 4},
    Row{PickleOp::kTuple1, "TUPLE1"},
    Row{PickleOp::kTuple2, "TUPLE2"},
    Row{PickleOp::kTuple3, "TUPLE3"},
    Row{PickleOp::kNewTrue, "NEWTRUE"},
    Row{PickleOp::kNewFalse, "NEWFALSE"},
    Row{PickleOp::kLong1, "LONG1", kCounted, 1},
    Row{PickleOp::kLong4, "LONG4", kCounted, 4},
    Row{PickleOp::kShortBinUnicode, "SHORT_BINUNICODE", kCounted, 1},
    Row{PickleOp::kBinUnicode8, "BINUNICODE8", kCounted, 8},
    Row{PickleOp::kBinBytes8, "BINBYTES8", kCounted, 8},
    Row{PickleOp::kEmptySet, "EMPTY_SET"},
    Row{PickleOp::kAddItems, "ADDITEMS"},
    Row{PickleOp::kFrozenSet, "FROZENSET"},
    Row{PickleOp::kNewObjEx, "NEWOBJ_EX"},
    Row{PickleOp::kStackGlobal, "STACK_GLOBAL"},
    Row{PickleOp::kMemoize, "MEMOIZE"},
    Row{PickleOp::kFrame, "FRAME", kBytes, 8},
    Row{PickleOp::kByteArray8, "BYTEARRAY8", kCounted, 8},
    Row{PickleOp::kNextBuffer, "NEXT_BUFFER"},
    Row{PickleOp::kReadOnlyBuffer, "READONLY_BUFFER"},
};

// Takes `size` bytes off the front of `rest`, or says that there are not so many.
bool Take(std::string_view& rest, uint64_t size, std::string_view& taken) {
  if (size > rest.size()) return false;
  taken = rest.substr(0, size);
  rest.remove_prefix(size);
  return true;
}

bool TakeLine(std::string_view& rest, std::string_view& taken) {
  const size_t end = rest.find('\n');
  if (end == std::string_view::npos) return false;
  taken = rest.substr(0, end);
  rest.remove_prefix(end + 1);
  return true;
}

bool TakeCounted(std::string_view& rest, size_t count_bytes, std::string_view& taken) {
  std::string_view field;
  if (!Take(rest, count_bytes, field)) return false;
  uint64_t count = 0;
  for (size_t i = 0; i < field.size(); ++i) {
    count |= static_cast<uint64_t>(static_cast<unsigned char>(field[i])) << (8 * i);
  }
  return Take(rest, count, taken);
}

bool TakeArgument(const Row& row, std::string_view& rest, PickleInstruction& out) {
  switch (row.argument) {
    case Argument::kBytes: return Take(rest, row.size, out.argument);
    case Argument::kCounted: return TakeCounted(rest, row.size, out.argument);
    case Argument::kLines:
      return TakeLine(rest, out.argument) && (row.size == 1 || TakeLine(rest, out.second));
  }
  return false;
}

}  // namespace

PickleInstruction DecodePickle(std::string_view pickle, size_t at) {
  PickleInstruction out;
  out.op = static_cast<PickleOp>(static_cast<unsigned char>(pickle[at]));
  out.next = at + 1;
  const auto* row =
      std::find_if(kRows.begin(), kRows.end(), [&](const Row& r) { return r.op == out.op; });
  if (row == kRows.end()) return out;
  out.name = row->name;
  std::string_view rest = pickle.substr(at + 1);
  out.cut = !TakeArgument(*row, rest, out);
  out.next = pickle.size() - rest.size();
  return out;
}

std::string NextPickleGlobal(std::string_view pickle, size_t at) {
  while (at < pickle.size()) {
    const PickleInstruction next = DecodePickle(pickle, at);
    if (next.name.empty() || next.cut) break;
    if (next.op == PickleOp::kGlobal || next.op == PickleOp::kInst) {
      return fmt::format("{}.{}", next.argument, next.second);
    }
    at = next.next;
  }
  return "";
}

}  // namespace assay::formats

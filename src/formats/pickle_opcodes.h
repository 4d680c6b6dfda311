// The instructions of Python's pickle, all of protocols 0 to 5, as data: how long each is and what
// it is called. Knowing an instruction is not running it: the machine of pickle.cc runs a few, the
// others are here so that a refusal can say what was asked for. Source: the opcode list of Python's
// pickletools.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace assay::formats {

enum class PickleOp : uint8_t {
  kMark = '(',
  kStop = '.',
  kPop = '0',
  kPopMark = '1',
  kDup = '2',
  kFloat = 'F',
  kInt = 'I',
  kBinInt = 'J',
  kBinInt1 = 'K',
  kLong = 'L',
  kBinInt2 = 'M',
  kNone = 'N',
  kPersId = 'P',
  kBinPersId = 'Q',
  kReduce = 'R',
  kString = 'S',
  kBinString = 'T',
  kShortBinString = 'U',
  kUnicode = 'V',
  kBinUnicode = 'X',
  kAppend = 'a',
  kBuild = 'b',
  kGlobal = 'c',
  kDict = 'd',
  kAppends = 'e',
  kGet = 'g',
  kBinGet = 'h',
  kInst = 'i',
  kLongBinGet = 'j',
  kList = 'l',
  kObj = 'o',
  kPut = 'p',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kSetItem = 's',
  kTuple = 't',
  kSetItems = 'u',
  kEmptyDict = '}',
  kEmptyList = ']',
  kEmptyTuple = ')',
  kBinFloat = 'G',
  kBinBytes = 'B',
  kShortBinBytes = 'C',
  kProto = 0x80,
  kNewObj = 0x81,
  kExt1 = 0x82,
  kExt2 = 0x83,
  kExt4 = 0x84,
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kLong1 = 0x8a,
  kLong4 = 0x8b,
  kShortBinUnicode = 0x8c,
  kBinUnicode8 = 0x8d,
  kBinBytes8 = 0x8e,
  kEmptySet = 0x8f,
  kAddItems = 0x90,
  kFrozenSet = 0x91,
  kNewObjEx = 0x92,
  kStackGlobal = 0x93,
  kMemoize = 0x94,
  kFrame = 0x95,
  kByteArray8 = 0x96,
  kNextBuffer = 0x97,
  kReadOnlyBuffer = 0x98,
};

// One instruction in a pickle. The views are borrowed from it.
struct PickleInstruction {
  PickleOp op = PickleOp::kStop;
  std::string_view name;      // "STACK_GLOBAL"; empty when the byte is no instruction
  std::string_view argument;  // its bytes: without a count before them or a line feed behind
  std::string_view second;    // the second line of GLOBAL and INST
  size_t next = 0;            // where the next instruction begins
  bool cut = false;           // the pickle ends inside the argument; nothing else is set but name
};

// The instruction at `pickle[at]`; at < pickle.size().
PickleInstruction DecodePickle(std::string_view pickle, size_t at);

// "os.system" of the first GLOBAL or INST at or after `at`, or "": for messages about a pickle that
// is refused anyway.
std::string NextPickleGlobal(std::string_view pickle, size_t at);

}  // namespace assay::formats

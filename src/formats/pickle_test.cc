#include "formats/pickle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "assay/error.h"
#include "formats/pickle_opcodes.h"

namespace assay::formats {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Pieces of pickles. Python's pickle module reads each whole one below to the value that is
// expected here.
std::string Bytes(std::initializer_list<int> values) {
  std::string out;
  for (const int value : values) out += static_cast<char>(value);
  return out;
}

std::string Text(std::string_view text) {
  return "X" + Bytes({static_cast<int>(text.size()), 0, 0, 0}) + std::string(text);
}

std::string Global(std::string_view module, std::string_view name) {
  return "c" + std::string(module) + "\n" + std::string(name) + "\n";
}

std::string Pickle(const std::string& body) { return "\x80\x02" + body + "."; }

const std::string kOrderedDict = Global("collections", "OrderedDict");
const std::string kStorage = "(" + Text("storage") + Global("torch", "FloatStorage") + Text("0") +
                             Text("cpu") + "K\x06" + "tQ";
const std::string kTensor = Global("torch._utils", "_rebuild_tensor_v2") + "(" + kStorage +
                            Bytes({'K', 1, '(', 'K', 2, 'K', 2, 't', '(', 'K', 2, 'K', 1, 't'}) +
                            "\x89" + kOrderedDict + ")RtR";

PickleValue Parse(const std::string& body) { return ParsePickle(Pickle(body), "p").root; }

std::string ProblemOf(const std::string& pickle) {
  try {
    ParsePickle(pickle, "p");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kModel);
    EXPECT_EQ(error.where(), "p");
    return error.message();
  }
  return "";
}

std::string Problem(const std::string& body) { return ProblemOf(Pickle(body)); }

TEST(Pickle, ReadsPlainValues) {
  EXPECT_EQ(Parse("N").kind, PickleKind::kNone);
  EXPECT_TRUE(Parse("\x88").boolean);
  EXPECT_EQ(Parse("\x89").kind, PickleKind::kBool);
  EXPECT_EQ(Parse("K\xff").integer, 255);
  EXPECT_EQ(Parse("M\xff\xff").integer, 65535);
  EXPECT_EQ(Parse("J\xff\xff\xff\xff").integer, -1);
  EXPECT_EQ(Parse(Bytes({0x8a, 0})).integer, 0);
  EXPECT_EQ(Parse(Bytes({0x8a, 2, 0x00, 0xff})).integer, -256);
  EXPECT_EQ(Parse(Bytes({0x8a, 5, 0x35, 0x1c, 0xdc, 0xdf, 0x02})).integer, 12345678901);
  EXPECT_EQ(Parse(Bytes({0x8a, 8, 0, 0, 0, 0, 0, 0, 0, 0x80})).integer, INT64_MIN);
  EXPECT_EQ(Parse(Bytes({0x8a, 9, 0, 0, 0, 0, 0, 0, 0, 0x80, 0})).kind, PickleKind::kBigInt);
  EXPECT_EQ(Parse(Bytes({'G', 0x40, 0x03, 0x47, 0xae, 0x14, 0x7a, 0xe1, 0x48})).number, 2.41);
  EXPECT_EQ(Parse(Text("caf\u00e9")).text, "caf\u00e9");
  EXPECT_EQ(Parse(Bytes({0x8c, 2}) + "ab").text, "ab");
}

TEST(Pickle, ReadsContainersInOrder) {
  EXPECT_EQ(Parse(")").kind, PickleKind::kTuple);
  const PickleValue tuple = Parse("K\x01K\x02K\x03\x87");
  ASSERT_EQ(tuple.items.size(), 3u);
  EXPECT_EQ(tuple.items[2].integer, 3);
  const PickleValue list = Parse("](K\x01Ne)a");
  ASSERT_EQ(list.items.size(), 3u);
  EXPECT_EQ(list.items[0].integer, 1);
  EXPECT_EQ(list.items[2].kind, PickleKind::kTuple);
}

TEST(Pickle, ReadsDictsInFileOrder) {
  const PickleValue dict = Parse("}(" + Text("z") + "K\x01" + Text("a") + "]K\x07" + "au" +
                                 Text("m") + kOrderedDict + ")Rs");
  ASSERT_EQ(dict.items.size(), 6u);
  EXPECT_EQ(dict.items[0].text, "z");
  ASSERT_NE(dict.Find("a"), nullptr);
  EXPECT_EQ(dict.Find("a")->items.at(0).integer, 7);
  EXPECT_EQ(dict.Find("m")->kind, PickleKind::kDict);
  EXPECT_EQ(dict.Find("b"), nullptr);
}

TEST(Pickle, SharedListsAreReadWhereverTheyStand) {
  // x = []; {"p": x, "q": x}, and x is filled between the two.
  const PickleValue dict =
      Parse("}(" + Text("p") + "]q\x05" + "(K\x01K\x02" + "e" + Text("q") + "h\x05u");
  EXPECT_EQ(dict.Find("p")->items.size(), 2u);
  EXPECT_EQ(dict.Find("q")->items.size(), 2u);
}

TEST(Pickle, ReadsProtocol4) {
  // MEMOIZE numbers its entries from 0 in order.
  const std::string body = Bytes({0x80, 4, 0x95, 9, 0, 0, 0, 0, 0, 0, 0}) + "]\x94" +
                           Bytes({0x8c, 1}) + "s\x94" + "h\x01" + "\x87" + ".";
  const PickleValue triple = ParsePickle(body, "p").root;
  EXPECT_EQ(triple.items.at(0).kind, PickleKind::kList);
  EXPECT_EQ(triple.items.at(1).text, "s");
  EXPECT_EQ(triple.items.at(2).text, "s");
}

TEST(Pickle, ReadsTensorsAsViews) {
  const Pickled pickled = ParsePickle(Pickle(kTensor), "p");
  EXPECT_EQ(pickled.root.kind, PickleKind::kTensor);
  const TensorView& view = pickled.tensors.at(pickled.root.tensor);
  EXPECT_EQ(view.key, "0");
  EXPECT_EQ(view.type, StorageType::kFloat);
  EXPECT_EQ(view.storage_elements, 6u);
  EXPECT_EQ(view.offset, 1u);
  EXPECT_THAT(view.shape, ElementsAre(2, 2));
  EXPECT_THAT(view.strides, ElementsAre(2, 1));
}

TEST(Pickle, RefusesEveryOtherNameByItsName) {
  EXPECT_THAT(Problem(Global("os", "system")), HasSubstr("asks for os.system (GLOBAL at byte 2)"));
  // Used or not, and wherever it stands.
  EXPECT_THAT(Problem(Global("posix", "system") + "0N"), HasSubstr("posix.system"));
  EXPECT_THAT(Problem(Text("builtins") + Text("eval") + "\x93"), HasSubstr("builtins.eval"));
  // Whole names, not prefixes, and no walk along the dots.
  EXPECT_THAT(Problem(Global("collections", "OrderedDict.fromkeys")), HasSubstr("fromkeys"));
  EXPECT_THAT(Problem(Global("torch", "load")), HasSubstr("torch.load"));
  EXPECT_THAT(Problem(Global("torch", "_utils._rebuild_tensor_v2")), HasSubstr("torch._utils._re"));
  EXPECT_THAT(Problem(Global("os", "OrderedDict")), HasSubstr("os.OrderedDict"));
  EXPECT_THAT(Problem(Global("torch", "LongStorage")), HasSubstr("torch.LongStorage"));
}

TEST(Pickle, RefusesEveryOtherOpcodeByItsName) {
  // Every opcode that is not among those that build plain values, and where there is one, the name.
  const std::pair<std::string, std::string> refused[] = {
      {"0", "POP"},
      {"1", "POP_MARK"},
      {"2", "DUP"},
      {"F1\n", "FLOAT"},
      {"I1\n", "INT"},
      {"L1L\n", "LONG"},
      {"P1\n", "PERSID"},
      {"S'x'\n", "STRING"},
      {Bytes({'T', 0, 0, 0, 0}), "BINSTRING"},
      {Bytes({'U', 0}), "SHORT_BINSTRING"},
      {"Vx\n", "UNICODE"},
      {"d", "DICT"},
      {"g0\n", "GET"},
      {"l", "LIST"},
      {"o", "OBJ"},
      {"p0\n", "PUT"},
      {Bytes({'B', 0, 0, 0, 0}), "BINBYTES"},
      {Bytes({'C', 0}), "SHORT_BINBYTES"},
      {"\x81", "NEWOBJ"},
      {Bytes({0x82, 1}), "EXT1"},
      {Bytes({0x83, 1, 0}), "EXT2"},
      {Bytes({0x84, 1, 0, 0, 0}), "EXT4"},
      {Bytes({0x8b, 0, 0, 0, 0}), "LONG4"},
      {Bytes({0x8d, 0, 0, 0, 0, 0, 0, 0, 0}), "BINUNICODE8"},
      {Bytes({0x8e, 0, 0, 0, 0, 0, 0, 0, 0}), "BINBYTES8"},
      {"\x8f", "EMPTY_SET"},
      {"\x90", "ADDITEMS"},
      {"\x91", "FROZENSET"},
      {"\x92", "NEWOBJ_EX"},
      {Bytes({0x96, 0, 0, 0, 0, 0, 0, 0, 0}), "BYTEARRAY8"},
      {"\x97", "NEXT_BUFFER"},
      {"\x98", "READONLY_BUFFER"},
  };
  for (const auto& [bytes, name] : refused) {
    EXPECT_EQ(Problem("(NN" + bytes),
              "uses the pickle opcode " + name + " at byte 5, which is not allowed");
  }
  EXPECT_THAT(Problem("(S'id'\nios\nsystem\n"), HasSubstr("STRING at byte 3"));
  EXPECT_THAT(Problem("(S'id'\nios\nsystem\n"), HasSubstr("it asks for os.system"));
  EXPECT_THAT(Problem("(ios\nsystem\n"), HasSubstr("INST at byte 3, which is not allowed; it asks "
                                                   "for os.system"));
  EXPECT_THAT(Problem("\xff"), HasSubstr("byte 2 is 0xff, which is no pickle opcode"));
}

TEST(Pickle, RefusesCallsThatAreNotTorchs) {
  EXPECT_THAT(Problem(kOrderedDict + "N\x85R"), HasSubstr("calls OrderedDict with arguments"));
  EXPECT_THAT(Problem(kOrderedDict + "NR"), HasSubstr("has no tuple of arguments"));
  EXPECT_THAT(Problem("N)R"), HasSubstr("calls something other"));
  EXPECT_THAT(Problem(Global("torch", "FloatStorage") + ")R"), HasSubstr("calls something other"));
  EXPECT_THAT(Problem(Global("torch._utils", "_rebuild_tensor_v2") + ")R"),
              HasSubstr("with 0 arguments, not 6"));
  EXPECT_THAT(Problem("}}b"), HasSubstr("something other than an OrderedDict"));
  EXPECT_THAT(Problem(kOrderedDict + ")R}" + Text("__class__") + "Nsb"),
              HasSubstr("a state other"));
  EXPECT_EQ(Problem(kOrderedDict + ")R}" + Text("_metadata") + "Nsb"), "");
  EXPECT_THAT(Problem(Text("storage") + "Q"), HasSubstr("is not the id of a storage"));
  EXPECT_THAT(Problem(kOrderedDict), HasSubstr("holds a class"));
  EXPECT_THAT(Problem(kStorage), HasSubstr("holds a storage"));
}

TEST(Pickle, RefusesMisuseOfStackAndMemo) {
  EXPECT_THAT(Problem(""), HasSubstr("STOP at byte 2 needs 1 values and finds 0"));
  EXPECT_THAT(Problem("NN"), HasSubstr("leaves values on the stack"));
  EXPECT_THAT(Problem("N("), HasSubstr("needs 1 values"));
  EXPECT_THAT(Problem("N(\x85"), HasSubstr("TUPLE1 at byte 4 needs 1 values and finds 0"));
  EXPECT_THAT(Problem("Nt"), HasSubstr("finds no mark"));
  EXPECT_THAT(Problem("Na"), HasSubstr("needs 1 values"));
  EXPECT_THAT(Problem("NNa"), HasSubstr("does not find a list"));
  EXPECT_THAT(Problem("]NNs"), HasSubstr("does not find a dict"));
  EXPECT_THAT(Problem("}(Nu"), HasSubstr("a key without a value"));
  EXPECT_THAT(Problem("h\x01"), HasSubstr("memo entry 1, which is not set"));
  EXPECT_THAT(Problem("q\x01"), HasSubstr("needs 1 values"));
  EXPECT_THAT(Problem("NN\x93"), HasSubstr("does not find two strings"));
}

TEST(Pickle, RefusesCutAndForeignPickles) {
  EXPECT_THAT(ProblemOf(""), HasSubstr("ends without STOP"));
  EXPECT_THAT(ProblemOf("\x80\x02N"), HasSubstr("ends without STOP"));
  EXPECT_THAT(ProblemOf("\x80\x02K"), HasSubstr("ends inside BININT1 at byte 2"));
  EXPECT_THAT(ProblemOf("\x80\x02X\xff\xff\xff\xff"
                        "abc"),
              HasSubstr("ends inside BINUNICODE"));
  EXPECT_THAT(ProblemOf("\x80\x02"
                        "cos\nsystem"),
              HasSubstr("ends inside GLOBAL"));
  EXPECT_THAT(ProblemOf("\x80\x01N."), HasSubstr("pickle protocol 1"));
  EXPECT_THAT(ProblemOf("\x80\x06N."), HasSubstr("pickle protocol 6"));
  EXPECT_THAT(Problem(Bytes({0x8c, 2, 0xc0, 0x80})), HasSubstr("not UTF-8"));
}

TEST(Pickle, RefusesSizesThatAreNone) {
  const std::string rebuild = Global("torch._utils", "_rebuild_tensor_v2");
  const std::string tail = "\x89" + kOrderedDict + ")RtR";
  const auto tensor = [&](const std::string& offset, const std::string& shape,
                          const std::string& strides) {
    return Problem(rebuild + "(" + kStorage + offset + shape + strides + tail);
  };
  EXPECT_EQ(tensor("K\x01", ")", ")"), "");
  EXPECT_THAT(tensor("J\xff\xff\xff\xff", ")", ")"), HasSubstr("the negative offset -1"));
  EXPECT_THAT(tensor("K\x01", "J\xfd\xff\xff\xff\x85", "K\x01\x85"),
              HasSubstr("the negative size -3"));
  EXPECT_THAT(tensor("K\x01", "K\x01\x85", "J\xff\xff\xff\xff\x85"), HasSubstr("negative stride"));
  EXPECT_THAT(tensor("K\x01", "K\x01\x85", ")"), HasSubstr("1 sizes and 0 strides"));
  EXPECT_THAT(tensor("K\x01", "N\x85", ")"), HasSubstr("no integer as size"));
  EXPECT_THAT(tensor("N", ")", ")"), HasSubstr("no integer as offset"));
  const std::string many = "(" + std::string(17, '\x89') + "t";
  EXPECT_THAT(tensor("K\x01", many, many), HasSubstr("17 dimensions"));
  for (const std::string key : {"", "../0", "0/1", "-1", "999999999999999999999"}) {
    EXPECT_THAT(Problem("(" + Text("storage") + Global("torch", "FloatStorage") + Text(key) +
                        Text("cpu") + "K\x06tQ"),
                HasSubstr("names the storage '" + key + "'"));
  }
}

TEST(Pickle, WhatIsBuiltIsBounded) {
  // Ten lists, each of ten times the one before: 10^10 values from 250 bytes.
  std::string laughs = "N";
  for (int i = 0; i < 10; ++i) {
    laughs += "q\x01";
    laughs += "](";
    for (int n = 0; n < 10; ++n) laughs += "h\x01";
    laughs += "e";
  }
  EXPECT_THAT(Problem("(" + laughs + "t"), HasSubstr("holds more than 250000 values"));
  // A tuple of 500 times one tuple: 250,001 values, and 249,501.
  const auto shared = [](size_t nones) {
    std::string body = "(" + std::string(nones, 'N') + "tq\x01";
    body = "(" + body;
    for (int i = 1; i < 500; ++i) body += "h\x01";
    return body + "t";
  };
  EXPECT_THAT(Problem(shared(499)), HasSubstr("holds more than 250000 values"));
  EXPECT_EQ(Problem(shared(498)), "");
  // A list that holds itself.
  EXPECT_THAT(Problem("]q\x01h\x01"
                      "a"),
              HasSubstr("nested more than 64 deep"));
  EXPECT_THAT(Problem("N" + std::string(100'000, '\x85')), HasSubstr("nested more than 64 deep"));
  EXPECT_THAT(Problem("(" + std::string(250'001, 'N') + "t"), HasSubstr("builds more than 250000"));
  EXPECT_THAT(Problem(std::string(4'000'000, '(')), HasSubstr("at most 4000000 are read"));
  // One long string many times.
  std::string text = "X" + Bytes({0x00, 0x00, 0x10, 0x00}) + std::string(0x100000, 'x') + "q\x01";
  for (int i = 0; i < 16; ++i) text += "h\x01";
  EXPECT_THAT(Problem("(" + text + "t"), HasSubstr("more than 16000000 bytes of text"));
}

TEST(Pickle, RefusesKeysThatAreNone) {
  EXPECT_THAT(Problem("})Ns"), HasSubstr("has a tuple as a dict key"));
  EXPECT_THAT(Problem("}]Ns"), HasSubstr("has a list as a dict key"));
  EXPECT_THAT(Problem("}" + kTensor + "Ns"), HasSubstr("has a tensor as a dict key"));
  EXPECT_THAT(Problem("}(" + Text("a") + "N" + Text("a") + "Nu"), HasSubstr("the key 'a' twice"));
  EXPECT_EQ(Problem("}(" + Text("1") + "NK\x01NK\x02Nu"), "");
}

TEST(Pickle, NamesTheFirstGlobalOfAnything) {
  EXPECT_EQ(NextPickleGlobal("\x80\x02"
                             "cio\nopen\n(tR.",
                             0),
            "io.open");
  EXPECT_EQ(NextPickleGlobal("(S'x'\nios\nsystem\n.", 0), "os.system");
  EXPECT_EQ(NextPickleGlobal("\x80\x02N.", 0), "");
  EXPECT_EQ(NextPickleGlobal("plain text", 0), "");
}

}  // namespace
}  // namespace assay::formats

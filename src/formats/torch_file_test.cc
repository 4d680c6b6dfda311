#include "formats/torch_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "assay/error.h"
#include "testing/temp_folder.h"
#include "testing/torch_writer.h"

namespace assay::formats {
namespace {

using ::assay::testing::PickleWriter;
using ::assay::testing::StoredZip;
using ::assay::testing::TempFolder;
using ::assay::testing::TorchSave;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::span<const std::byte> AsBytes(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string Problem(const std::string& content) {
  try {
    ParseTorchFile(AsBytes(content), "head.pt");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kModel);
    EXPECT_THAT(error.where(), StartsWith("head.pt"));
    return error.what();
  }
  return "";
}

// The values of one tensor over the six elements 0 ... 5 of an fp32 storage.
std::vector<float> Values(uint64_t offset, const std::vector<uint64_t>& shape,
                          const std::vector<uint64_t>& strides) {
  const std::vector<float> storage = {0, 1, 2, 3, 4, 5};
  PickleWriter pickle;
  pickle.Tensor("FloatStorage", 0, 6, offset, shape, strides);
  const std::string file = TorchSave(pickle.Finish(), {testing::RawF32(storage)});
  return ParseTorchFile(AsBytes(file), "head.pt").tensors.at(0).values;
}

TEST(TorchFile, StridesAreApplied) {
  EXPECT_THAT(Values(0, {2, 3}, {3, 1}), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(Values(0, {3, 2}, {1, 3}), ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(Values(1, {2, 2}, {2, 1}), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(Values(5, {3}, {0}), ElementsAre(5, 5, 5));
  EXPECT_THAT(Values(4, {}, {}), ElementsAre(4));
  EXPECT_THAT(Values(7, {0, 3}, {3, 1}), ElementsAre());
  EXPECT_THAT(Values(1, {1, 2, 1, 2}, {100, 1, 100, 2}), ElementsAre(1, 3, 2, 4));
}

TEST(TorchFile, RefusesTensorsThatLeaveTheirStorage) {
  const auto problem = [](uint64_t offset, const std::vector<uint64_t>& shape,
                          const std::vector<uint64_t>& strides) {
    try {
      Values(offset, shape, strides);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(
      problem(1, {2, 3}, {3, 1}),
      "head.pt: data/0: a tensor [2, 3] with strides [3, 1] from element 1 reaches past its 6 "
      "elements (download the file again)");
  EXPECT_THAT(problem(6, {}, {}), HasSubstr("reaches past"));
  // Products and sums past 64 bits look large, not small.
  EXPECT_THAT(problem(0, {2}, {uint64_t{1} << 62}), HasSubstr("reaches past"));
  EXPECT_THAT(problem(0, {5}, {uint64_t{1} << 62}), HasSubstr("reaches past"));
  EXPECT_THAT(problem(0, {5, 5}, {uint64_t{1} << 62, uint64_t{1} << 62}),
              HasSubstr("reaches past"));
  EXPECT_THAT(problem(0, {1u << 20, 1u << 20}, {0, 0}), HasSubstr("past 33554432 elements"));
  EXPECT_THAT(problem(0, {uint64_t{1} << 32, uint64_t{1} << 32}, {0, 0}),
              HasSubstr("past 33554432 elements"));
}

TEST(TorchFile, TensorsTogetherAreBounded) {
  PickleWriter pickle;
  pickle.BeginList();
  for (int i = 0; i < 3; ++i) pickle.Tensor("FloatStorage", 0, 1, 0, {1u << 24}, {0});
  pickle.EndList();
  EXPECT_THAT(Problem(TorchSave(pickle.Finish(), {std::string(4, '\0')})),
              HasSubstr("past 33554432 elements"));
}

TEST(TorchFile, DoublesAreRoundedOnce) {
  PickleWriter pickle;
  pickle.Tensor("DoubleStorage", 0, 3, 0, {3}, {1});
  const double values[] = {0.1, 1e300, 1.0 + 0x1p-24 + 0x1p-50};
  const std::string raw(reinterpret_cast<const char*>(values), sizeof values);
  const std::string file = TorchSave(pickle.Finish(), {raw});
  EXPECT_THAT(ParseTorchFile(AsBytes(file), "head.pt").tensors.at(0).values,
              ElementsAre(0.1f, std::numeric_limits<float>::infinity(), 1.0f + 0x1p-23f));
}

TEST(TorchFile, AStorageHasOneTypeAndSize) {
  PickleWriter types;
  types.BeginTuple();
  types.Tensor("FloatStorage", 0, 2, 0, {2}, {1}).Tensor("DoubleStorage", 0, 1, 0, {1}, {1});
  types.EndTuple();
  EXPECT_THAT(Problem(TorchSave(types.Finish(), {std::string(8, '\0')})),
              HasSubstr("data/0: is used with two element types"));
  PickleWriter sizes;
  sizes.BeginTuple();
  sizes.Tensor("FloatStorage", 0, 2, 0, {2}, {1}).Tensor("FloatStorage", 0, 1, 0, {1}, {1});
  sizes.EndTuple();
  EXPECT_THAT(Problem(TorchSave(sizes.Finish(), {std::string(8, '\0')})),
              HasSubstr("data/0: has 8 bytes, but data.pkl asks for 4"));
}

TEST(TorchFile, RefusesArchivesThatAreNotTorchs) {
  PickleWriter none;
  const std::string pickle = none.None().Finish();
  EXPECT_THAT(Problem(""), HasSubstr("is not a zip"));
  EXPECT_THAT(Problem("<!DOCTYPE html>"), HasSubstr("is a web page"));
  EXPECT_THAT(Problem(pickle), HasSubstr("is not a zip"));
  EXPECT_THAT(Problem("PK\x03\x04"), HasSubstr("is a cut or damaged zip"));
  EXPECT_THAT(Problem(StoredZip({{"data.pkl", pickle}})), HasSubstr("without FOLDER/data.pkl"));
  EXPECT_THAT(Problem(StoredZip({{"a/b/data.pkl", pickle}})), HasSubstr("without FOLDER/data.pkl"));
  EXPECT_THAT(Problem(StoredZip({{"a/data.pkl", pickle}, {"b/data.pkl", pickle}})),
              HasSubstr("has two pickles, in a/ and b/"));
  EXPECT_THAT(Problem(StoredZip({{"a/data.pkl", pickle}, {"a/data.pkl", pickle}})),
              HasSubstr("a/data.pkl: is in the zip twice"));
  EXPECT_THAT(Problem(StoredZip({{"a/data.pkl", pickle}, {"a/byteorder", "big"}})),
              HasSubstr("byteorder: is 'big'"));
  EXPECT_EQ(Problem(StoredZip({{"a/data.pkl", pickle}, {"a/byteorder", "little"}})), "");
}

TEST(TorchFile, RefusesDamageThatTheZipCanShow) {
  PickleWriter pickle;
  pickle.Tensor("FloatStorage", 0, 1, 0, {1}, {1});
  std::string file = TorchSave(pickle.Finish(), {"\x01\x02\x03\x04"});
  ASSERT_EQ(Problem(file), "");
  file[file.find("\x01\x02\x03\x04")] = '\x05';
  EXPECT_THAT(Problem(file), HasSubstr("head.pt: archive/data/0: is damaged: CRC error"));
}

TEST(TorchFile, EveryCutIsRefused) {
  PickleWriter pickle;
  pickle.Tensor("FloatStorage", 0, 1, 0, {1}, {1});
  const std::string file = TorchSave(pickle.Finish(), {std::string(4, '\0')});
  for (size_t size = 0; size < file.size(); ++size) {
    EXPECT_NE(Problem(file.substr(0, size)), "") << size;
  }
}

TEST(TorchFile, AMissingFileIsAModelError) {
  const TempFolder folder;
  try {
    ReadTorchFile(folder.path() / "head.pt");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kModel);
  }
}

}  // namespace
}  // namespace assay::formats

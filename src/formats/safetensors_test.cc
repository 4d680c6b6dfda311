#include "formats/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "assay/error.h"
#include "testing/safetensors_writer.h"
#include "testing/temp_folder.h"

namespace assay::formats {
namespace {

using ::assay::testing::SafetensorsWriter;
using ::assay::testing::TempFolder;
using ::assay::testing::WithHeader;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

// The refusal of one file's content, or "".
std::string Problem(std::string_view content) {
  const TempFolder folder;
  try {
    const SafetensorsFile file(folder.Write("w.safetensors", content));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kModel);
    return error.what();
  }
  return "";
}

std::string ProblemOfHeader(std::string_view header, size_t data_bytes = 4) {
  return Problem(WithHeader(header, std::string(data_bytes, '\0')));
}

TEST(Safetensors, ReadsTensorsAndMetadata) {
  const TempFolder folder;
  const SafetensorsFile file(
      folder.Write("w.safetensors", SafetensorsWriter()
                                        .Metadata("format", "pt")
                                        .AddF32("z", {2}, std::vector<float>{1.5f, -2})
                                        .AddBf16("a.b", {1, 2}, std::vector<float>{3, 0.25f})
                                        .Add("half", "F16", {1}, std::string("\x00\x3e", 2))
                                        .Bytes()));
  EXPECT_EQ(file.name(), "w.safetensors");
  EXPECT_THAT(file.metadata(), ElementsAre(Pair("format", "pt")));
  ASSERT_EQ(file.tensors().size(), 3u);
  EXPECT_EQ(file.tensors()[0].name, "a.b");
  EXPECT_EQ(file.tensors()[2].name, "z");

  const Tensor* b = file.Find("a.b");
  ASSERT_NE(b, nullptr);
  EXPECT_EQ(b->dtype, Dtype::kBf16);
  EXPECT_THAT(b->shape, ElementsAre(1, 2));
  EXPECT_EQ(b->bytes.size(), 4u);
  std::vector<float> values(2);
  WidenTo(*b, 0, values);
  EXPECT_THAT(values, ElementsAre(3, 0.25f));
  WidenTo(*file.Find("z"), 0, values);
  EXPECT_THAT(values, ElementsAre(1.5f, -2));
  WidenTo(*file.Find("z"), 1, std::span(values).first(1));
  EXPECT_EQ(values[0], -2);
  WidenTo(*file.Find("half"), 0, std::span(values).first(1));
  EXPECT_EQ(values[0], 1.5f);
  EXPECT_EQ(file.Find("a"), nullptr);
  EXPECT_EQ(file.Find("zz"), nullptr);
}

TEST(Safetensors, AcceptsWhatTheReferenceAccepts) {
  EXPECT_EQ(ProblemOfHeader("{}", 0), "");
  EXPECT_EQ(ProblemOfHeader(R"({"__metadata__":null})", 0), "");
  // A scalar; an empty tensor beside it; entries in any order and out of offset order.
  EXPECT_EQ(ProblemOfHeader(R"({"b":{"data_offsets":[2,4],"shape":[2],"dtype":"U8"},)"
                            R"("e":{"dtype":"F32","shape":[0,3],"data_offsets":[2,2]},)"
                            R"("a":{"dtype":"F16","shape":[],"data_offsets":[0,2]}})"),
            "");
  EXPECT_EQ(ProblemOfHeader(R"({"f":{"dtype":"F4","shape":[8],"data_offsets":[0,4]}})"), "");
}

TEST(Safetensors, RefusesMoreThanTheReferenceWhereItWouldGuess) {
  const std::string entry = R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})";
  EXPECT_EQ(ProblemOfHeader(R"({"w":)" + entry + "}"), "");
  EXPECT_THAT(ProblemOfHeader(R"( {"w":)" + entry + "}"), HasSubstr("starts with white space"));
  EXPECT_THAT(ProblemOfHeader(R"({"w":)" + entry + "}" + std::string(1, '\0') + "{"),
              HasSubstr("zero byte"));
  EXPECT_THAT(ProblemOfHeader(R"({"w":)" + entry + "}]"), HasSubstr("not valid JSON"));
  EXPECT_THAT(ProblemOfHeader(R"({"w":{"dtype":"F32","dtype":"F32","shape":[1]}})"),
              HasSubstr("w.safetensors: w: has 'dtype' twice"));
  EXPECT_THAT(ProblemOfHeader(R"({"w":{"strides":[1]}})"), HasSubstr("unknown key 'strides'"));
  EXPECT_THAT(ProblemOfHeader(R"({"__metadata__":{"a":"1","a":"2"}})"), HasSubstr("'a' twice"));
  EXPECT_THAT(ProblemOfHeader(R"({"__metadata__":{"a":{}}})"),
              HasSubstr("an object, not a string"));
}

TEST(Safetensors, NamesTheTensorAndTheNumberThatIsWrong) {
  EXPECT_THAT(ProblemOfHeader(R"({"w":{"dtype":"F32","shape":[-0],"data_offsets":[0,4]}})"),
              HasSubstr("w.safetensors: w: shape holds a negative number"));
  EXPECT_THAT(ProblemOfHeader(
                  R"({"w":{"dtype":"F32","shape":[18446744073709551616],"data_offsets":[0,4]}})"),
              HasSubstr("shape holds a number past 64 bits"));
  EXPECT_THAT(
      ProblemOfHeader(
          R"({"w":{"dtype":"F32","shape":[9223372036854775808,4,0],"data_offsets":[0,4]}})"),
      HasSubstr("overflows"));
  EXPECT_THAT(ProblemOfHeader(R"({"w":{"dtype":"F6_E2M3","shape":[5],"data_offsets":[0,4]}})"),
              HasSubstr("does not fill whole bytes"));
  EXPECT_THAT(ProblemOfHeader(R"({"w":{"dtype":"F32","shape":1,"data_offsets":[0,4]}})"),
              HasSubstr("shape is a number (an array of whole numbers)"));
  std::string dimensions = "1";
  for (size_t i = 0; i < kMaxDimensions; ++i) dimensions += ",1";
  EXPECT_THAT(
      ProblemOfHeader(R"({"w":{"dtype":"F32","data_offsets":[0,4],"shape":[)" + dimensions + "]}}"),
      HasSubstr("more than 32 dimensions"));
}

TEST(Safetensors, CountsEveryMissingByteOfACutDownload) {
  std::string content =
      SafetensorsWriter().AddZeros("a", {4}).AddZeros("b", {4}).AddZeros("c", {4}).Bytes();
  content.resize(content.size() - 10);
  EXPECT_THAT(Problem(content),
              HasSubstr("c: its data ends at data byte 24, but the file holds 14: 10 missing"));
}

TEST(Safetensors, CallsAForeignFileWhatItIs) {
  EXPECT_THAT(Problem("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n"),
              HasSubstr("is a Git LFS pointer"));
  EXPECT_THAT(Problem("\n<!DOCTYPE html><html></html>"), HasSubstr("is a web page"));
  EXPECT_THAT(Problem("<htm"), HasSubstr("too few"));
}

TEST(Safetensors, ReadsTensorsAtAnyAddress) {
  // One U8 first, so that the F32 starts at an odd byte.
  const TempFolder folder;
  const SafetensorsFile file(
      folder.Write("w.safetensors", SafetensorsWriter()
                                        .Add("a", "U8", {1}, "x")
                                        .AddF32("b", {1}, std::vector<float>{7})
                                        .Bytes()));
  EXPECT_FALSE(IsAligned(*file.Find("b"), 4));
  EXPECT_TRUE(IsAligned(*file.Find("a"), 1));
  float value = 0;
  WidenTo(*file.Find("b"), 0, {&value, 1});
  EXPECT_EQ(value, 7);
}

TEST(Dtype, NamesReadBackAndUnknownOnesDoNot) {
  for (int i = 0; i <= static_cast<int>(Dtype::kF8E5M2Fnuz); ++i) {
    const auto dtype = static_cast<Dtype>(i);
    EXPECT_EQ(DtypeFromName(DtypeName(dtype)), dtype);
  }
  EXPECT_EQ(DtypeFromName("bf16"), std::nullopt);
  EXPECT_EQ(DtypeFromName(""), std::nullopt);
  EXPECT_EQ(DtypeBits(Dtype::kBf16), 16u);
  EXPECT_EQ(DtypeBits(Dtype::kF4), 4u);
}

}  // namespace
}  // namespace assay::formats

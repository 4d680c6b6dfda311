// Any bytes as model.safetensors.index.json, beside two sound shards.
#include "formats/checkpoint.h"
#include "fuzz/fuzz.h"
#include "fuzz/tensors.h"
#include "testing/safetensors_writer.h"
#include "testing/temp_folder.h"

namespace assay::fuzz {
namespace {

class Folder {
 public:
  Folder() {
    const float values[] = {1, 2, 3, 4};
    // "b" lies in both shards: refused where the index makes both of them part of the model.
    folder_.Write(
        "model-00001-of-00002.safetensors",
        testing::SafetensorsWriter().AddF32("a", {2, 2}, values).AddF32("b", {4}, values).Bytes());
    folder_.Write("model-00002-of-00002.safetensors", testing::SafetensorsWriter()
                                                          .AddBf16("b", {4}, values)
                                                          .AddBf16("c", {1, 4}, values)
                                                          .AddZeros("d", {0, 3})
                                                          .Bytes());
  }
  const std::filesystem::path& With(std::string_view index) const {
    folder_.Write("model.safetensors.index.json", index);
    return folder_.path();
  }

 private:
  testing::TempFolder folder_;
};

void CheckAccepted(const formats::Checkpoint& checkpoint) {
  FUZZ_CHECK(!checkpoint.tensors().empty());
  for (const formats::Tensor* tensor : checkpoint.tensors()) {
    FUZZ_CHECK(checkpoint.Find(tensor->name) == tensor);
    FUZZ_CHECK(tensor->name != "b" || checkpoint.files().size() == 1);
    ReadWhole(*tensor);
  }
  FUZZ_CHECK(!checkpoint.files().empty() && checkpoint.files().size() <= 2);
  for (const formats::CheckpointFile& file : checkpoint.files()) {
    FUZZ_CHECK(file.path.filename() == file.name);
    FUZZ_CHECK(file.name == "model-00001-of-00002.safetensors" ||
               file.name == "model-00002-of-00002.safetensors");
  }
}

}  // namespace
}  // namespace assay::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace assay;
  const fuzz::CpuLimit limit;
  static const fuzz::Folder folder;
  const std::filesystem::path& path = folder.With(fuzz::Text(data, size));
  fuzz::Accepts(ErrorKind::kModel, [&] { fuzz::CheckAccepted(formats::Checkpoint::Open(path)); });
  return 0;
}

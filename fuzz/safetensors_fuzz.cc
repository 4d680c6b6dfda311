// Any bytes as a safetensors file.
#include "formats/safetensors.h"

#include "fuzz/fuzz.h"
#include "fuzz/tensors.h"

namespace assay::fuzz {
namespace {

using formats::SafetensorsFile;
using formats::Tensor;

// The tensors are found by name and tile the data without a hole.
void CheckAccepted(const SafetensorsFile& file, size_t size) {
  size_t bytes = 0;
  const std::string* before = nullptr;
  for (const Tensor& tensor : file.tensors()) {
    FUZZ_CHECK(file.Find(tensor.name) == &tensor);
    FUZZ_CHECK(before == nullptr || *before < tensor.name);
    before = &tensor.name;
    ReadWhole(tensor);
    bytes += tensor.bytes.size();
  }
  FUZZ_CHECK(bytes <= size);
  FUZZ_CHECK(file.file_bytes().size() == size);
}

}  // namespace
}  // namespace assay::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace assay;
  const fuzz::CpuLimit limit;
  static const fuzz::MemoryFile file;
  file.Write(data, size);
  fuzz::Accepts(ErrorKind::kModel,
                [&] { fuzz::CheckAccepted(formats::SafetensorsFile(file.path()), size); });
  return 0;
}

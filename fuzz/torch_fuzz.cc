// Any bytes as head.pt; and, because a zip's CRC-32 lets no change of the pickle through, any bytes
// as the data.pkl of a sound zip. Whatever they say, nothing may be run and nothing may be built
// past the caps.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "families/kev/head_file.h"
#include "formats/torch_file.h"
#include "fuzz/fuzz.h"
#include "testing/torch_writer.h"

namespace assay::fuzz {
namespace {

using families::kev::HeadFile;
using formats::PickleKind;
using formats::PickleValue;
using formats::TorchFile;
using formats::TorchTensor;

void CheckValue(const TorchFile& file, const PickleValue& value, size_t depth) {
  FUZZ_CHECK(depth <= formats::kMaxPickleDepth);
  FUZZ_CHECK(value.kind != PickleKind::kTensor || value.tensor < file.tensors.size());
  FUZZ_CHECK(value.kind != PickleKind::kDict || value.items.size() % 2 == 0);
  for (const PickleValue& item : value.items) CheckValue(file, item, depth + 1);
}

void CheckFile(const TorchFile& file) {
  CheckValue(file, file.root, 0);
  size_t elements = 0;
  for (const TorchTensor& tensor : file.tensors) {
    size_t count = 1;
    for (const uint64_t size : tensor.shape) count *= size;
    FUZZ_CHECK(count == tensor.values.size());
    elements += count;
  }
  FUZZ_CHECK(elements <= formats::kMaxTorchElements);
}

void CheckHead(const HeadFile& head) {
  FUZZ_CHECK(!head.base.empty() && head.hidden > 0 && head.head_dim > 0);
  FUZZ_CHECK(std::isfinite(head.temperature) && head.temperature > 0);
  FUZZ_CHECK(head.q_weight.size() == head.head_dim * head.hidden);
  FUZZ_CHECK(head.k_weight.size() == head.q_weight.size());
  FUZZ_CHECK(head.q_bias.size() == head.head_dim && head.k_bias.size() == head.head_dim);
  for (const auto* values : {&head.q_weight, &head.q_bias, &head.k_weight, &head.k_bias}) {
    FUZZ_CHECK(
        std::all_of(values->begin(), values->end(), [](float v) { return std::isfinite(v); }));
  }
}

void Try(std::string_view content) {
  const auto bytes = std::as_bytes(std::span(content));
  Accepts(ErrorKind::kModel, [&] { CheckFile(formats::ParseTorchFile(bytes, "head.pt")); });
  Accepts(ErrorKind::kModel, [&] { CheckHead(families::kev::ParseHead(bytes, "head.pt")); });
}

}  // namespace
}  // namespace assay::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace assay;
  const fuzz::CpuLimit limit;
  const std::string_view text = fuzz::Text(data, size);
  fuzz::Try(text);
  // Two storages: the sizes that the seeds ask for, of all types.
  const std::vector<std::string> storages = {std::string(24, '\x3f'), std::string(8, '\x40')};
  if (!text.starts_with("PK")) fuzz::Try(testing::TorchSave(std::string(text), storages));
  return 0;
}

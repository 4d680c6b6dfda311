// Any bytes as config.json of an LFM2-VL checkpoint, and the table of tensors that it asks for.
#include "families/d1/checkpoint.h"
#include "formats/lfm2_config.h"
#include "formats/strict_json.h"
#include "fuzz/fuzz.h"

namespace assay::fuzz {
namespace {

// What the decoder takes for granted.
void CheckAccepted(const formats::Lfm2VlConfig& config) {
  const formats::Lfm2TextConfig& text = config.text;
  FUZZ_CHECK(text.hidden > 0 && text.mlp > 0 && text.vocab > 0 && text.max_positions > 0);
  FUZZ_CHECK(!text.layers.empty() && text.layers.size() <= 1024);
  FUZZ_CHECK(text.heads > 0 && text.kv_heads > 0 && text.heads % text.kv_heads == 0);
  FUZZ_CHECK(text.head_dim > 0 && text.head_dim % 2 == 0);
  FUZZ_CHECK(text.norm_eps > 0 && text.norm_eps < 1 && text.rope_theta > 0);
  FUZZ_CHECK(text.conv_taps >= 2);
  FUZZ_CHECK(config.image_token_id >= 0 && static_cast<size_t>(config.image_token_id) < text.vocab);
  FUZZ_CHECK(config.vision.heads * config.vision.head_dim == config.vision.hidden);
  // The sizes of all tensors together stay far from 64 bits.
  for (const formats::TensorRow& row : families::d1::TensorsOf(config).rows) {
    double elements = 1;
    for (const uint64_t dimension : row.shape) elements *= static_cast<double>(dimension);
    FUZZ_CHECK(!row.shape.empty() && elements > 0 && elements < 0x1p56);
  }
}

}  // namespace
}  // namespace assay::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace assay;
  const fuzz::CpuLimit limit;
  fuzz::Accepts(ErrorKind::kModel, [&] {
    const json::Value root = formats::ParseStrictJson(fuzz::Text(data, size), "config.json");
    // A file whose root is something else never comes this far (ReadConfigFile).
    if (root.is_object()) fuzz::CheckAccepted(formats::ParseLfm2VlConfig(root));
  });
  return 0;
}

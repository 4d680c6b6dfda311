// Any bytes as a peft adapter: adapter_config.json, and behind a zero byte
// adapter_model.safetensors (without one, a sound file); bound to a base of three linear layers.
#include "formats/peft.h"

#include <array>
#include <cmath>

#include "formats/strict_json.h"
#include "fuzz/fuzz.h"
#include "fuzz/tensors.h"
#include "testing/safetensors_writer.h"

namespace assay::fuzz {
namespace {

using formats::LinearModule;
using formats::LoraModule;
using formats::PeftAdapter;

const std::array<LinearModule, 3> kBase = {LinearModule{"layers.0.self_attn.q_proj", 4, 4},
                                           LinearModule{"layers.0.mlp.up_proj", 4, 4},
                                           LinearModule{"layers.1.self_attn.q_proj", 4, 4}};

std::string SoundWeights() {
  testing::SafetensorsWriter writer;
  for (const LinearModule& linear : kBase) {
    writer.AddZeros("base_model.model." + linear.name + ".lora_A.weight", {2, linear.inputs});
    writer.AddZeros("base_model.model." + linear.name + ".lora_B.weight", {linear.outputs, 2});
  }
  return writer.Bytes();
}

void CheckAccepted(const PeftAdapter& adapter) {
  FUZZ_CHECK(!adapter.modules().empty());
  const std::string* before = nullptr;
  for (const LoraModule& module : adapter.modules()) {
    FUZZ_CHECK(before == nullptr || *before < module.name);
    before = &module.name;
    FUZZ_CHECK(module.source.ends_with(module.name));
    FUZZ_CHECK(std::isfinite(module.scale) && module.scale > 0 && module.rank > 0);
    FUZZ_CHECK(module.a->shape.size() == 2 && module.a->shape[0] == module.rank);
    FUZZ_CHECK(module.b->shape.size() == 2 && module.b->shape[1] == module.rank);
    ReadWhole(*module.a);
    ReadWhole(*module.b);
  }
  Accepts(ErrorKind::kModel, [&] {
    size_t bound = 0;
    const std::vector<const LoraModule*> modules = formats::BindLora(adapter, kBase);
    FUZZ_CHECK(modules.size() == kBase.size());
    for (size_t i = 0; i < modules.size(); ++i) {
      if (modules[i] == nullptr) continue;
      ++bound;
      FUZZ_CHECK(modules[i]->name == kBase[i].name);
      FUZZ_CHECK(modules[i]->b->shape[0] == 4 && modules[i]->a->shape[1] == 4);
    }
    FUZZ_CHECK(bound == adapter.modules().size());
  });
}

}  // namespace
}  // namespace assay::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace assay;
  const fuzz::CpuLimit limit;
  static const fuzz::MemoryFile file;
  static const std::string sound = fuzz::SoundWeights();
  const std::string_view text = fuzz::Text(data, size);
  const size_t zero = text.find('\0');
  const std::string_view weights = zero == text.npos ? sound : text.substr(zero + 1);
  file.Write(reinterpret_cast<const uint8_t*>(weights.data()), weights.size());
  fuzz::Accepts(ErrorKind::kModel, [&] {
    const json::Value root = formats::ParseStrictJson(text.substr(0, zero), "adapter_config.json");
    // A file whose root is something else never comes this far (ReadConfigFile).
    if (!root.is_object()) return;
    fuzz::CheckAccepted({formats::ParsePeftConfig(root), formats::SafetensorsFile(file.path())});
  });
  return 0;
}

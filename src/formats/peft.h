// A LoRA adapter of peft: a folder with adapter_config.json and adapter_model.safetensors (spec
// kev 1.5). For each adapted linear layer W' = W + scale * (B A), with A [rank, inputs] and B
// [outputs, rank].
//
// Rules where peft loads in silence (all refusals are Error(kModel)):
//  * Every tensor is NAME.lora_A.weight or NAME.lora_B.weight, with or without "base_model.model."
//  in
//    front and with or without the adapter's name "default" before ".weight"; any other is refused
//    by name, and so is half a pair, a module that comes twice and a rank that the config does not
//    say.
//  * All modules have one prefix before "layers." and may have any that a text model's wrapping
//  gives.
//  * Binding refuses an adapter that matches nothing, or only in part, or leaves out a module that
//  its
//    target_modules name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "formats/peft_config.h"
#include "formats/safetensors.h"

namespace assay::formats {

// One adapted linear layer. The tensors are borrowed from the adapter's mapped file: F32, F16 or
// BF16.
struct LoraModule {
  std::string name;           // without the prefix: "layers.3.self_attn.q_proj"
  std::string source;         // as in the file: "base_model.model.layers.3.self_attn.q_proj"
  const Tensor* a = nullptr;  // [rank, inputs]
  const Tensor* b = nullptr;  // [outputs, rank]
  uint64_t rank = 0;
  // peft multiplies B A by it after the product, rounded to fp32 first when the product is fp32.
  double scale = 0;
};

// A linear layer of the base model, named without a prefix, weight [outputs, inputs].
struct LinearModule {
  std::string name;
  uint64_t outputs = 0;
  uint64_t inputs = 0;
};

// An immutable adapter. Movable; the tensors stay where they are when it is moved.
class PeftAdapter {
 public:
  static PeftAdapter Open(const std::filesystem::path& folder);
  // The same from its two files.
  PeftAdapter(PeftConfig config, SafetensorsFile file);

  // Sorted by name.
  const std::vector<LoraModule>& modules() const { return modules_; }
  const PeftConfig& config() const { return config_; }
  // "adapter_model.safetensors".
  const std::string& name() const { return file_.name(); }

 private:
  PeftConfig config_;
  SafetensorsFile file_;
  std::vector<LoraModule> modules_;
};

// One entry for each of `linears`: its module, borrowed from the adapter, or null where the adapter
// leaves it alone. Throws Error(kModel, adapter.name()) naming what does not match: modules without
// a linear layer, shapes that differ from it, targets without a module. `linears` have different
// names.
std::vector<const LoraModule*> BindLora(const PeftAdapter& adapter,
                                        std::span<const LinearModule> linears);

}  // namespace assay::formats

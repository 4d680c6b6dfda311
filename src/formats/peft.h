// A peft LoRA adapter: adapter_config.json and adapter_model.safetensors (spec kev 1.5). Rules of
// peft 0.21.2 for ranks and scales; where peft lets an adapter pass that has no effect or only part
// of one, it is refused here. All refusals are Error(kModel).
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "formats/checkpoint.h"

namespace assay::formats {

// y += scale * B (A x) beside one linear layer. `a` is [rank, inputs], `b` [outputs, rank].
struct LoraModule {
  std::string name;  // as the adapter calls the layer: "model.layers.3.self_attn.q_proj"
  const Tensor* a = nullptr;
  const Tensor* b = nullptr;
  double scale = 0;
};

// A linear layer of the base, by the text model's own name: "layers.3.self_attn.q_proj".
struct LinearModule {
  std::string name;
  uint64_t outputs = 0;
  uint64_t inputs = 0;
};

// Immutable; keeps its file mapped, which the modules borrow from.
class PeftAdapter {
 public:
  // Refused by name: other kinds than LoRA, and what changes more than low-rank products (DoRA,
  // biases, modules or tokens that are saved whole, ...). A rank that is not the config's, an A
  // without its B and the other way round are refused too.
  static PeftAdapter Open(const std::filesystem::path& folder);

  // Sorted by name.
  const std::vector<LoraModule>& modules() const { return modules_; }
  const Checkpoint& checkpoint() const { return checkpoint_; }
  size_t largest_rank() const;

  // Which module of `base` each of modules() is for. An adapter may have been trained on the whole
  // model or on its text part, so a prefix of either is left out. Refused, naming what did not
  // match: a module that the base has not, other shapes, and a layer of the base that the config
  // targets and the file leaves out.
  std::vector<size_t> Match(std::span<const LinearModule> base) const;

 private:
  explicit PeftAdapter(Checkpoint checkpoint) : checkpoint_(std::move(checkpoint)) {}

  Checkpoint checkpoint_;
  std::vector<LoraModule> modules_;
  std::vector<std::string> targets_;  // last parts of names; empty when the config says otherwise
};

}  // namespace assay::formats

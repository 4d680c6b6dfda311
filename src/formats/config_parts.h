// Parts of config.json that every family spells the same few ways. Rules that are ours, because
// readers differ (all refusals are Error(kModel)):
//  * Two places that give one value and disagree are refused, naming both: theta at the top and in
//    its block, dtype and torch_dtype, the tie keys at the top and in text_config.
//  * No value that changes the numbers is invented: a missing theta is refused.
//  * The config decides whether the head is tied, never the presence of a tensor.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/checkpoint.h"
#include "formats/config.h"
#include "formats/dtype.h"

namespace assay::formats {

struct Rope {
  double theta = 0;
  double partial_rotary_factor = 1;  // share of a head's dimensions that is rotated
};

// Theta in `rope_theta` (older), in `rope_parameters`, in `rope_scaling` (older), or in a block of
// rope_parameters per layer kind, where the block called `layer_kind` is taken. Refused: no theta,
// a rope type other than "default", no block for the kind.
Rope ReadRope(const ConfigReader& object, std::string_view layer_kind);

// `dtype` or `torch_dtype`; nothing when absent. Refused: anything but bfloat16, float16, float32.
// For display: a tensor's own dtype decides how it is read.
std::optional<Dtype> ReadWeightsDtype(const ConfigReader& object);

// layer_types: one index into `kinds` for each of the `layers`; nothing when absent. Refused:
// another count, a kind that is not in `kinds`.
std::optional<std::vector<size_t>> ReadLayerTypes(const ConfigReader& object, size_t layers,
                                                  const std::vector<std::string_view>& kinds);

// tie_word_embeddings or tie_embedding, at the top and in text_config. All absent: `class_default`,
// the makers' default of the family, with a note.
bool ReadTied(const ConfigReader& root, bool class_default);

// The tensor whose rows score the vocabulary: `head` when not tied, `embedding` when tied. Refused:
// not tied and no `head`; tied and a `head` with other bytes than the embedding. Tied and an equal
// copy: the embedding, and a note into `notes` that the copy is not used.
std::string_view HeadTensor(bool tied, const Checkpoint& checkpoint, std::string_view embedding,
                            std::string_view head, std::vector<std::string>& notes);

}  // namespace assay::formats

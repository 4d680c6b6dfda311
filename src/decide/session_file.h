// A prepared state on disk. It goes with one model and one arithmetic only: continued by another,
// its answers would not be those of that model.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "decide/run.h"

namespace assay::decide {

// What a saved state belongs to.
struct SessionOwner {
  std::string model;                    // sha256 over family, shape and the hashes of its files
  std::vector<std::string> arithmetic;  // the kernels that ran: CPU level, compute and delta form
};
// Reads the model's files whole the first time; their hashes are remembered.
SessionOwner OwnerOf(const families::Family& family);

// Writes under another name and renames: a file that is there is whole. A file of that name is
// replaced. Throws Error(kFile).
void SaveTrunk(const PreparedTrunk& trunk, const SessionOwner& owner,
               const std::filesystem::path& path);

// Throws Error(kFile, FILE): not such a file, cut, or its bytes are not those that were written;
// another model's, or made by another arithmetic. `shape` is the decoder's; sizes are compared with
// it and with the file before memory is allocated.
PreparedTrunk LoadTrunk(const std::filesystem::path& path, const SessionOwner& owner,
                        const nn::StateShape& shape, size_t vocabulary);

}  // namespace assay::decide

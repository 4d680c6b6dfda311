// The tiny oracle checkpoint of tests/data, and edits of a copy of it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

namespace assay::tests {

std::filesystem::path TinyFolder();
void CopyTiny(const std::filesystem::path& folder);

// Pads the header of a safetensors file, so that its data start `shift` bytes later.
void ShiftWeights(const std::filesystem::path& file, size_t shift);
// Rewrites a bf16 safetensors file as F32: the same values.
void WidenWeights(const std::filesystem::path& file);
// Changes the bf16 values of one tensor in place; `rows` is its first dimension.
void EditTensor(const std::filesystem::path& file, const std::string& name,
                const std::function<void(std::span<uint16_t> values, size_t rows)>& edit);
// Replaces text in a file; it must be there.
void EditText(const std::filesystem::path& file, const std::string& from, const std::string& to);

}  // namespace assay::tests

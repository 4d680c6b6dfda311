#include "tiny_checkpoint.h"

#include <cstring>
#include <fstream>
#include <vector>

#include "base/bf16.h"
#include "base/check.h"
#include "base/file.h"
#include "base/json.h"

namespace assay::tests {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 30;

std::string Read(const std::filesystem::path& file) {
  return ReadFile(file, ErrorKind::kFile, kMaxBytes);
}

void Write(const std::filesystem::path& file, const std::string& content) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << content;
}

struct Parts {
  json::Value header;
  std::string data;
};

Parts Split(const std::string& file) {
  uint64_t length = 0;
  std::memcpy(&length, file.data(), sizeof length);
  return {json::Parse(file.substr(8, length), ErrorKind::kFile, "header"), file.substr(8 + length)};
}

std::string Join(const std::string& header, const std::string& data) {
  const uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + header + data;
}

}  // namespace

std::filesystem::path TinyFolder() {
  return std::filesystem::path(ASSAY_SOURCE_DIR) / "tests/data/d1_tiny";
}

void CopyTiny(const std::filesystem::path& folder) {
  std::filesystem::copy(TinyFolder(), folder, std::filesystem::copy_options::recursive);
}

void ShiftWeights(const std::filesystem::path& file, size_t shift) {
  const Parts parts = Split(Read(file));
  Write(file, Join(json::PrintCompact(parts.header) + std::string(shift, ' '), parts.data));
}

void WidenWeights(const std::filesystem::path& file) {
  const Parts parts = Split(Read(file));
  json::Value header = parts.header;
  for (auto& [name, entry] : header.members()) {
    if (name == "__metadata__") continue;
    for (auto& [key, value] : entry.members()) {
      if (key == "dtype") value = json::Value::String("F32");
      if (key != "data_offsets") continue;
      for (json::Value& offset : value.items()) offset = json::Value::Integer(2 * *offset.int64());
    }
  }
  std::string data(parts.data.size() * 2, '\0');
  for (size_t i = 0; i * 2 < parts.data.size(); ++i) {
    Bf16 half;
    std::memcpy(&half, parts.data.data() + i * 2, 2);
    const float wide = Widen(half);
    std::memcpy(data.data() + i * 4, &wide, 4);
  }
  Write(file, Join(json::PrintCompact(header), data));
}

void EditTensor(const std::filesystem::path& file, const std::string& name,
                const std::function<void(std::span<uint16_t> values, size_t rows)>& edit) {
  const std::string before = Read(file);
  Parts parts = Split(before);
  const json::Value* entry = parts.header.Find(name);
  ASSAY_CHECK(entry != nullptr);
  const auto& offsets = entry->Find("data_offsets")->items();
  const auto begin = static_cast<size_t>(*offsets[0].int64());
  const auto end = static_cast<size_t>(*offsets[1].int64());
  std::vector<uint16_t> values((end - begin) / 2);
  std::memcpy(values.data(), parts.data.data() + begin, end - begin);
  edit(values, static_cast<size_t>(*entry->Find("shape")->items()[0].int64()));
  std::memcpy(parts.data.data() + begin, values.data(), end - begin);
  Write(file, before.substr(0, before.size() - parts.data.size()) + parts.data);
}

void EditText(const std::filesystem::path& file, const std::string& from, const std::string& to) {
  std::string text = Read(file);
  const size_t at = text.find(from);
  ASSAY_CHECK(at != std::string::npos);
  Write(file, text.replace(at, from.size(), to));
}

}  // namespace assay::tests

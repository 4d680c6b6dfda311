#include "testing/torch_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace assay::testing {
namespace {

std::string LittleEndian(uint64_t value, size_t bytes) {
  std::string out;
  for (size_t i = 0; i < bytes; ++i) {
    out += static_cast<char>(i < sizeof value ? value >> (8 * i) : 0);
  }
  return out;
}

uint32_t Crc32(std::string_view bytes) {
  uint32_t crc = 0xFFFFFFFFu;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1u) != 0 ? 0xEDB88320u : 0u);
  }
  return ~crc;
}

}  // namespace

PickleWriter& PickleWriter::None() {
  body_ += 'N';
  return *this;
}

PickleWriter& PickleWriter::Bool(bool value) {
  body_ += value ? '\x88' : '\x89';
  return *this;
}

PickleWriter& PickleWriter::Int(int64_t value) {
  // LONG1: one form for every size.
  body_ += "\x8a\x08" + LittleEndian(static_cast<uint64_t>(value), 8);
  return *this;
}

PickleWriter& PickleWriter::Float(double value) {
  std::string bytes = LittleEndian(std::bit_cast<uint64_t>(value), 8);
  std::reverse(bytes.begin(), bytes.end());
  body_ += 'G' + bytes;
  return *this;
}

PickleWriter& PickleWriter::Text(std::string_view text) {
  body_ += 'X' + LittleEndian(text.size(), 4) + std::string(text);
  return *this;
}

PickleWriter& PickleWriter::Global(std::string_view module, std::string_view name) {
  body_ += fmt::format("c{}\n{}\n", module, name);
  return *this;
}

PickleWriter& PickleWriter::BeginTuple() {
  body_ += '(';
  return *this;
}

PickleWriter& PickleWriter::EndTuple() {
  body_ += 't';
  return *this;
}

PickleWriter& PickleWriter::BeginList() {
  body_ += "](";
  return *this;
}

PickleWriter& PickleWriter::EndList() {
  body_ += 'e';
  return *this;
}

PickleWriter& PickleWriter::BeginDict() {
  body_ += "}(";
  return *this;
}

PickleWriter& PickleWriter::EndDict() {
  body_ += 'u';
  return *this;
}

PickleWriter& PickleWriter::Sizes(const std::vector<uint64_t>& sizes) {
  BeginTuple();
  for (const uint64_t size : sizes) Int(static_cast<int64_t>(size));
  return EndTuple();
}

PickleWriter& PickleWriter::Tensor(std::string_view type, int key, uint64_t elements,
                                   uint64_t offset, const std::vector<uint64_t>& shape,
                                   const std::vector<uint64_t>& strides) {
  Global("torch._utils", "_rebuild_tensor_v2").BeginTuple();
  BeginTuple().Text("storage").Global("torch", type).Text(fmt::format("{}", key)).Text("cpu");
  Int(static_cast<int64_t>(elements)).EndTuple();
  body_ += 'Q';
  Int(static_cast<int64_t>(offset)).Sizes(shape).Sizes(strides).Bool(false);
  Global("collections", "OrderedDict");
  body_ += ")R";
  EndTuple();
  body_ += 'R';
  return *this;
}

std::string PickleWriter::Finish() const { return "\x80\x02" + body_ + "."; }

std::string RawF32(std::span<const float> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

std::string StoredZip(const std::vector<std::pair<std::string, std::string>>& members) {
  std::string file;
  std::string directory;
  for (const auto& [name, content] : members) {
    // From "version needed" to the length of the extra field, as both headers have them.
    const std::string common = LittleEndian(20, 2) + LittleEndian(0, 8) +
                               LittleEndian(Crc32(content), 4) + LittleEndian(content.size(), 4) +
                               LittleEndian(content.size(), 4) + LittleEndian(name.size(), 2) +
                               LittleEndian(0, 2);
    directory.append("PK\x01\x02").append(LittleEndian(20, 2)).append(common);
    directory.append(LittleEndian(0, 10)).append(LittleEndian(file.size(), 4)).append(name);
    file.append("PK\x03\x04").append(common).append(name).append(content);
  }
  return file + directory + "PK\x05\x06" + LittleEndian(0, 4) + LittleEndian(members.size(), 2) +
         LittleEndian(members.size(), 2) + LittleEndian(directory.size(), 4) +
         LittleEndian(file.size(), 4) + LittleEndian(0, 2);
}

std::string TorchSave(const std::string& pickle, const std::vector<std::string>& storages) {
  std::vector<std::pair<std::string, std::string>> members = {{"archive/data.pkl", pickle},
                                                              {"archive/byteorder", "little"}};
  for (size_t i = 0; i < storages.size(); ++i) {
    members.emplace_back(fmt::format("archive/data/{}", i), storages[i]);
  }
  members.emplace_back("archive/version", "3\n");
  return StoredZip(members);
}

}  // namespace assay::testing

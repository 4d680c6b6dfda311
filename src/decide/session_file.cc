#include "decide/session_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/file.h"
#include "base/json.h"
#include "base/sha256.h"
#include "kernels/kernel_names.h"

namespace assay::decide {

namespace fs = std::filesystem;
using json::Value;

namespace {

// The file: this line, a line of JSON, then ids (int32) and the state's floats, little-endian.
constexpr std::string_view kMagic = "assay-state/1\n";
constexpr size_t kMostHeaderBytes = size_t{1} << 16;

Value Number(size_t value) { return Value::Integer(static_cast<int64_t>(value)); }

Value Strings(const std::vector<std::string>& texts) {
  Value out = Value::Array();
  for (const std::string& text : texts) out.items().push_back(Value::String(text));
  return out;
}

// Ids and the pieces of the state, one after the other.
std::vector<std::span<const std::byte>> PayloadOf(const PreparedTrunk& trunk, nn::State& state) {
  std::vector<std::span<const std::byte>> out = {std::as_bytes(std::span(trunk.ids))};
  for (const std::span<float> piece : state.Pieces()) out.push_back(std::as_bytes(piece));
  return out;
}

[[noreturn]] void Refuse(const fs::path& path, const std::string& problem,
                         const std::string& hint) {
  throw Error(ErrorKind::kFile, path.filename().string(), problem, hint);
}

// The header of a file, checked against its owner.
class Header {
 public:
  Header(const fs::path& path, std::string_view text) : path_(path) {
    if (!text.starts_with(kMagic))
      Refuse(path, "is no prepared state", "a file that --prepare wrote");
    text.remove_prefix(kMagic.size());
    const size_t end = text.substr(0, kMostHeaderBytes).find('\n');
    if (end == text.npos) Refuse(path, "is cut", "a whole file: prepare again");
    root_ = json::Parse(text.substr(0, end), ErrorKind::kFile, path.filename().string());
    size_ = kMagic.size() + end + 1;
  }

  size_t size() const { return size_; }

  void CheckOwner(const SessionOwner& owner) const {
    if (Text("model") != owner.model)
      Refuse(path_, "belongs to another model", "the model that it was prepared with");
    const Value* arithmetic = root_.Find("arithmetic");
    if (arithmetic == nullptr || *arithmetic != Strings(owner.arithmetic)) {
      Refuse(path_, "was prepared with other kernels, whose last bits differ",
             "the same ASSAY_CPU, --compute and --delta: prepare again");
    }
  }

  size_t Count(std::string_view key) const {
    const Value* value = root_.Find(key);
    const std::optional<int64_t> count =
        value != nullptr && value->kind() == json::Kind::kInteger ? value->int64() : std::nullopt;
    if (!count || *count < 0)
      Refuse(path_, fmt::format("has no count of {}", key), "prepare again");
    return static_cast<size_t>(*count);
  }

  std::string Text(std::string_view key) const {
    const Value* value = root_.Find(key);
    if (value == nullptr || !value->is_string())
      Refuse(path_, fmt::format("does not say its {}", key), "prepare again");
    return value->string();
  }

 private:
  const fs::path& path_;
  Value root_;
  size_t size_ = 0;
};

}  // namespace

SessionOwner OwnerOf(const families::Family& family) {
  const families::ModelDescription description = family.Describe(true);
  Value files = Value::Array();
  for (const families::ModelFile& file : description.files)
    files.items().push_back(Value::String(file.sha256));
  const Value identity = Value::Object({{"family", Value::String(description.family)},
                                        {"shape", Value::Object(description.shape)},
                                        {"files", std::move(files)}});
  const nn::Decoder& decoder = family.decoder();
  return {
      Sha256(json::PrintCompact(identity)),
      kernels::KernelNames(decoder.linear_weights(), decoder.compute(), decoder.other_kernels())};
}

void SaveTrunk(const PreparedTrunk& trunk, const SessionOwner& owner, const fs::path& path) {
  nn::State state = trunk.state.Fork();
  const std::vector<std::span<const std::byte>> payload = PayloadOf(trunk, state);
  Sha256Stream hash;
  for (const auto& piece : payload) hash.Add(piece);
  const Value header = Value::Object({{"model", Value::String(owner.model)},
                                      {"arithmetic", Strings(owner.arithmetic)},
                                      {"ids", Number(trunk.ids.size())},
                                      {"state_bytes", Number(state.bytes())},
                                      {"sha256", Value::String(hash.Finish())}});
  const fs::path temporary = path.string() + fmt::format(".{}.tmp", static_cast<long>(getpid()));
  std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
  out << kMagic << json::PrintCompact(header) << '\n';
  for (const auto& piece : payload) {
    out.write(reinterpret_cast<const char*>(piece.data()),
              static_cast<std::streamsize>(piece.size()));
  }
  out.close();
  std::error_code failed;
  if (out.fail()) {
    const int reason = errno;
    fs::remove(temporary, failed);
    Refuse(path, fmt::format("cannot be written: {}", std::strerror(reason)),
           "a folder with room for it");
  }
  fs::rename(temporary, path, failed);
  if (!failed) return;
  std::error_code ignored;
  fs::remove(temporary, ignored);
  Refuse(path, fmt::format("cannot be written: {}", failed.message()), "the name of a file");
}

PreparedTrunk LoadTrunk(const fs::path& path, const SessionOwner& owner,
                        const nn::StateShape& shape, size_t vocabulary) {
  const MappedFile file(path, ErrorKind::kFile);
  const Header header(path, file.text());
  header.CheckOwner(owner);
  const size_t count = header.Count("ids");
  const size_t state_bytes = header.Count("state_bytes");
  const std::span<const std::byte> payload = file.bytes().subspan(header.size());
  // Ids bound the state's size, and the file bounds the ids.
  if (count > payload.size() / sizeof(int32_t) ||
      state_bytes != payload.size() - count * sizeof(int32_t) || count == 0 ||
      state_bytes != nn::State::BytesFor(shape, count))
    Refuse(path, "has another size than it says", "a whole file: prepare again");
  if (Sha256(payload) != header.Text("sha256"))
    Refuse(path, "holds other bytes than were written", "prepare again");
  PreparedTrunk trunk{std::vector<int32_t>(count), nn::State(shape)};
  std::memcpy(trunk.ids.data(), payload.data(), count * sizeof(int32_t));
  for (const int32_t id : trunk.ids) {
    if (id < 0 || static_cast<size_t>(id) >= vocabulary)
      Refuse(path, "holds ids that the model has not", "prepare again");
  }
  trunk.state.Extend(count);
  size_t at = count * sizeof(int32_t);
  for (const std::span<float> piece : trunk.state.Pieces()) {
    std::memcpy(piece.data(), payload.data() + at, piece.size_bytes());
    at += piece.size_bytes();
  }
  return trunk;
}

}  // namespace assay::decide

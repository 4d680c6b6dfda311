#include "formats/zip.h"

#include <fmt/format.h>
#include <zip.h>

#include "assay/error.h"
#include "base/check.h"

namespace assay::formats {
namespace {

constexpr std::string_view kAgain = "download the file again";

// An open member, closed when it goes.
struct MemberCloser {
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};
using OpenMember = std::unique_ptr<zip_file_t, MemberCloser>;

std::string Text(zip_error_t& error) {
  std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  return text;
}

}  // namespace

void ZipArchive::Closer::operator()(zip* archive) const { zip_discard(archive); }

ZipArchive::ZipArchive(std::span<const std::byte> bytes, std::string_view file) : file_(file) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
  if (source != nullptr) archive_.reset(zip_open_from_source(source, ZIP_RDONLY, &error));
  if (archive_ == nullptr) {
    // An archive that was opened owns its source.
    if (source != nullptr) zip_source_free(source);
    throw Error(ErrorKind::kModel, file_, fmt::format("is a cut or damaged zip: {}", Text(error)),
                kAgain);
  }
  zip_error_fini(&error);

  const auto count = static_cast<uint64_t>(zip_get_num_entries(archive_.get(), 0));
  if (count > kMaxZipMembers) {
    throw Error(ErrorKind::kModel, file_,
                fmt::format("has {} members; at most {} are read", count, kMaxZipMembers));
  }
  for (uint64_t i = 0; i < count; ++i) {
    zip_stat_t stat;
    zip_stat_init(&stat);
    constexpr zip_uint64_t kNeeded =
        ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
    if (zip_stat_index(archive_.get(), i, ZIP_FL_ENC_RAW, &stat) != 0 ||
        (stat.valid & kNeeded) != kNeeded) {
      throw Error(ErrorKind::kModel, file_, fmt::format("has an unreadable member {}", i), kAgain);
    }
    if (stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE) {
      Refuse(stat.name, fmt::format("is packed with method {}", stat.comp_method),
             "torch.save stores its members");
    }
    if (stat.encryption_method != ZIP_EM_NONE) Refuse(stat.name, "is encrypted", kAgain);
    if (!members_.emplace(stat.name, Member{i, stat.size}).second) {
      Refuse(stat.name, "is in the zip twice", kAgain);
    }
  }
}

void ZipArchive::Refuse(std::string_view member, std::string_view problem,
                        std::string_view hint) const {
  throw Error(ErrorKind::kModel, fmt::format("{}: {}", file_, OneLine(member, 100)), problem, hint);
}

std::vector<std::string> ZipArchive::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, member] : members_) names.push_back(name);
  return names;
}

std::optional<uint64_t> ZipArchive::Size(std::string_view member) const {
  const auto found = members_.find(member);
  if (found == members_.end()) return std::nullopt;
  return found->second.bytes;
}

std::string ZipArchive::Read(std::string_view member, uint64_t max_bytes) const {
  const auto found = members_.find(member);
  ASSAY_CHECK(found != members_.end());
  const uint64_t bytes = found->second.bytes;
  if (bytes > max_bytes) {
    Refuse(member, fmt::format("has {} bytes; at most {} are read", bytes, max_bytes), "");
  }
  const OpenMember file(zip_fopen_index(archive_.get(), found->second.index, 0));
  if (file == nullptr) {
    Refuse(member, fmt::format("cannot be opened: {}", zip_strerror(archive_.get())), kAgain);
  }
  std::string out(bytes, '\0');
  uint64_t have = 0;
  while (have < bytes) {
    const zip_int64_t got = zip_fread(file.get(), out.data() + have, bytes - have);
    if (got <= 0) break;
    have += static_cast<uint64_t>(got);
  }
  // The read past the end is where libzip compares the CRC-32.
  char past = 0;
  const zip_int64_t more = have == bytes ? zip_fread(file.get(), &past, 1) : 0;
  if (have < bytes || more > 0) {
    Refuse(member,
           fmt::format("has {} than the {} bytes that the zip's directory says",
                       have < bytes ? "fewer" : "more", bytes),
           kAgain);
  }
  if (more < 0) {
    Refuse(member, fmt::format("is damaged: {}", zip_file_strerror(file.get())), kAgain);
  }
  return out;
}

}  // namespace assay::formats

// A zip archive in memory, read with libzip. Rules that are ours (all refusals are Error(kModel)):
//  * stored and deflated members only, none of them encrypted; no name twice;
//  * what a member holds is checked against its size and CRC-32 in the central directory (a file
//  that
//    torch wrote with its CRC-32 switched off is refused as damaged, as other zip tools do);
//  * no memory is taken for a member before its size was compared with the caller's limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct zip;

namespace assay::formats {

inline constexpr size_t kMaxZipMembers = 10'000;

class ZipArchive {
 public:
  // Borrows `bytes`, which must outlive it. `file` names it in errors.
  ZipArchive(std::span<const std::byte> bytes, std::string_view file);

  // In the order of bytes; as stored, whatever their encoding.
  std::vector<std::string> Names() const;
  // The member's size once unpacked, as the directory says; nothing when there is no such member.
  std::optional<uint64_t> Size(std::string_view member) const;
  // A member's content; refused past `max_bytes`. The member must be there (a programmer's error
  // otherwise).
  std::string Read(std::string_view member, uint64_t max_bytes) const;

 private:
  struct Member {
    uint64_t index = 0;
    uint64_t bytes = 0;
  };
  struct Closer {
    void operator()(zip* archive) const;
  };
  [[noreturn]] void Refuse(std::string_view member, std::string_view problem,
                           std::string_view hint) const;

  std::string file_;
  std::unique_ptr<zip, Closer> archive_;
  std::map<std::string, Member, std::less<>> members_;
};

}  // namespace assay::formats

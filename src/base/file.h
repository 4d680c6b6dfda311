// Files: mapped read-only, or read whole under a limit. Errors name the file, never a folder of
// this machine.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "assay/error.h"

namespace assay {

// A read-only mapping of a whole regular file. Movable; unmaps when destroyed.
class MappedFile {
 public:
  // Throws Error(error_kind) when the file is missing, not a regular file or unreadable.
  MappedFile(const std::filesystem::path& path, ErrorKind error_kind);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  std::string_view text() const { return {reinterpret_cast<const char*>(data_), size_}; }

 private:
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

// The last name of a path, "." and ".." and a slash at the end worked out: what a model is called.
std::string FolderName(const std::filesystem::path& folder);

// The whole content of a regular file or a pipe; refused past `max_bytes`.
std::string ReadFile(const std::filesystem::path& path, ErrorKind error_kind, size_t max_bytes);
// The rest of an open descriptor (standard input); refused past `max_bytes`. `name` is for
// messages.
std::string ReadDescriptor(int descriptor, std::string_view name, ErrorKind error_kind,
                           size_t max_bytes);

}  // namespace assay

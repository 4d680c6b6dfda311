#include "base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace assay {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return value_; }

 private:
  int value_;
};

std::string Name(const std::filesystem::path& path) {
  return path.has_filename() ? path.filename().string() : path.string();
}

int OpenOrThrow(const std::filesystem::path& path, ErrorKind error_kind) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    const int reason = errno;
    const bool missing = reason == ENOENT || reason == ENOTDIR;
    throw Error(error_kind, Name(path),
                missing ? "no such file" : fmt::format("cannot be opened: {}", strerror(reason)),
                missing
                    ? fmt::format("looked in {}",
                                  path.parent_path().empty() ? "." : path.parent_path().string())
                    : "");
  }
  return descriptor;
}

struct stat StatOrThrow(const Descriptor& file, const std::filesystem::path& path,
                        ErrorKind error_kind) {
  struct stat status{};
  if (fstat(file.get(), &status) != 0) {
    throw Error(error_kind, Name(path), fmt::format("cannot be examined: {}", strerror(errno)));
  }
  if (S_ISDIR(status.st_mode)) throw Error(error_kind, Name(path), "is a folder", "name a file");
  return status;
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path, ErrorKind error_kind) {
  const Descriptor file(OpenOrThrow(path, error_kind));
  const struct stat status = StatOrThrow(file, path, error_kind);
  if (!S_ISREG(status.st_mode)) throw Error(error_kind, Name(path), "is not a regular file");
  size_ = static_cast<size_t>(status.st_size);
  if (size_ == 0) return;
  void* data = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (data == MAP_FAILED) {
    throw Error(error_kind, Name(path),
                fmt::format("cannot be mapped ({} bytes): {}", size_, strerror(errno)));
  }
  data_ = static_cast<const std::byte*>(data);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(const_cast<std::byte*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

std::string FolderName(const std::filesystem::path& folder) {
  const std::filesystem::path plain = std::filesystem::absolute(folder).lexically_normal();
  return (plain.has_filename() ? plain : plain.parent_path()).filename().string();
}

std::string ReadFile(const std::filesystem::path& path, ErrorKind error_kind, size_t max_bytes) {
  const Descriptor file(OpenOrThrow(path, error_kind));
  StatOrThrow(file, path, error_kind);
  return ReadDescriptor(file.get(), Name(path), error_kind, max_bytes);
}

std::string ReadDescriptor(int descriptor, std::string_view name, ErrorKind error_kind,
                           size_t max_bytes) {
  std::string out;
  char block[1 << 16];
  for (;;) {
    const ssize_t got = read(descriptor, block, sizeof block);
    if (got == 0) return out;
    if (got < 0) {
      if (errno == EINTR) continue;
      throw Error(error_kind, name, fmt::format("cannot be read: {}", strerror(errno)));
    }
    if (static_cast<size_t>(got) > max_bytes - out.size()) {
      throw Error(error_kind, name, fmt::format("has more than {} bytes", max_bytes), "send less");
    }
    out.append(block, static_cast<size_t>(got));
  }
}

}  // namespace assay

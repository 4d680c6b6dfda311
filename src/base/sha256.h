// SHA-256, in lower-case hex (OpenSSL).
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace assay {

std::string Sha256(std::span<const std::byte> bytes);

// The same of bytes that come in pieces.
class Sha256Stream {
 public:
  Sha256Stream();
  ~Sha256Stream();
  Sha256Stream(const Sha256Stream&) = delete;
  Sha256Stream& operator=(const Sha256Stream&) = delete;

  void Add(std::span<const std::byte> bytes);
  // Once, after all pieces.
  std::string Finish();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

inline std::string Sha256(std::string_view text) {
  return Sha256(std::as_bytes(std::span(text.data(), text.size())));
}

}  // namespace assay

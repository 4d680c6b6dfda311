// SHA-256, in lower-case hex (OpenSSL).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace assay {

std::string Sha256(std::span<const std::byte> bytes);
inline std::string Sha256(std::string_view text) {
  return Sha256(std::as_bytes(std::span(text.data(), text.size())));
}

}  // namespace assay

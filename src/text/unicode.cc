#include "base/utf8.h"
#include "text/unicode_tables.h"

namespace assay::text {
namespace {

size_t CharStartBefore(std::string_view text, size_t end) {
  size_t at = end - 1;
  for (int steps = 0; steps < 3 && at > 0; ++steps) {
    if ((static_cast<unsigned char>(text[at]) & 0xC0) != 0x80) break;
    --at;
  }
  return at;
}

bool IsSpaceAt(std::string_view text, size_t at, size_t end) {
  const Utf8Char next = DecodeUtf8(text, at);
  return next.valid && at + next.bytes <= end && IsPythonSpace(next.code);
}

}  // namespace

std::string_view StripPython(std::string_view utf8) {
  size_t begin = 0;
  size_t end = utf8.size();
  while (begin < end && IsSpaceAt(utf8, begin, end)) begin += DecodeUtf8(utf8, begin).bytes;
  while (end > begin) {
    const size_t last = CharStartBefore(utf8, end);
    if (last < begin || !IsSpaceAt(utf8.substr(0, end), last, end)) break;
    if (last + DecodeUtf8(utf8, last).bytes != end) break;
    end = last;
  }
  return utf8.substr(begin, end - begin);
}

}  // namespace assay::text

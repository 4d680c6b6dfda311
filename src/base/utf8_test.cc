#include "base/utf8.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(Utf8, EveryCodePointReadsBack) {
  for (char32_t code = 0; code <= 0x10FFFF; ++code) {
    if (code >= 0xD800 && code < 0xE000) continue;
    std::string text;
    AppendUtf8(code, text);
    const Utf8Char back = DecodeUtf8(text, 0);
    ASSERT_TRUE(back.valid && back.code == code && back.bytes == text.size())
        << static_cast<uint32_t>(code);
  }
}

TEST(Utf8, RefusesWhatIsNotUtf8) {
  for (const char* text : {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xED\xA0\x80",
                           "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xE2\x82", "\xFF", "a\xC3"}) {
    EXPECT_FALSE(IsUtf8(text)) << text;
  }
  EXPECT_TRUE(IsUtf8("caf\u00e9 \U0001F600"));
}

}  // namespace
}  // namespace assay

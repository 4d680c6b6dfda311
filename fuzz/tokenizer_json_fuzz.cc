// Any bytes as tokenizer.json; what is accepted encodes and decodes.
#include "base/utf8.h"
#include "fuzz/fuzz.h"
#include "text/tokenizer.h"

namespace assay::fuzz {
namespace {

// ASCII, contractions, line breaks, numbers, marks to compose, Hangul, an astral character, runs
// that are longer than the short-piece loop of BPE takes, and what control tokens look like.
const std::string kTexts[] = {
    "",
    "abc ab bc",
    "Don't we'LL  look at 12345 of\r\n\n\t them?! ",
    "e\u0301\u0323 \u1112\u1161\u11ab \U0001F600 \u017F \u00a0\u3000x",
    "<|im_start|>user\n<image> <|im_end|><s>",
    std::string(300, 'a') + std::string(100, 'b') + std::string(200, ' ') + "abababab",
};

void Use(const text::Tokenizer& tokenizer) {
  FUZZ_CHECK(tokenizer.vocab_size() <= size_t{1} << 22);
  for (const std::string& text : kTexts) {
    // A vocabulary of characters need not know all of them.
    Accepts(ErrorKind::kRequest, [&] {
      const std::vector<int32_t> ids = tokenizer.Encode(text);
      for (const int32_t id : ids) {
        FUZZ_CHECK(id >= 0 && static_cast<size_t>(id) < tokenizer.vocab_size());
        FUZZ_CHECK(!tokenizer.TokenBytes(id).empty());
      }
      FUZZ_CHECK(IsUtf8(tokenizer.Decode(ids)));
    });
    tokenizer.TokenId(text);
  }
  const int32_t strange[] = {-1, 0, 1, 255, INT32_MAX, INT32_MIN};
  FUZZ_CHECK(IsUtf8(tokenizer.Decode(strange)));
}

}  // namespace
}  // namespace assay::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace assay;
  const fuzz::CpuLimit limit;
  fuzz::Accepts(ErrorKind::kModel, [&] {
    fuzz::Use(text::Tokenizer::FromJson(fuzz::Text(data, size), "tokenizer.json"));
  });
  return 0;
}

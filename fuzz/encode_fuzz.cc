// Any text through the tokenizers of every supported family. The first byte of the input picks one.
#include "base/json.h"
#include "base/utf8.h"
#include "fuzz/fuzz.h"
#include "text/nfc.h"
#include "text/tokenizer.h"

namespace assay::fuzz {
namespace {

struct Pipeline {
  std::string name;
  text::Tokenizer tokenizer;
  bool nfc;
  bool strips;  // an added token takes white space with it: that does not come back
};

json::Value ReadJson(std::string_view name) {
  return json::Parse(ReadSource(name), ErrorKind::kFile, name);
}

Pipeline MakePipeline(const json::Value& base, const json::Value& recorded) {
  json::Value file = base;
  const json::Value& fields = *recorded.Find("fields");
  for (auto& [name, value] : file.members()) {
    if (const json::Value* other = fields.Find(name)) value = *other;
  }
  bool strips = false;
  for (const json::Value& token : file.Find("added_tokens")->items()) {
    strips |= token.Find("lstrip")->boolean() || token.Find("rstrip")->boolean();
  }
  const std::string& name = recorded.Find("pipeline")->string();
  return {name, text::Tokenizer::FromJson(json::PrintCompact(file), name),
          !file.Find("normalizer")->is_null(), strips};
}

// d1, Llama 3, Qwen2, Qwen3.5, byte-level with and without a split, and tokens with every flag.
std::vector<Pipeline> MakePipelines() {
  const json::Value base = ReadJson("tests/data/text/tiny.json");
  const json::Value pipelines = ReadJson("tests/data/text/recorded.json");
  std::vector<Pipeline> out;
  for (const json::Value& recorded : pipelines.items()) {
    out.push_back(MakePipeline(base, recorded));
  }
  return out;
}

std::string Nfc(std::string_view text) {
  std::string storage;
  return std::string(text::ToNfc(text, storage));
}

// Byte-level BPE loses nothing but what normalization and stripping tokens take.
void CheckRoundTrip(const Pipeline& pipeline, std::string_view text) {
  const std::vector<int32_t> ids = pipeline.tokenizer.Encode(text);
  for (const int32_t id : ids) {
    FUZZ_CHECK(id >= 0 && static_cast<size_t>(id) < pipeline.tokenizer.vocab_size());
  }
  const std::string back = pipeline.tokenizer.Decode(ids);
  FUZZ_CHECK(IsUtf8(back));
  if (pipeline.strips) return;
  // Parts between added tokens are normalized apart, so the borders are made whole here.
  FUZZ_CHECK(pipeline.nfc ? Nfc(back) == Nfc(text) : back == text);
}

void CheckNfc(std::string_view text) {
  const std::string once = Nfc(text);
  FUZZ_CHECK(IsUtf8(once));
  FUZZ_CHECK(Nfc(once) == once);
}

// The input without the bytes that are not UTF-8.
std::string Repaired(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const Utf8Char next = DecodeUtf8(text, at);
    if (next.valid) AppendUtf8(next.code, out);
    at += next.bytes;
  }
  return out;
}

}  // namespace
}  // namespace assay::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace assay;
  const fuzz::CpuLimit limit;
  static const std::vector<fuzz::Pipeline> pipelines = fuzz::MakePipelines();
  if (size == 0) return 0;
  const fuzz::Pipeline& pipeline = pipelines[data[0] % pipelines.size()];
  const std::string_view text = fuzz::Text(data + 1, size - 1);
  const bool accepted =
      fuzz::Accepts(ErrorKind::kRequest, [&] { fuzz::CheckRoundTrip(pipeline, text); });
  FUZZ_CHECK(accepted == IsUtf8(text));
  const std::string repaired = fuzz::Repaired(text);
  FUZZ_CHECK(IsUtf8(repaired));
  if (!accepted) fuzz::CheckRoundTrip(pipeline, repaired);
  fuzz::CheckNfc(repaired);
  return 0;
}

// Any bytes as a request: read, printed, read again, and turned into rows by both dialects.
#include "base/json.h"
#include "families/registry.h"
#include "fuzz/fuzz.h"

namespace assay::fuzz {
namespace {

using families::Dialect;
using families::EncodedQuestion;
using families::EncodedRequest;

json::Value Read(std::string_view text) {
  return json::Parse(text, ErrorKind::kRequest, "request");
}

void CheckPrinting(const json::Value& value) {
  const std::string pretty = json::PrintPython(value);
  const std::string compact = json::PrintCompact(value);
  FUZZ_CHECK(Read(pretty) == value && Read(compact) == value);
  FUZZ_CHECK(json::PrintPython(Read(compact)) == pretty);
}

void CheckRows(const EncodedRequest& request) {
  FUZZ_CHECK(!request.questions.empty());
  size_t tokens = request.trunk_ids.size();
  for (const EncodedQuestion& question : request.questions) {
    tokens += question.ids.size();
    FUZZ_CHECK(!question.options.empty() && question.options.size() == question.groups.size());
    FUZZ_CHECK(question.wanted.size() == 1 && question.wanted[0] < question.ids.size());
    for (const auto& group : question.groups) FUZZ_CHECK(!group.empty());
  }
  FUZZ_CHECK(tokens == request.input_tokens);
}

void CheckSame(const EncodedRequest& a, const EncodedRequest& b) {
  FUZZ_CHECK(a.trunk_ids == b.trunk_ids && a.questions.size() == b.questions.size());
  for (size_t q = 0; q < a.questions.size(); ++q) {
    FUZZ_CHECK(a.questions[q].name == b.questions[q].name);
    FUZZ_CHECK(a.questions[q].kind == b.questions[q].kind);
    FUZZ_CHECK(a.questions[q].ids == b.questions[q].ids);
    FUZZ_CHECK(a.questions[q].groups == b.questions[q].groups);
    FUZZ_CHECK(a.questions[q].options == b.questions[q].options);
  }
}

// The rows of a request, if this dialect accepts it. A prepared state is the start of every row.
std::optional<EncodedRequest> Encode(const families::Family& family, const json::Value& request,
                                     Dialect dialect) {
  std::optional<EncodedRequest> out;
  const bool accepted = Accepts(ErrorKind::kRequest, [&] {
    out = family.Encode(request, {dialect});
    CheckRows(*out);
  });
  std::vector<int32_t> state;
  const bool state_accepted =
      Accepts(ErrorKind::kRequest, [&] { state = family.EncodeState(request, {dialect}); });
  FUZZ_CHECK(state_accepted || !accepted);
  if (accepted && out->questions.size() > 1) FUZZ_CHECK(state == out->trunk_ids);
  return out;
}

void CheckRequest(const families::Family& family, const json::Value& request) {
  const auto host = Encode(family, request, Dialect::kHost);
  const auto wire = Encode(family, request, Dialect::kWire);
  if (host && wire) CheckSame(*host, *wire);
}

}  // namespace
}  // namespace assay::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace assay;
  const fuzz::CpuLimit limit;
  static const std::unique_ptr<families::Family> family =
      families::LoadFamily(fuzz::SourcePath("tests/data/d1_tiny"), {});
  fuzz::Accepts(ErrorKind::kRequest, [&] {
    const json::Value request = fuzz::Read(fuzz::Text(data, size));
    fuzz::CheckPrinting(request);
    fuzz::CheckRequest(*family, request);
  });
  return 0;
}

// Any bytes as a request to the tiny checkpoint, decided whole at every CPU level of the machine.
#include <cmath>

#include "assay/model.h"
#include "base/json.h"
#include "fuzz/fuzz.h"
#include "kernels/cpu_level.h"

namespace assay::fuzz {
namespace {

// Between levels; the suite holds each level to a tighter bar against the makers' code.
constexpr double kLevelDifference = 1e-4;
// Short rows: what is to be found here does not need long ones, and the generic level is slow under
// sanitizers.
constexpr size_t kMaxRow = 128;

const Model& Tiny() {
  static const Model model = Model::Load(SourcePath("tests/data/d1_tiny"), {2, kMaxRow});
  return model;
}

void CheckAnswers(const Answers& answers) {
  for (const Answer& answer : answers.list()) {
    double sum = 0;
    for (const double p : answer.probabilities) {
      FUZZ_CHECK(p >= 0 && p <= 1);
      sum += p;
    }
    FUZZ_CHECK(std::abs(sum - 1) < 1e-9);
    FUZZ_CHECK(std::isfinite(answer.value) && std::isfinite(answer.confidence));
  }
  for (const bool one_line : {false, true}) {
    json::Parse(answers.ToJson({Rounding::Mode::kDigits, 4}, one_line, "id"), ErrorKind::kModel,
                "answers");
  }
  for (const std::string& line : answers.TraceLines("id")) {
    json::Parse(line, ErrorKind::kModel, "trace");
  }
}

void CheckNear(const Answers& a, const Answers& b, double bound) {
  FUZZ_CHECK(a.list().size() == b.list().size());
  for (size_t q = 0; q < a.list().size(); ++q) {
    const auto& p = a.list()[q].probabilities;
    const auto& other = b.list()[q].probabilities;
    FUZZ_CHECK(p.size() == other.size());
    for (size_t i = 0; i < p.size(); ++i) FUZZ_CHECK(std::abs(p[i] - other[i]) <= bound);
  }
}

// Neither small passes nor a prepared state change a bit.
void CheckSameBits(const Request& request, Dialect dialect, const Answers& answers) {
  CheckNear(answers, Tiny().Decide(request, {dialect, 7}), 0);
  CheckNear(answers, Tiny().Prepare(request, {dialect, 5}).Decide(request, {dialect, 0}), 0);
}

void DecideEverywhere(const Request& request, Dialect dialect) {
  std::optional<Answers> last;
  for (const kernels::CpuLevel level : kernels::AvailableLevels()) {
    kernels::SelectCpuLevel(kernels::CpuLevelName(level));
    const Answers answers = Tiny().Decide(request, {dialect, 0});
    CheckAnswers(answers);
    if (last) CheckNear(answers, *last, kLevelDifference);
    last = answers;
  }
  // The unit tests ask this of every level; here the fastest one does.
  CheckSameBits(request, dialect, *last);
}

}  // namespace
}  // namespace assay::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace assay;
  const fuzz::CpuLimit limit;
  fuzz::Accepts(ErrorKind::kRequest, [&] {
    const Request request = Request::Parse(fuzz::Text(data, size));
    request.Id();
    // The wire first: it accepts what people send; then what only the host code takes.
    const bool wire = fuzz::Accepts(ErrorKind::kRequest,
                                    [&] { fuzz::DecideEverywhere(request, Dialect::kWire); });
    if (!wire) fuzz::DecideEverywhere(request, Dialect::kHost);
  });
  return 0;
}

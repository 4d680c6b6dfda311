#include "replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/sha256.h"
#include "decide/answers.h"
#include "decide/run.h"
#include "families/readout.h"
#include "families/registry.h"

namespace assay::tests {
namespace {

using gate::GoldenQuestion;
using gate::GoldenRow;
using json::Value;

// A top-two margin up to this is a near tie: its argmax may differ.
constexpr double kNearTie = 0.02;

// Where design 6 says that the refusal is right, though the makers' parser accepts NaN and
// infinities.
bool MayBeRefused(const std::string& id) { return id == "j13_nonfinite"; }

std::string Sha256OfIds(const std::vector<int32_t>& ids) {
  return Sha256(std::as_bytes(std::span(ids)));
}

class Replayer {
 public:
  Replayer(const families::Family& family, const ReplayOptions& options)
      : family_(family), options_(options), threads_(options.threads) {}

  void Row(const GoldenRow& golden, const gate::GoldenRequest& request) {
    if (!golden.refused && options_.alone && golden.questions.size() > 1)
      return Alone(golden, request);
    try {
      const Value body = json::Parse(request.text, ErrorKind::kRequest, "request");
      const families::EncodedRequest encoded = family_.Encode(body, {});
      if (golden.refused) {
        Problem(golden.id, "is answered, the makers refuse it: " + golden.reason);
        return;
      }
      Compare(golden, encoded, Run(encoded));
      ++result_.answered;
    } catch (const Error& error) {
      if (!golden.refused && !MayBeRefused(golden.id))
        Problem(golden.id, fmt::format("is refused: {}", error.what()));
      ++result_.refused;
    }
  }

  ReplayResult Take() { return std::move(result_); }

 private:
  std::vector<decide::QuestionResult> Run(const families::EncodedRequest& encoded) {
    decide::RunOptions run;
    run.forward.chunk = options_.chunk;
    return decide::Run(family_, threads_, encoded, nullptr, run);
  }

  // Each question of a tree as a request of its own.
  void Alone(const GoldenRow& golden, const gate::GoldenRequest& request) {
    const Value body = json::Parse(request.text, ErrorKind::kRequest, "request");
    const Value all = *body.Find("questions");
    for (size_t q = 0; q < golden.questions.size(); ++q) {
      Value one = Value::Object();
      one.Add("state", *body.Find("state"));
      one.Add("questions", Value::Object({all.members()[q]}));
      GoldenQuestion expected = golden.questions[q];
      expected.ids = expected.alone_ids;
      expected.ids_sha256 = Sha256OfIds(expected.ids);
      expected.slot = expected.ids.size() - 1;
      expected.probabilities = expected.alone_probabilities;
      const families::EncodedRequest encoded = family_.Encode(one, {});
      const bool same_row = golden.questions[q].ids == expected.ids;
      Question(golden.id + " alone", expected, encoded, encoded.questions[0], Run(encoded)[0],
               same_row);
    }
    ++result_.answered;
  }

  void Compare(const GoldenRow& golden, const families::EncodedRequest& encoded,
               const std::vector<decide::QuestionResult>& results) {
    if (encoded.questions.size() != golden.questions.size())
      return Problem(golden.id, "has another number of questions");
    const bool whole = !golden.questions[0].ids.empty();  // a small golden keeps no trunk
    if (whole && encoded.trunk_ids.size() != golden.trunk_rows)
      Problem(golden.id, "has another trunk");
    for (size_t q = 0; q < results.size(); ++q) {
      Question(golden.id, golden.questions[q], encoded, encoded.questions[q], results[q], true);
    }
    if (whole) CompareAnswers(golden, decide::MakeAnswers(family_, "model", encoded, results));
  }

  void Question(const std::string& id, const GoldenQuestion& golden,
                const families::EncodedRequest& request, const families::EncodedQuestion& question,
                const decide::QuestionResult& result, bool hidden) {
    const std::string where = fmt::format("{}/{}", id, golden.name);
    std::vector<int32_t> row = request.trunk_ids;
    row.insert(row.end(), question.ids.begin(), question.ids.end());
    if (question.name != golden.name) Problem(where, "is called " + question.name);
    if (Sha256OfIds(row) != golden.ids_sha256) Problem(where, "has other ids");
    if (request.trunk_ids.size() + question.wanted.back() != golden.slot)
      Problem(where, "reads another slot");
    for (size_t i = 0; i < golden.marks.size(); ++i) {
      if (question.wanted.size() != golden.marks.size() + 1 ||
          request.trunk_ids.size() + question.wanted[i] != golden.marks[i])
        Problem(where, "reads other marks");
    }
    if (!golden.ids.empty()) {
      if (row != golden.ids) Problem(where, "has other ids");
      if (question.codes != golden.codes) Problem(where, "prints other codes");
      if (question.options != golden.options) Problem(where, "has other options");
      if (question.groups != golden.groups) Problem(where, "reads other ids");
    }
    Numbers(where, golden, result, hidden);
    ++result_.questions;
  }

  void Numbers(const std::string& where, const GoldenQuestion& golden,
               const decide::QuestionResult& result, bool hidden) {
    const std::vector<double>& p = result.reading.probabilities;
    result_.probabilities.insert(result_.probabilities.end(), p.begin(), p.end());
    if (p.size() != golden.probabilities.size())
      return Problem(where, "has another number of probabilities");
    for (size_t i = 0; i < p.size(); ++i) {
      const double d = std::abs(p[i] - golden.probabilities[i]);
      if (!(d <= result_.max_dp)) {  // not-a-number counts as the worst
        result_.max_dp = d;
        result_.worst = where;
      }
    }
    if (families::Argmax(p) != families::Argmax(golden.probabilities) &&
        Margin(golden.probabilities) > kNearTie) {
      Problem(where, "has another best option");
    }
    for (size_t i = 0; hidden && i < golden.hidden_first.size(); ++i) {
      const double d =
          std::abs(static_cast<double>(result.hidden.first[i]) - golden.hidden_first[i]);
      if (!(d <= result_.max_hidden)) result_.max_hidden = d;
    }
  }

  static double Margin(std::vector<double> p) {
    if (p.size() < 2) return 1;
    std::sort(p.begin(), p.end(), std::greater<>());
    return p[0] - p[1];
  }

  // The printed answers: the same members in the same order; numbers within the bar that
  // probabilities have anyway.
  void CompareAnswers(const GoldenRow& golden, const Answers& answers) {
    const Value printed = json::Parse(answers.ToJson({}, true), ErrorKind::kRequest, "answers");
    if (!SameShape(*printed.Find("answers"), golden.answers))
      Problem(golden.id, "prints another answer");
    CompareUsage(golden, answers, *printed.Find("usage"));
  }

  // Where a family counts the tokens of the answers as the maker's server prints them, a number on
  // the edge of its last decimal changes the count: then only the input must agree.
  void CompareUsage(const GoldenRow& golden, const Answers& answers, const Value& usage) {
    const Value rounded = json::Parse(answers.ToJson({Rounding::Mode::kKev, 0}, true),
                                      ErrorKind::kRequest, "answers");
    const bool same = *rounded.Find("answers") == golden.answers;
    result_.rounded_equal += same ? 1 : 0;
    const bool counts = golden.usage.Find("output_tokens")->number() > 0;
    if (*usage.Find("input_tokens") != *golden.usage.Find("input_tokens") ||
        ((same || !counts) && usage != golden.usage))
      Problem(golden.id, "prints another usage");
  }

  static bool SameShape(const Value& a, const Value& b) {
    const auto number = [](const Value& v) {
      return v.kind() == json::Kind::kFloat || v.kind() == json::Kind::kInteger;
    };
    if (number(a) && number(b)) return std::abs(a.number() - b.number()) < 1e-3;
    if (a.kind() != b.kind()) return false;
    if (a.is_object()) {
      return std::equal(a.members().begin(), a.members().end(), b.members().begin(),
                        b.members().end(), [](const auto& x, const auto& y) {
                          return x.first == y.first && SameShape(x.second, y.second);
                        });
    }
    if (a.is_array())
      return std::equal(a.items().begin(), a.items().end(), b.items().begin(), b.items().end(),
                        SameShape);
    return a == b;
  }

  void Problem(const std::string& where, const std::string& what) {
    result_.problems.push_back(where + " " + what);
  }

  const families::Family& family_;
  ReplayOptions options_;
  Threads threads_;
  ReplayResult result_;
};

}  // namespace

std::string ReplayResult::Text() const {
  std::string out = fmt::format(
      "{} answered, {} refused, {} questions, max |dp| {:.3e} ({}), max |d hidden| {:.3e}, {} "
      "problems",
      answered, refused, questions, max_dp, worst, max_hidden, problems.size());
  for (size_t i = 0; i < std::min<size_t>(problems.size(), 10); ++i) out += "\n  " + problems[i];
  return out;
}

families::LoadOptions OptionsOf(const ReplayOptions& options) {
  families::LoadOptions out;
  out.threads = options.threads;
  out.compute = options.compute;
  out.delta = options.delta;
  out.merge = options.merge;
  return out;
}

std::filesystem::path OraclePath(const std::string& name) {
  return std::filesystem::path(ASSAY_SOURCE_DIR) / "tools" / "oracle" / name;
}

Corpus ReadCorpus(const std::string& golden, const std::string& requests) {
  return {gate::ReadGolden(OraclePath("golden/" + golden)),
          gate::ReadGoldenRequests(OraclePath("requests/" + requests))};
}

ReplayResult Replay(const std::filesystem::path& folder, const Corpus& corpus,
                    const ReplayOptions& options) {
  const std::unique_ptr<families::Family> family = families::LoadFamily(folder, OptionsOf(options));
  std::map<std::string, const gate::GoldenRequest*> by_id;
  for (const gate::GoldenRequest& request : corpus.requests) by_id[request.id] = &request;
  Replayer replayer(*family, options);
  for (const GoldenRow& row : corpus.golden.rows) {
    const gate::GoldenRequest* request = by_id.at(row.id);
    if (request->pictures.empty()) replayer.Row(row, *request);
  }
  return replayer.Take();
}

}  // namespace assay::tests

#include "decide/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "families/readout.h"

namespace assay {
namespace {

using json::Value;

Value Number(double value, const Rounding& rounding) {
  return Value::Float(decide::Rounded(value, rounding));
}

// {option: probability}, in option order.
Value Probabilities(const Answer& answer, const Rounding& rounding) {
  Value out = Value::Object();
  for (size_t i = 0; i < answer.options.size(); ++i)
    out.Add(answer.options[i], Number(answer.probabilities[i], rounding));
  return out;
}

Value Legend(const Answer& answer, const std::vector<Value>& legend) {
  Value out = Value::Object();
  for (size_t i = 0; i < legend.size(); ++i) out.Add(answer.options[i], legend[i]);
  return out;
}

// Members in the order of spec d1 5.2; with `legend_first`, of spec kev 5.
Value AnswerJson(const Answer& answer, const std::vector<Value>& legend, bool legend_first,
                 const Rounding& rounding) {
  Value out = Value::Object();
  out.Add("type", Value::String(answer.kind));
  if (answer.kind == "noul") {
    out.Add("noul", Number(answer.value, rounding));
    return out;
  }
  if (answer.kind == "choice") {
    out.Add("choice", Value::String(answer.best));
  } else {
    out.Add("score", Number(answer.value, rounding));
  }
  if (answer.kind == "score" && legend_first) {
    out.Add("legend", Legend(answer, legend));
    out.Add("probabilities", Probabilities(answer, rounding));
    out.Add("confidence", Number(answer.confidence, rounding));
    return out;
  }
  out.Add("confidence", Number(answer.confidence, rounding));
  out.Add("probabilities", Probabilities(answer, rounding));
  if (answer.kind == "score") out.Add("legend", Legend(answer, legend));
  return out;
}

// {question: answer}, in request order.
Value AnswersJson(const Answers::Impl& impl, const Rounding& rounding) {
  const std::vector<Answer>& list =
      rounding.mode == Rounding::Mode::kKev ? impl.in_fp32 : impl.list;
  Value out = Value::Object();
  for (size_t q = 0; q < list.size(); ++q) {
    const families::EncodedQuestion& question = impl.request.questions[q];
    out.Add(question.name, AnswerJson(list[q], question.legend, impl.legend_first, rounding));
  }
  return out;
}

template <typename T>
Value Ids(const std::vector<T>& ids) {
  Value out = Value::Array();
  for (const T id : ids) out.items().push_back(Value::Integer(static_cast<int64_t>(id)));
  return out;
}

Value Strings(const std::vector<std::string>& texts) {
  Value out = Value::Array();
  for (const std::string& text : texts) out.items().push_back(Value::String(text));
  return out;
}

template <typename T>
Value Numbers(const std::vector<T>& numbers) {
  Value out = Value::Array();
  for (const T number : numbers) out.items().push_back(Value::Float(static_cast<double>(number)));
  return out;
}

Value TraceJson(const std::string& id, const Answers::Impl& impl,
                const families::EncodedRequest& request, const families::EncodedQuestion& question,
                const decide::QuestionResult& result) {
  std::vector<int32_t> row = request.trunk_ids;
  row.insert(row.end(), question.ids.begin(), question.ids.end());
  Value out = Value::Object();
  out.Add("id", Value::String(id));
  out.Add("question", Value::String(question.name));
  out.Add("kind", Value::String(question.kind));
  out.Add("ids", Ids(row));
  out.Add("slot",
          Value::Integer(static_cast<int64_t>(request.trunk_ids.size() + question.wanted.back())));
  // Where the options are read, for families that read each at a place of its own.
  if (question.wanted.size() > 1) {
    std::vector<size_t> marks(question.wanted.begin(), question.wanted.end() - 1);
    for (size_t& mark : marks) mark += request.trunk_ids.size();
    out.Add("marks", Ids(marks));
  }
  out.Add("options", Strings(question.options));
  out.Add("scores", Numbers(result.reading.scores));
  out.Add("probabilities", Numbers(result.reading.probabilities));
  out.Add("trunk_ids", Ids(request.trunk_ids));
  out.Add("branch_ids", Ids(question.ids));
  out.Add("codes", Strings(question.codes));
  Value groups = Value::Array();
  for (const auto& group : question.groups) groups.items().push_back(Ids(group));
  out.Add("groups", std::move(groups));
  Value logits = Value::Array();
  for (const auto& group : result.reading.logits) logits.items().push_back(Numbers(group));
  out.Add("logits", std::move(logits));
  Value hidden = Value::Object();
  hidden.Add("first8", Numbers(result.hidden.first));
  hidden.Add("l2", Value::Float(result.hidden.l2));
  out.Add("hidden", std::move(hidden));
  if (impl.kernels != nullptr) out.Add("kernels", Strings(*impl.kernels));
  return out;
}

}  // namespace

namespace decide {
namespace {

std::vector<double> ToFp32(std::vector<double> values) {
  for (double& value : values) value = static_cast<double>(static_cast<float>(value));
  return values;
}

Answer MakeAnswer(const families::Family& family, const families::EncodedQuestion& question,
                  const std::vector<double>& p) {
  // JSON cannot print what is no number, and no caller should take it for an answer.
  if (!std::all_of(p.begin(), p.end(), [](double value) { return std::isfinite(value); })) {
    throw Error(ErrorKind::kModel, "questions." + question.name,
                "the model's probabilities are not finite numbers",
                "its weights hold infinities or NaN; compare the files' sha256 (assay inspect "
                "--hashes) with the published ones");
  }
  Answer answer{question.name, question.kind, question.options, p, {}, "", 0, 0};
  if (question.kind == "noul") {
    answer.value = p[family.YesOption()];
    return answer;
  }
  const size_t best = families::Argmax(p);
  answer.best = question.options[best];
  answer.confidence = family.Confidence(question, p);
  if (question.kind == "choice") {
    answer.value = p[best];
    return answer;
  }
  std::vector<double> weighted;
  for (size_t i = 0; i < p.size(); ++i) weighted.push_back(static_cast<double>(i) * p[i]);
  answer.value = families::CompensatedSum(weighted);
  for (const Value& level : question.legend) {
    answer.levels.push_back(level.is_string() ? level.string() : json::PrintCompact(level));
  }
  return answer;
}

}  // namespace

double RoundDecimals(double value, int digits) {
  return std::strtod(fmt::format("{:.{}f}", value, digits).c_str(), nullptr);
}

double Rounded(double value, const Rounding& rounding) {
  switch (rounding.mode) {
    case Rounding::Mode::kNone: return value;
    case Rounding::Mode::kKev: return RoundDecimals(value, 4);
    case Rounding::Mode::kDigits: return RoundDecimals(value, rounding.digits);
  }
  return value;
}

Answers MakeAnswers(const families::Family& family, std::string model,
                    families::EncodedRequest request, std::vector<QuestionResult> results,
                    std::shared_ptr<const std::vector<std::string>> kernels) {
  const auto impl = std::make_shared<Answers::Impl>();
  impl->kernels = std::move(kernels);
  impl->model = request.model.value_or(std::move(model));
  impl->request = std::move(request);
  impl->results = std::move(results);
  for (size_t q = 0; q < impl->results.size(); ++q) {
    const families::EncodedQuestion& question = impl->request.questions[q];
    const std::vector<double>& p = impl->results[q].reading.probabilities;
    impl->list.push_back(MakeAnswer(family, question, p));
    impl->in_fp32.push_back(MakeAnswer(family, question, ToFp32(p)));
  }
  impl->legend_first = family.LegendFirst();
  impl->output_tokens = family.OutputTokens(AnswersJson(*impl, {Rounding::Mode::kKev, 0}));
  return Answers(impl);
}

}  // namespace decide

const std::vector<Answer>& Answers::list() const { return impl_->list; }
size_t Answers::input_tokens() const { return impl_->request.input_tokens; }
size_t Answers::output_tokens() const { return impl_->output_tokens; }

std::string Answers::ToJson(const Rounding& rounding, bool one_line,
                            const std::optional<std::string>& id) const {
  Value usage = Value::Object();
  usage.Add("input_tokens", Value::Integer(static_cast<int64_t>(input_tokens())));
  usage.Add("output_tokens", Value::Integer(static_cast<int64_t>(output_tokens())));
  Value root = Value::Object();
  if (id) root.Add("id", Value::String(*id));
  root.Add("model", Value::String(impl_->model));
  root.Add("answers", AnswersJson(*impl_, rounding));
  root.Add("usage", std::move(usage));
  return one_line ? json::PrintCompact(root) : json::PrintPython(root);
}

std::vector<std::string> Answers::TraceLines(const std::string& id) const {
  std::vector<std::string> lines;
  for (size_t q = 0; q < impl_->results.size(); ++q) lines.push_back(TraceLine(q, id));
  return lines;
}

std::string Answers::TraceLine(size_t question, const std::string& id) const {
  return json::PrintCompact(TraceJson(id, *impl_, impl_->request,
                                      impl_->request.questions.at(question),
                                      impl_->results.at(question)));
}

}  // namespace assay

#include "families/kev/texts.h"

namespace assay::families::kev {

Texts::Texts(text::Tokenizer tokenizer, const TextOptions& options, const std::string& file)
    : rows_(std::move(tokenizer), options.limits, file), read_{options.date_facts} {}

EncodedRequest Texts::Encode(const json::Value& request) const {
  const Request read = ReadRequest(request, read_);
  EncodedRequest out;
  out.trunk_ids = rows_.State(read.state);
  out.input_tokens = out.trunk_ids.size();
  out.model = read.model;
  for (const Question& question : read.questions) {
    Branch branch = rows_.BranchOf(question, out.trunk_ids.size());
    out.input_tokens += branch.ids.size();
    EncodedQuestion encoded;
    encoded.name = question.name;
    encoded.kind = KindName(question.kind);
    encoded.ids = std::move(branch.ids);
    encoded.wanted = std::move(branch.marks);
    encoded.wanted.push_back(branch.decide);
    encoded.options = question.keys;
    if (question.kind == Kind::kScore) {
      for (const std::string& level : question.options)
        encoded.legend.push_back(json::Value::String(level));
    }
    out.questions.push_back(std::move(encoded));
  }
  return out;
}

std::vector<int32_t> Texts::EncodeState(const json::Value& request) const {
  return rows_.State(ReadState(request, read_));
}

size_t Texts::OutputTokens(const json::Value& answers) const {
  return rows_.tokenizer().Encode(json::PrintPythonAscii(answers)).size();
}

}  // namespace assay::families::kev

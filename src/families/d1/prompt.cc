#include "families/d1/prompt.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay::families::d1 {
namespace {

std::string OptionText(const Choice& choice) {
  if (!choice.description.empty()) return choice.description;
  std::string text = choice.label;
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

std::string ChoiceBlock(const Question& question, const std::vector<std::string>& codes) {
  std::string block = question.instructions + "\n\nOptions:";
  for (size_t i = 0; i < question.choices.size(); ++i) {
    block += fmt::format("\n{} {}", codes[i], OptionText(question.choices[i]));
  }
  return block + "\n\nReply with the option code only.";
}

std::string NoulBlock(const Question& question) {
  std::string block = question.instructions;
  if (question.yes) block += fmt::format("\nYes: {}\nNo: {}", *question.yes, *question.no);
  return block + "\n\nReply with yes or no only.";
}

std::string ScoreBlock(const Question& question) {
  std::string block = question.instructions + "\n";
  for (size_t i = 0; i < question.levels.size(); ++i)
    block += fmt::format("\n{} {}", i, question.levels[i]);
  return block +
         fmt::format("\n\nReply with a single digit 0-{} only.", question.levels.size() - 1);
}

}  // namespace

std::string PrefixText(const std::optional<std::string>& state) {
  const std::string start = "<|startoftext|><|im_start|>user\n";
  return state ? start + *state + "\n\n\nQUESTION:\n" : start;
}

std::string SuffixText(const Question& question, const std::vector<std::string>& codes) {
  std::string block;
  switch (question.kind) {
    case Kind::kChoice: block = ChoiceBlock(question, codes); break;
    case Kind::kNoul: block = NoulBlock(question); break;
    case Kind::kScore: block = ScoreBlock(question); break;
  }
  return block + "<|im_end|>\n<|im_start|>assistant\n";
}

}  // namespace assay::families::d1

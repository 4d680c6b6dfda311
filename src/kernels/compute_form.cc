#include "kernels/compute_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "assay/error.h"

namespace assay::kernels {
namespace {

struct FormRow {
  ComputeForm form;
  std::string_view name;
  size_t terms;
};

constexpr FormRow kForms[] = {
    {ComputeForm::kF32, "f32", 0},
    {ComputeForm::kBf16x3, "bf16x3", 3},
    {ComputeForm::kBf16x2, "bf16x2", 2},
    {ComputeForm::kBf16, "bf16", 1},
};

const FormRow& RowOf(ComputeForm form) { return *std::ranges::find(kForms, form, &FormRow::form); }

std::string NamesOf(const std::vector<ComputeForm>& forms) {
  std::string out = "auto";
  for (const ComputeForm form : forms) out += fmt::format(", {}", ComputeFormName(form));
  return out;
}

ComputeForm AutoForm() {
  return RunningLevel() == CpuLevel::kAmx ? ComputeForm::kBf16x3 : ComputeForm::kF32;
}

}  // namespace

std::string_view ComputeFormName(ComputeForm form) { return RowOf(form).name; }
size_t TermsOf(ComputeForm form) { return RowOf(form).terms; }

std::vector<ComputeForm> AvailableForms() {
  std::vector<ComputeForm> out;
  for (const FormRow& row : kForms) {
    if (row.terms == 0 || Bf16UnitOf(RunningLevel()) != nullptr) out.push_back(row.form);
  }
  return out;
}

Compute ChooseCompute(std::string_view name) {
  const auto* row = std::ranges::find(kForms, name == "auto" ? ComputeFormName(AutoForm()) : name,
                                      &FormRow::name);
  if (row == std::end(kForms)) {
    throw Error(ErrorKind::kUsage, "--compute", fmt::format("no compute form is called '{}'", name),
                fmt::format("one of: {}", NamesOf(AvailableForms())));
  }
  if (row->terms == 0) return {};
  const Bf16Unit* unit = Bf16UnitOf(RunningLevel());
  if (unit == nullptr) {
    throw Error(ErrorKind::kUsage, "--compute",
                fmt::format("this CPU has no bf16 multiply unit for '{}' at level {}", name,
                            CpuLevelName(RunningLevel())),
                fmt::format("one of: {}", NamesOf(AvailableForms())));
  }
  return {row->form, unit};
}

}  // namespace assay::kernels

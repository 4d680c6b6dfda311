#include "cli/load_options.h"

#include "cli/usage.h"

namespace assay::cli {

std::vector<CLI::Option*> AddLoadOptions(CLI::App& command, LoadOptions& options) {
  CLI::Option* base = command.add_option("--base", options.base,
                                         "kev: folder of the base model (looked for in MODEL/base, "
                                         "beside MODEL and in the Hugging Face cache)");
  base->type_name("FOLDER");
  RequireText(*base, "the folder of the base model");
  return {
      command.add_option("--compute", options.compute,
                         "how linear layers multiply: auto (the default: bf16x3 with AMX, else "
                         "f32), f32, bf16x3, bf16x2 or bf16"),
      base,
      command.add_option("--merge", options.merge,
                         "kev: adapter beside the weights (none, the default), or put into "
                         "weights of f32 or bf16 (rounded)"),
      command.add_option("--delta", options.delta,
                         "kev: form of the delta rule: fused (the default), step, or chunk16 to "
                         "chunk128"),
      AddSwitch(command, "--date-facts", options.date_facts,
                "kev: add to the state what its dates are to each other")};
}

}  // namespace assay::cli

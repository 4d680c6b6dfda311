// assay inspect: what a model folder holds.
#include <unistd.h>

#include <memory>

#include "assay/model.h"
#include "cli/commands.h"
#include "cli/load_options.h"
#include "cli/output.h"
#include "cli/usage.h"

namespace assay::cli {
namespace {

struct InspectArguments {
  std::string model;
  bool hashes = false;
  bool json = false;
  LoadOptions load;
};

}  // namespace

void AddInspect(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<InspectArguments>();
  CLI::App* command = app.add_subcommand("inspect", "Say what a model folder holds");
  RequireText(*command->add_option("MODEL", arguments->model, "model folder")
                   ->required()
                   ->type_name("FOLDER"),
              "the folder of a model");
  AddSwitch(*command, "--hashes", arguments->hashes,
            "also the sha256 of every weight file (reads them whole)");
  AddSwitch(*command, "--json", arguments->json, "print JSON (the default unless on a terminal)");
  AddLoadOptions(*command, arguments->load);
  command->callback([arguments, &exit_code] {
    const Model model = Model::Load(arguments->model, arguments->load);
    const bool json = arguments->json || isatty(STDOUT_FILENO) == 0;
    std::string text =
        json ? model.DescribeJson(arguments->hashes) + "\n" : model.DescribeText(arguments->hashes);
    WriteText(STDOUT_FILENO, "standard output", text);
    exit_code = 0;
  });
}

}  // namespace assay::cli

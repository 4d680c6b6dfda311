// The commands of the program, one source file each. Each adds itself to the command line and runs
// when it is called.
#pragma once

#include <CLI/CLI.hpp>

namespace assay::cli {

void AddBench(CLI::App& app, int& exit_code);
void AddCache(CLI::App& app, int& exit_code);
void AddDecide(CLI::App& app, int& exit_code);
void AddInspect(CLI::App& app, int& exit_code);

}  // namespace assay::cli

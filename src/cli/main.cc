// The program: reads the command line, runs one command, turns errors into a line and an exit code.
#include <fcntl.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string_view>

#include "assay/error.h"
#include "assay/model.h"
#include "assay/version.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/usage.h"

namespace assay::cli {
namespace {

int Report(const Error& error, bool json) {
  if (json) WriteLine(STDOUT_FILENO, "standard output", ErrorJson(error));
  WriteError(error.what());
  return ExitCode(error.kind());
}

// A mapped model file that somebody cuts while it is read ends the process here: with a line and an
// exit code.
void OnBusError(int /*signal*/) {
  constexpr char kLine[] =
      "assay: a model file was cut while it was in use (load the model again)\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kLine, sizeof kLine - 1);
  _exit(ExitCode(ErrorKind::kModel));
}

// A standard stream that is closed would lend its number to the next file that is opened, and
// answers would be written into that. In its place comes one that is empty and cannot be written.
void KeepStandardStreams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) != -1 || errno != EBADF) continue;
    if (open("/dev/null", O_RDONLY) != stream) _exit(ExitCode(ErrorKind::kFile));
  }
}

// True when the caller wants errors as JSON too; asked before the command line is known to be
// sound.
bool WantsJson(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word(argv[i]);
    if (word == "--json" || word == "--json=true") return true;
  }
  return false;
}

// Left to itself the parser says of a mistyped command only that one is missing.
void RequireKnownCommand(const CLI::App& app, int argc, char** argv) {
  if (argc > 1 && argv[1][0] == '-' && app.get_option_no_throw(argv[1]) != nullptr) return;
  std::string names;
  for (const CLI::App* command : app.get_subcommands({})) {
    if (argc > 1 && command->get_name() == argv[1]) return;
    names += (names.empty() ? "" : ", ") + command->get_name();
  }
  throw Error(ErrorKind::kUsage, "command line",
              argc > 1 ? "'" + OneLine(argv[1], 60) + "' is not a command" : "no command is given",
              "one of: " + names + "; assay --help says more");
}

int Run(int argc, char** argv) {
  CLI::App app("Runs open System One decision models on ordinary CPUs.", "assay");
  app.set_version_flag("--version", std::string("assay ") + kVersion);
  app.require_subcommand(1);
  int exit_code = 0;
  AddDecide(app, exit_code);
  AddInspect(app, exit_code);
  AddBench(app, exit_code);
  AddCache(app, exit_code);
  RequireKnownCommand(app, argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    WriteText(STDOUT_FILENO, "standard output", app.help());
    return 0;
  } catch (const CLI::CallForVersion& version) {
    WriteLine(STDOUT_FILENO, "standard output", version.what());
    return 0;
  } catch (const CLI::ParseError& error) {
    throw UsageError(app, error);
  }
  return exit_code;
}

}  // namespace
}  // namespace assay::cli

int main(int argc, char** argv) {
  // A closed pipe is an error of the write, with a line and an exit code, not a silent death.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file past the limit on file sizes: the same
  std::signal(SIGBUS, assay::cli::OnBusError);
  assay::cli::KeepStandardStreams();
  const bool json = assay::cli::WantsJson(argc, argv);
  try {
    const char* level = std::getenv("ASSAY_CPU");
    assay::SelectCpuLevel(level == nullptr ? "" : level);
    return assay::cli::Run(argc, argv);
  } catch (const assay::Error& error) {
    try {
      return assay::cli::Report(error, json);
    } catch (const assay::Error& second) {
      assay::cli::WriteError(second.what());
      return assay::ExitCode(second.kind());
    }
  } catch (const std::bad_alloc&) {
    assay::cli::WriteError("out of memory");
    return assay::ExitCode(assay::ErrorKind::kModel);
  } catch (const std::exception& error) {
    assay::cli::WriteError(error.what());
    return assay::ExitCode(assay::ErrorKind::kUsage);
  }
}

// assay bench: how fast a model runs here, and how that compares with what the machine can do.
#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>

#include "assay/bench.h"
#include "base/file.h"
#include "cli/commands.h"
#include "cli/counts.h"
#include "cli/limits.h"
#include "cli/line_reader.h"
#include "cli/load_options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/usage.h"

namespace assay::cli {
namespace {

constexpr size_t kMaxRepeats = 1'000'000;
constexpr size_t kProgressSteps = 1000;

struct BenchArguments {
  std::string model;
  std::optional<std::string> tokens;
  std::optional<std::string> questions;
  std::optional<std::string> state;
  std::optional<std::string> question_tokens;
  std::optional<std::string> repeats;
  std::optional<std::string> max_row;
  std::string out;
  std::vector<std::string> compare;
  bool json = false;
  bool from_stdin = false;
  BenchOptions options;
};

size_t ParseCount(const std::string& option, const std::string& value) {
  const std::vector<size_t> counts = ParseCounts(option, value);
  if (counts.size() == 1) return counts[0];
  throw Error(ErrorKind::kUsage, option, "is not one number", "a whole number of 1 or more");
}

BenchOptions OptionsOf(const BenchArguments& arguments) {
  BenchOptions options = arguments.options;
  const auto count = [](const std::string& option, const std::optional<std::string>& value,
                        size_t& into) {
    if (value) into = ParseCount(option, *value);
  };
  if (arguments.tokens) options.tokens = ParseCounts("--tokens", *arguments.tokens);
  if (arguments.questions) options.questions = ParseCounts("--questions", *arguments.questions);
  if (arguments.state) options.state = ParseCount("--state", *arguments.state);
  count("--question-tokens", arguments.question_tokens, options.question_tokens);
  count("--max-row", arguments.max_row, options.load.max_row);
  count("--repeats", arguments.repeats, options.repeats);
  if (options.repeats > kMaxRepeats) {
    throw Error(ErrorKind::kUsage, "--repeats", fmt::format("{} are too many", options.repeats),
                fmt::format("at most {}", kMaxRepeats));
  }
  return options;
}

// The work may take minutes: a name that cannot be written is said before it.
void RefuseBadOut(const BenchArguments& arguments) {
  if (arguments.out.empty()) return;
  const std::filesystem::path path(arguments.out);
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw Error(ErrorKind::kFile, arguments.out, "is a folder", "name a file");
  if (path.has_parent_path() && !std::filesystem::is_directory(path.parent_path(), ignored)) {
    throw Error(ErrorKind::kFile, arguments.out, "cannot be made: its folder does not exist",
                "name a file in a folder that exists");
  }
  for (const std::string& input : arguments.compare) {
    if (std::filesystem::equivalent(path, input, ignored))
      throw Error(ErrorKind::kUsage, "--out", "names a file that is read", "another file");
  }
}

void CheckArguments(const BenchArguments& arguments) {
  const bool compares = !arguments.compare.empty();
  if (compares == !arguments.model.empty()) {
    throw Error(ErrorKind::kUsage, compares ? "--compare" : "MODEL",
                compares ? "reads reports and measures no MODEL" : "is missing",
                "assay bench MODEL, or assay bench --compare A.json B.json");
  }
  RefuseBadOut(arguments);
}

// Printed first: a disk that is full by now costs the file, not the figures.
void Print(const BenchReport& report, const BenchArguments& arguments) {
  const bool json = arguments.json || isatty(STDOUT_FILENO) == 0;
  WriteText(STDOUT_FILENO, "standard output", json ? report.json + "\n" : report.text);
  if (arguments.out.empty()) return;
  OutputFile out(arguments.out);
  out.Line(report.json);
  out.Close();
}

BenchReport Compare(const std::vector<std::string>& names) {
  const auto read = [](const std::string& name) {
    return BenchFile{name, ReadFile(name, ErrorKind::kFile, kMaxRequestBytes)};
  };
  return CompareBench(read(names[0]), read(names[1]));
}

BenchReport Measure(const BenchArguments& arguments) {
  BenchOptions options = OptionsOf(arguments);
  Progress progress(kProgressSteps, isatty(STDERR_FILENO) == 1);
  options.progress = [&progress](double share, const std::string& note) {
    progress.Update(static_cast<size_t>(std::lround(share * kProgressSteps)), note);
  };
  return RunBench(arguments.model, options);
}

// Each line is measured when it comes, and its time is written before the next one is read.
int Serve(const BenchArguments& arguments) {
  const BenchServer server(arguments.model, OptionsOf(arguments));
  LineReader reader(STDIN_FILENO, "standard input", kMaxRequestBytes);
  WriteLine(STDOUT_FILENO, "standard output", server.ReadyLine());
  size_t refused = 0;
  size_t lines = 0;
  for (; const std::optional<Line> line = reader.Next(); ++lines) {
    std::string answer;
    try {
      if (line->too_long)
        throw Error(ErrorKind::kRequest, "line",
                    fmt::format("has more than {} bytes", kMaxRequestBytes), "shorter lines");
      answer = server.Run(line->text);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kRequest) throw;
      answer = ErrorJson(error);
      ++refused;
    }
    WriteLine(STDOUT_FILENO, "standard output", answer);
  }
  if (refused == 0) return 0;
  WriteError(fmt::format("standard input: {} of {} lines were refused", refused, lines));
  return ExitCode(ErrorKind::kRequest);
}

int Bench(const BenchArguments& arguments) {
  CheckArguments(arguments);
  if (arguments.from_stdin) return Serve(arguments);
  Print(arguments.compare.empty() ? Measure(arguments) : Compare(arguments.compare), arguments);
  return 0;
}

}  // namespace

void AddBench(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<BenchArguments>();
  CLI::App* command =
      app.add_subcommand("bench", "Measure speed and memory, as shares of what the machine can do");
  command->add_option("MODEL", arguments->model, "model folder");
  const std::vector<CLI::Option*> of_reports = {
      command->add_option("--tokens", arguments->tokens,
                          "lengths of single rows (16,39,64,94,128,256,402), or none"),
      command->add_option("--questions", arguments->questions,
                          "numbers of questions about one state (1,5,20), or none"),
      command->add_option("--repeats", arguments->repeats,
                          "calls of each that count (about a second's worth, at least 5)")};
  std::vector<CLI::Option*> of_models = {
      command->add_option("--state", arguments->state,
                          "tokens of that state (1500, or as many as the row limit leaves)"),
      command->add_option("--question-tokens", arguments->question_tokens,
                          "tokens of each question (20)"),
      command->add_option("--window", arguments->options.window,
                          "name of this window; reports of one window can be compared"),
      command->add_option("--max-row", arguments->max_row, "longest row in tokens"),
      AddCount(*command, "--threads", kMaxThreads, arguments->options.load.threads,
               "threads (0: one per physical core that may be used)")};
  const std::vector<CLI::Option*> of_load = AddLoadOptions(*command, arguments->options.load);
  of_models.insert(of_models.end(), of_load.begin(), of_load.end());
  AddSwitch(*command, "--json", arguments->json, "print JSON (the default unless on a terminal)");
  CLI::Option* out =
      command->add_option("--out", arguments->out, "also write the JSON to this file");
  CLI::Option* from_stdin =
      AddSwitch(*command, "--stdin", arguments->from_stdin,
                "measure what each line of standard input asks for, one time a line");
  CLI::Option* compare =
      command->add_option("--compare", arguments->compare, "ratios of the medians of two reports")
          ->expected(2);
  for (CLI::Option* option : of_reports) from_stdin->excludes(option), compare->excludes(option);
  for (CLI::Option* option : of_models) compare->excludes(option);
  from_stdin->excludes(out);
  compare->excludes(from_stdin);
  command->callback([arguments, &exit_code] { exit_code = Bench(*arguments); });
}

}  // namespace assay::cli

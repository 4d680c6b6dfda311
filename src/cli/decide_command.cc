// assay decide: answers one request, or a file of them.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <variant>

#include "assay/model.h"
#include "base/file.h"
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/limits.h"
#include "cli/line_batch.h"
#include "cli/line_reader.h"
#include "cli/load_options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/table.h"
#include "cli/usage.h"

namespace assay::cli {
namespace {

struct DecideArguments {
  std::string model;
  std::string request;  // a file, "-", or empty when the question comes from options
  AskOptions ask;
  std::vector<std::string> pictures;
  bool json = false;
  bool table = false;
  bool lines = false;
  std::string trace;
  std::string prepare;
  std::string session;
  std::string round = "none";
  std::string dialect = "host";
  size_t chunk = 0;
  LoadOptions load;
};

Rounding ParseRounding(const std::string& text) {
  if (text == "none") return {};
  if (text == "kev") return {Rounding::Mode::kKev, 0};
  int digits = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), digits);
  if (error != std::errc() || end != text.data() + text.size() || digits < 0 || digits > 17) {
    throw Error(ErrorKind::kUsage, "--round", fmt::format("'{}' is no rounding", OneLine(text, 40)),
                "none, kev, or a number of decimals from 0 to 17");
  }
  return {Rounding::Mode::kDigits, digits};
}

Dialect ParseDialect(const std::string& text) {
  if (text == "host") return Dialect::kHost;
  if (text == "wire") return Dialect::kWire;
  throw Error(ErrorKind::kUsage, "--dialect", fmt::format("'{}' is no dialect", OneLine(text, 40)),
              "host or wire");
}

bool LocaleIsUtf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    const std::string_view text(value);
    return text.find("UTF-8") != text.npos || text.find("utf8") != text.npos;
  }
  return false;
}

TableStyle StyleOfTerminal() {
  TableStyle style;
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20) style.width = size.ws_col;
  style.unicode = LocaleIsUtf8();
  return style;
}

// How answers leave the program: a table for people, or JSON.
class Printer {
 public:
  explicit Printer(const DecideArguments& arguments)
      : table_(arguments.table ||
               (!arguments.json && !arguments.lines && isatty(STDOUT_FILENO) == 1)),
        one_line_(arguments.lines),
        rounding_(ParseRounding(arguments.round)),
        style_(StyleOfTerminal()) {
    if (!arguments.trace.empty()) trace_ = std::make_unique<OutputFile>(arguments.trace);
  }

  void Print(const Answers& answers, const std::string& title,
             const std::optional<std::string>& id) {
    if (table_) {
      WriteText(STDOUT_FILENO, "standard output", AnswerTable(answers, title, style_));
    } else {
      WriteLine(STDOUT_FILENO, "standard output", answers.ToJson(rounding_, one_line_, id));
    }
    if (trace_ == nullptr) return;
    for (size_t q = 0; q < answers.list().size(); ++q)
      trace_->Line(answers.TraceLine(q, id.value_or("1")));
  }

  void PrintRefusal(const Error& error, const std::string& id) {
    const std::string line = table_ ? fmt::format("{}  refused: {}", OneLine(id, 60), error.what())
                                    : ErrorJson(error, id);
    WriteLine(STDOUT_FILENO, "standard output", line);
  }

  void Finish() {
    if (trace_ != nullptr) trace_->Close();
  }

 private:
  bool table_;
  bool one_line_;
  Rounding rounding_;
  TableStyle style_;
  std::unique_ptr<OutputFile> trace_;
};

// An open input: standard input or a file.
class Input {
 public:
  explicit Input(const std::string& name) : name_(name == "-" ? "standard input" : name) {
    if (name == "-") {
      descriptor_ = STDIN_FILENO;
      return;
    }
    descriptor_ = open(name.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status{};
    if (descriptor_ < 0 || fstat(descriptor_, &status) != 0) {
      const int reason = errno;
      throw Error(
          ErrorKind::kFile, name,
          reason == ENOENT ? "no such file" : fmt::format("cannot be opened: {}", strerror(reason)),
          "a file of requests, or - for standard input");
    }
    if (S_ISDIR(status.st_mode))
      throw Error(ErrorKind::kFile, name, "is a folder", "a file of requests");
    bytes_ = S_ISREG(status.st_mode) ? static_cast<size_t>(status.st_size) : 0;
  }
  ~Input() {
    if (descriptor_ > STDIN_FILENO) close(descriptor_);
  }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  int descriptor() const { return descriptor_; }
  const std::string& name() const { return name_; }
  size_t bytes() const { return bytes_; }  // 0 when it cannot be known

 private:
  std::string name_;
  int descriptor_ = -1;
  size_t bytes_ = 0;
};

int DecideLines(const Model& model, const DecideArguments& arguments,
                const DecideOptions& options) {
  const Input input(arguments.request);
  LineReader reader(input.descriptor(), input.name(), kMaxRequestBytes);
  Printer printer(arguments);
  // A bar between lines of output would only tear them: it shows when the answers go elsewhere.
  Progress progress(input.bytes(), isatty(STDERR_FILENO) == 1 && isatty(STDOUT_FILENO) == 0);
  size_t answered = 0;
  size_t refused = 0;
  bool first_is_cut = false;
  LineBatch batch;
  while (batch.Read(reader)) {
    batch.Answer(model, options,
                 [&](const std::string& id, size_t end, const Model::Outcome& outcome) {
                   if (const auto* answers = std::get_if<Answers>(&outcome)) {
                     printer.Print(*answers, id, id);
                     ++answered;
                   } else {
                     const Error& error = std::get<Error>(outcome);
                     printer.PrintRefusal(error, id);
                     first_is_cut |= answered + refused == 0 && IsNoJson(error);
                     ++refused;
                   }
                   progress.Update(end, fmt::format("{} answered, {} refused", answered, refused));
                 });
  }
  progress.Finish();
  printer.Finish();
  if (refused == 0) return 0;
  // A request printed over many lines: none of them is one.
  const bool one_request = first_is_cut && answered == 0 && refused > 1;
  WriteError(Error(ErrorKind::kRequest, input.name(),
                   fmt::format("{} of {} lines were refused", refused, answered + refused),
                   one_request ? "each line must be one whole request; a file of one request goes "
                                 "without --lines"
                               : "")
                 .what());
  return ExitCode(ErrorKind::kRequest);
}

// A file of one request a line, given without --lines, fails where its second request starts.
bool FirstLineIsARequest(const std::string& text) {
  const size_t feed = text.find('\n');
  if (feed == std::string::npos) return false;
  try {
    Request::Parse(std::string_view(text).substr(0, feed));
    return true;
  } catch (const Error&) {
    return false;
  }
}

Request ReadRequest(const DecideArguments& arguments) {
  if (arguments.request.empty()) return RequestFromOptions(arguments.ask);
  const Input input(arguments.request);
  const std::string text =
      ReadDescriptor(input.descriptor(), input.name(), ErrorKind::kFile, kMaxRequestBytes);
  try {
    return Request::Parse(text, input.name());
  } catch (const Error& error) {
    if (!FirstLineIsARequest(text)) throw;
    throw Error(error.kind(), error.where(), error.message(),
                "one request; a file of one request a line goes with --lines");
  }
}

// Writing the trace would empty the file before it is read.
void RefuseTraceOverInput(const DecideArguments& arguments) {
  for (const std::string& input : {arguments.request, arguments.ask.state}) {
    std::error_code ignored;
    if (arguments.trace.empty() || input.empty() ||
        !std::filesystem::equivalent(arguments.trace, input, ignored)) {
      continue;
    }
    throw Error(ErrorKind::kUsage, "--trace", "names the file that is read", "another file");
  }
}

void CheckArguments(const DecideArguments& arguments) {
  const bool options_ask = arguments.ask.any_question() || arguments.ask.has_state;
  if (!arguments.request.empty() && options_ask) {
    throw Error(ErrorKind::kUsage, "command line",
                "there is a request file, and also --state, --noul, --choice or --score",
                "a file, or options that ask");
  }
  if (arguments.request.empty() && !arguments.ask.any_question()) {
    throw Error(ErrorKind::kUsage, "command line", "nothing is asked",
                "a request file, - for standard input, or --noul, --choice or --score");
  }
  if (arguments.lines && arguments.request.empty()) {
    throw Error(ErrorKind::kUsage, "--lines", "goes with a file of requests",
                "a file, or - for standard input");
  }
  if (arguments.json && arguments.table) {
    throw Error(ErrorKind::kUsage, "command line", "--json and --table exclude each other",
                "one of them");
  }
  if (!arguments.pictures.empty()) {
    throw Error(ErrorKind::kRequest, "--picture", "this version answers text requests only",
                "ask without pictures");
  }
  if (!arguments.prepare.empty() && (arguments.lines || !arguments.session.empty())) {
    throw Error(ErrorKind::kUsage, "--prepare", "goes with one request, and without --session",
                "a request file, or options that ask");
  }
  if (!arguments.session.empty() && arguments.lines) {
    throw Error(ErrorKind::kUsage, "--session", "goes with one request", "no --lines");
  }
  RefuseTraceOverInput(arguments);
}

// Answers the request, behind a prepared state where one is given or asked for.
Answers DecideOne(const Model& model, const Request& request, const DecideArguments& arguments,
                  const DecideOptions& options) {
  if (!arguments.session.empty())
    return model.LoadSession(arguments.session).Decide(request, options);
  if (arguments.prepare.empty()) return model.Decide(request, options);
  const Session session = model.Prepare(request, options);
  session.Save(arguments.prepare);
  return session.Decide(request, options);
}

int Decide(const DecideArguments& arguments) {
  CheckArguments(arguments);
  ParseRounding(arguments.round);
  DecideOptions options;
  options.dialect = ParseDialect(arguments.dialect);
  options.chunk = arguments.chunk;
  if (arguments.lines)
    return DecideLines(Model::Load(arguments.model, arguments.load), arguments, options);
  const Request request = ReadRequest(arguments);
  const Model model = Model::Load(arguments.model, arguments.load);
  Printer printer(arguments);
  const std::string title = arguments.request == "-" ? "" : arguments.request;
  const std::optional<std::string> id = request.Id();
  printer.Print(DecideOne(model, request, arguments, options), title, id);
  printer.Finish();
  return 0;
}

}  // namespace

void AddDecide(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<DecideArguments>();
  CLI::App* command =
      app.add_subcommand("decide", "Answer a request: a probability for every allowed answer");
  RequireText(*command->add_option("MODEL", arguments->model, "model folder")
                   ->required()
                   ->type_name("FOLDER"),
              "the folder of a model");
  RequireText(*command
                   ->add_option("REQUEST", arguments->request,
                                "request file (JSON), or - for standard input")
                   ->type_name("FILE"),
              "a file of requests, or - for standard input");
  command
      ->add_option_function<std::string>(
          "--state",
          [arguments](const std::string& value) {
            arguments->ask.state = value;
            arguments->ask.has_state = true;
          },
          "what the questions are about: an existing file is read (.json as JSON); an existing "
          "folder is refused, and so is a missing .json or .txt; anything else is the text")
      ->type_name("FILE|TEXT");
  command->add_option("--noul", arguments->ask.nouls, "a yes/no question")->allow_extra_args(false);
  command->add_option("--choice", arguments->ask.choices, "\"QUESTION=option,option,...\"")
      ->allow_extra_args(false);
  command->add_option("--score", arguments->ask.scores, "\"QUESTION=lowest,...,highest\"")
      ->allow_extra_args(false);
  command
      ->add_option(
          "--picture", arguments->pictures,
          "a picture file (pictures are not supported yet: a request with pictures is refused)")
      ->allow_extra_args(false)
      ->type_name("FILE");
  AddSwitch(*command, "--json", arguments->json, "print JSON (the default unless on a terminal)");
  AddSwitch(*command, "--table", arguments->table, "print a table (the default on a terminal)");
  AddSwitch(*command, "--lines", arguments->lines,
            "REQUEST holds one request a line; answers come one a line (a progress bar shows on "
            "standard error when that is a terminal and standard output is not)");
  RequireText(*command
                   ->add_option("--trace", arguments->trace,
                                "write ids, scores and probabilities to this file (JSON Lines)")
                   ->type_name("FILE"),
              "the name of a file to write");
  RequireText(*command
                   ->add_option("--prepare", arguments->prepare,
                                "also save what the request's state leaves behind to this file")
                   ->type_name("FILE"),
              "the name of a file to write");
  RequireText(
      *command
           ->add_option("--session", arguments->session,
                        "start behind the state in this file, which --prepare wrote; another "
                        "state is run from its start")
           ->type_name("FILE"),
      "a file that --prepare wrote");
  command->add_option(
      "--round", arguments->round,
      "none (the default: all digits), kev (to fp32, then four decimals), or a number of decimals");
  command->add_option(
      "--dialect", arguments->dialect,
      "whose request rules: host (the default: the maker's code) or wire (the hosted service)");
  AddCount(*command, "--chunk", kMaxCount, arguments->chunk,
           "rows per pass of a sequence (0: as many as fit)");
  AddCount(*command, "--max-row", kMaxCount, arguments->load.max_row,
           "longest row in tokens (0: the family's limit)");
  AddLoadOptions(*command, arguments->load);
  AddCount(*command, "--threads", kMaxThreads, arguments->load.threads,
           "threads (0: one per physical core that may be used)");
  command->callback([arguments, &exit_code] { exit_code = Decide(*arguments); });
}

}  // namespace assay::cli

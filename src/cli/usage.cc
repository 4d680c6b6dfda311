#include "cli/usage.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay::cli {
namespace {

bool IsOption(const std::string& word) { return word.size() > 1 && word[0] == '-'; }

// Words that the command has no use for: an option that does not exist, else an argument.
Error UnknownWord(const std::string& command, const std::vector<std::string>& words) {
  const auto option = std::find_if(words.begin(), words.end(), IsOption);
  if (option != words.end()) {
    return Error(ErrorKind::kUsage, "command line",
                 fmt::format("{} has no option '{}'", command, OneLine(*option, 60)),
                 fmt::format("assay {} --help lists them", command));
  }
  return Error(ErrorKind::kUsage, "command line",
               fmt::format("'{}' is one argument too many", OneLine(words.front(), 60)),
               fmt::format("assay {} --help shows what it takes; a text with spaces goes in quotes",
                           command));
}

// The command that was being read: "cache list" is two.
const CLI::App& LastCommand(const CLI::App& app) {
  const std::vector<CLI::App*> commands = app.get_subcommands();
  return commands.empty() ? app : LastCommand(*commands.front());
}

// As it is typed after the program's name.
std::string NameOf(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  const bool nested = parent != nullptr && parent->get_parent() != nullptr;
  return nested ? parent->get_name() + " " + command.get_name() : command.get_name();
}

// The option that an error is about: the parser says it only as the first word of its text, and of
// a flag without the dashes.
const CLI::Option* OptionOf(const CLI::App& command, const std::string& text) {
  const std::string name = text.substr(0, text.find_first_of(": "));
  const CLI::Option* option = command.get_option_no_throw(name);
  return option != nullptr ? option : command.get_option_no_throw("--" + name);
}

Error WrongCount(const CLI::Option& option) {
  const std::string& name = option.get_name();
  if (option.get_items_expected_max() == 0) {
    return Error(ErrorKind::kUsage, name, "takes no value", fmt::format("{} alone", name));
  }
  if (option.count() > 1) {
    return Error(ErrorKind::kUsage, name, "is given twice", "once is enough");
  }
  return Error(ErrorKind::kUsage, name, "has no value", option.get_description());
}

size_t ParseCount(const std::string& name, const std::string& text, size_t max) {
  const std::string hint = fmt::format("0 to {}", max);
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos) {
    throw Error(ErrorKind::kUsage, name,
                fmt::format("'{}' is not a whole number", OneLine(text, 40)), hint);
  }
  size_t value = 0;
  for (const char digit : text) {
    value = value * 10 + static_cast<size_t>(digit - '0');
    if (value > max) {
      throw Error(ErrorKind::kUsage, name, fmt::format("{} is too large", OneLine(text, 40)), hint);
    }
  }
  return value;
}

}  // namespace

Error UsageError(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = LastCommand(app);
  const std::vector<std::string> unknown = command.remaining();
  const bool missing = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  // An option that nobody knows explains more than what is missing because of it.
  if (!unknown.empty() && (!missing || std::any_of(unknown.begin(), unknown.end(), IsOption))) {
    return UnknownWord(NameOf(command), unknown);
  }
  if (missing && !command.get_subcommands({}).empty()) {
    std::string names;
    for (const CLI::App* action : command.get_subcommands({}))
      names += (names.empty() ? "" : " or ") + action->get_name();
    return Error(ErrorKind::kUsage, "command line",
                 fmt::format("{} is not told what to do", NameOf(command)), names);
  }
  if (missing) {
    return Error(ErrorKind::kUsage, "MODEL", "is missing",
                 fmt::format("assay {} --help shows what it takes", NameOf(command)));
  }
  const CLI::Option* option = OptionOf(command, error.what());
  if (option != nullptr && dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    return WrongCount(*option);
  }
  return Error(ErrorKind::kUsage, "command line", error.what(),
               fmt::format("assay {} --help shows what it takes", NameOf(command)));
}

CLI::Option* AddCount(CLI::App& command, const std::string& name, size_t max, size_t& value,
                      const std::string& description) {
  return command
      .add_option_function<std::string>(
          name,
          [&value, name, max](const std::string& text) { value = ParseCount(name, text, max); },
          description)
      ->type_name("NUMBER");
}

CLI::Option* AddSwitch(CLI::App& command, const std::string& name, bool& value,
                       const std::string& description) {
  return command.add_flag(name, value, description)->disable_flag_override();
}

void RequireText(CLI::Option& option, const std::string& hint) {
  option.check([name = option.get_name(), hint](const std::string& text) {
    if (text.empty()) throw Error(ErrorKind::kUsage, name, "is empty", hint);
    return std::string();
  });
}

}  // namespace assay::cli

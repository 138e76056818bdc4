//===- CommandLine.h - What both tools do with their options ----*- C++ -*-===//

#ifndef TENON_RUNTIME_TOOL_COMMANDLINE_H
#define TENON_RUNTIME_TOOL_COMMANDLINE_H

#include "runtime/Support/Console.h"
#include "runtime/Support/Progress.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace tenon::tool {

inline constexpr int ExitError = 1; ///< With one line on standard error.
inline constexpr int ExitUsage = 2; ///< The same, for wrong usage.

/// Prints the error, and answers the exit status.
inline int fail(std::string_view Message, int ExitStatus = ExitError) {
  printError(Message);
  return ExitStatus;
}

/// The exit status of a command.
inline int exitStatusOf(const Status &Done) {
  return Done ? 0 : fail(Done.error().message());
}

/// What is wrong with the arguments of `App`.
inline std::string usageError(const CLI::App &App,
                              const CLI::ParseError &Problem) {
  for (const CLI::App *Command : App.get_subcommands())
    for (const CLI::Option *Option : Command->get_options())
      if (Option->count() > 1 && Option->get_items_expected_max() == 1)
        return Option->get_name() + " is given " +
               std::to_string(Option->count()) + " times: expected it once";
  return Problem.what();
}

/// Parses the command line. An exit status when it was wrong, or --help or
/// --version, which are then printed.
inline std::optional<int> parseCommandLine(CLI::App &App, int Count,
                                           char **Values) {
  try {
    App.parse(Count, Values);
    return std::nullopt;
  } catch (const CLI::Success &Answer) {
    std::ostringstream Text;
    App.exit(Answer, Text, Text);
    // CLI11 ends no line behind a footer.
    std::string Printed = Text.str();
    if (!Printed.ends_with('\n'))
      Printed += '\n';
    return exitStatusOf(print(Printed));
  } catch (const CLI::ParseError &Failure) {
    return fail(usageError(App, Failure) + " (see --help)", ExitUsage);
  }
}

/// The option --progress; `Form` is what it is unless it is given.
inline CLI::Option *addProgressOption(CLI::App &App, ProgressForm &Form) {
  static const std::map<std::string, ProgressForm> Forms = {
      {"auto", ProgressForm::Terminal},
      {"json", ProgressForm::Json},
      {"none", ProgressForm::None}};
  return App
      .add_option_function<std::string>(
          "--progress", [&Form](const std::string &N) { Form = Forms.at(N); },
          "How progress is shown on standard error: on a terminal (auto), as "
          "JSON lines, or not at all [auto]")
      ->check(CLI::IsMember(Forms));
}

/// The values of an option that takes several joined by commas. An empty one,
/// as behind a last comma, is an error.
inline Result<std::vector<std::string>>
splitList(const std::string &Option, const std::vector<std::string> &Lists) {
  std::vector<std::string> Values;
  for (const std::string &Joined : Lists)
    for (size_t From = 0; From <= Joined.size();) {
      size_t End = std::min(Joined.find(',', From), Joined.size());
      if (End == From)
        return Error(Option + " is '" + Joined +
                     "': expected values joined by commas, none of them empty");
      Values.push_back(Joined.substr(From, End - From));
      From = End + 1;
    }
  return Values;
}

/// Accepts values of `Known` joined by commas, for splitList to take apart.
inline CLI::Validator listOf(const std::vector<std::string> &Known) {
  CLI::Validator Member = CLI::IsMember(Known);
  return {[Member](std::string &Joined) {
            Result<std::vector<std::string>> Values = splitList("it", {Joined});
            if (!Values)
              return Values.error().message();
            for (std::string &Value : *Values)
              if (std::string Wrong = Member(Value); !Wrong.empty())
                return Wrong;
            return std::string();
          },
          Member.get_description()};
}

} // namespace tenon::tool

#endif // TENON_RUNTIME_TOOL_COMMANDLINE_H

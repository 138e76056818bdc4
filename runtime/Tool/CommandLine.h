//===- CommandLine.h - What both tools do with their options ----*- C++ -*-===//

#ifndef TENON_RUNTIME_TOOL_COMMANDLINE_H
#define TENON_RUNTIME_TOOL_COMMANDLINE_H

#include "runtime/Support/Console.h"
#include "runtime/Support/Progress.h"
#include "runtime/Tool/Arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace tenon::tool {

/// The exit statuses of both tools, which their manual pages list.
inline constexpr int ExitError = 1;   ///< Of a file, or what went wrong.
inline constexpr int ExitUsage = 2;   ///< Of wrong usage.
inline constexpr int ExitDiffers = 3; ///< Of `tenon bisect`: results differ.

/// Prints the error, and answers the exit status.
inline int fail(std::string_view Message, int ExitStatus = ExitError) {
  printError(Message);
  return ExitStatus;
}

/// The exit status of a command.
inline int exitStatusOf(const Status &Done) {
  return Done ? 0 : fail(Done.error().message());
}

/// Parses the command line. An exit status when it was wrong, or --help or
/// --version, which are then printed.
std::optional<int> parseCommandLine(CLI::App &App, int Count, char **Values);

/// Parses settings that stand elsewhere, as "--NAME=VALUE" each. Errors call
/// them as they are called there: top_p.
Status parseOptions(CLI::App &App, const std::vector<std::string> &Options);

/// The options of a command, those in groups after the others.
std::vector<const CLI::Option *> optionsOf(const CLI::App &App);
/// Its own commands; to CLI11 groups of options are some, without a name.
std::vector<const CLI::App *> commandsOf(const CLI::App &App);

/// What is wrong with a word where a command of `App` is expected.
std::string unknownCommand(const CLI::App &App, const std::string &Word);

/// The type_name() of options that take any text. Others take no empty one,
/// which is no name of a file.
inline constexpr const char *AnyText = "STRING";

/// Adds such an option.
CLI::Option *addText(CLI::App &App, const std::string &Name,
                     std::optional<std::string> &Value,
                     const std::string &Help);

/// `Text` as a number of the type T, whole.
template <typename T> std::optional<T> numberOf(std::string_view Text) {
  T Number{};
  auto [End, Failure] =
      std::from_chars(Text.data(), Text.data() + Text.size(), Number);
  if (Failure != std::errc() || End != Text.data() + Text.size())
    return std::nullopt;
  return Number;
}

/// Accepts numbers of the type T that `IsGood` does.
template <typename T, typename Function>
CLI::Validator numbers(const std::string &Expected, Function IsGood) {
  return {[=](std::string &Text) {
            std::optional<T> Number = numberOf<T>(Text);
            return Number && IsGood(*Number)
                       ? std::string()
                       : "is " + Text + ": expected " + Expected;
          },
          Expected};
}

/// Accepts numbers from `Least` to `Most`.
template <typename T> CLI::Validator between(T Least, T Most) {
  std::ostringstream Expected;
  Expected << Least << " to " << Most;
  return numbers<T>(Expected.str(),
                    [=](T Value) { return Least <= Value && Value <= Most; });
}

/// Accepts numbers from `Least` on.
template <typename T> CLI::Validator atLeast(T Least) {
  std::ostringstream Expected;
  Expected << "at least " << Least;
  return numbers<T>(Expected.str(), [=](T Value) { return Least <= Value; });
}

/// Accepts numbers above 0.
inline CLI::Validator aboveZero() {
  return numbers<double>("a number above 0",
                         [](double Value) { return Value > 0; });
}

/// Accepts the words of `Known`, which completions offer.
CLI::Validator oneOf(const std::vector<std::string> &Known);

/// Accepts token ids joined by commas, and whatever file of them.
inline CLI::Validator tokenIds() {
  return {[](std::string &Text) -> std::string {
            if (Text.starts_with('@'))
              return "";
            Result<std::vector<int32_t>> Ids = parseTokens(Text, "");
            return Ids ? "" : Ids.error().message().substr(1);
          },
          ""};
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
      ->check(oneOf({"auto", "json", "none"}));
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
  CLI::Validator Member = oneOf(Known);
  return {[Member](std::string &Joined) {
            Result<std::vector<std::string>> Values = splitList("", {Joined});
            if (!Values)
              return Values.error().message().substr(1);
            for (std::string &Value : *Values)
              if (std::string Wrong = Member(Value); !Wrong.empty())
                return Wrong;
            return std::string();
          },
          Member.get_description()};
}

} // namespace tenon::tool

#endif // TENON_RUNTIME_TOOL_COMMANDLINE_H

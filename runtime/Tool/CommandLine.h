//===- CommandLine.h - What the command lines share -------------*- C++ -*-===//

#ifndef TENON_RUNTIME_TOOL_COMMANDLINE_H
#define TENON_RUNTIME_TOOL_COMMANDLINE_H

#include <CLI/CLI.hpp>
#include <string>

namespace tenon::tool {

/// One line that says what is wrong with the arguments of `App`.
inline std::string usageError(const CLI::App &App,
                              const CLI::ParseError &Problem) {
  std::string Text = Problem.what();
  for (const CLI::App *Command : App.get_subcommands())
    for (const CLI::Option *Option : Command->get_options())
      if (Option->count() > 1 && Option->get_items_expected_max() == 1)
        Text = Option->get_name() + " is given " +
               std::to_string(Option->count()) + " times: expected it once";
  // What the user typed may hold control characters or line ends.
  for (char &C : Text)
    if (static_cast<unsigned char>(C) < 0x20 || C == 0x7f)
      C = ' ';
  return Text + " (see --help)";
}

} // namespace tenon::tool

#endif // TENON_RUNTIME_TOOL_COMMANDLINE_H

//===- CommandLine.cpp - What both tools do with their options ------------===//

#include "runtime/Tool/CommandLine.h"

#include "runtime/Support/Json.h"

#include <limits>
#include <numeric>

using namespace tenon;
using namespace tenon::tool;

/// What is wrong with `Text`, which becomes a number of type T as from_chars
/// and CLI11 both read it. Errors say that it begins where `Least` does.
template <typename T, typename Least = T>
static std::string readExactly(std::string &Text, const char *Kind) {
  std::string_view Digits = Text;
  if (Digits.starts_with('+'))
    Digits.remove_prefix(1);
  std::optional<T> Number = numberOf<T>(Digits);
  if (!Number) {
    std::ostringstream Expected;
    Expected << Kind;
    // What is no number at all is not helped by a range.
    if (Digits.find_first_not_of("-0123456789") == std::string_view::npos &&
        !Digits.empty())
      Expected << " from " << std::numeric_limits<Least>::lowest() << " to "
               << std::numeric_limits<T>::max();
    return "is " + printable(Text) + ": expected " + Expected.str();
  }
  if constexpr (std::is_integral_v<T>)
    Text = std::to_string(*Number);
  else
    Text = Digits;
  return "";
}

/// The same of a seed: one below 0 is the same 64 bits.
static std::string readSeed(std::string &Text) {
  if (std::optional<int64_t> Number = numberOf<int64_t>(Text))
    Text = std::to_string(static_cast<uint64_t>(*Number));
  return readExactly<uint64_t, int64_t>(Text, "a whole number");
}

/// Makes options read values as they are written. Numbers: CLI11 clips those
/// that 64 bits do not hold, wraps negative ones, and takes a leading 0 for
/// octal. Texts, files among them: an empty one would count as not given.
static void readValuesExactly(CLI::App &App) {
  for (CLI::Option *O : App.get_options()) {
    std::string Type = O->get_type_name();
    if (Type.starts_with("INT"))
      O->transform({[](std::string &Text) {
                      return readExactly<int64_t>(Text, "a whole number");
                    },
                    ""});
    else if (Type.starts_with("UINT"))
      O->transform({[](std::string &Text) {
                      return readExactly<uint64_t>(Text, "a whole number");
                    },
                    ""});
    else if (Type == "SEED")
      O->transform({readSeed, ""});
    else if (Type.starts_with("FLOAT"))
      O->transform({[](std::string &Text) {
                      return readExactly<double>(Text, "a number");
                    },
                    ""});
    else if (Type.starts_with("TEXT") && O->get_items_expected_max() != 0)
      O->check({[](std::string &Text) -> std::string {
                  return Text.empty() ? "is '': expected at least one character"
                                      : "";
                },
                ""});
  }
  for (CLI::App *Below : App.get_subcommands([](CLI::App *) { return true; }))
    readValuesExactly(*Below);
}

/// `Words` with "--NAME=" as two, the second of them empty: CLI11 would take
/// the word behind it for the value.
static std::vector<std::string>
splitEmptyValues(const CLI::App &App, const std::vector<std::string> &Words) {
  std::vector<std::string> Split;
  const CLI::App *At = &App;
  bool IsValue = false; // Of the word before.
  for (auto Word = Words.begin(); Word != Words.end(); ++Word) {
    if (*Word == "--" && !IsValue) {
      Split.insert(Split.end(), Word, Words.end());
      break;
    }
    size_t Equals =
        Word->starts_with("--") ? Word->find('=') : std::string::npos;
    std::string Name = Word->substr(0, Equals);
    const CLI::Option *O = !IsValue && Name.starts_with('-')
                               ? At->get_option_no_throw(Name)
                               : nullptr;
    bool TakesValue = O && O->get_items_expected_max() != 0;
    if (!IsValue && !O)
      for (const CLI::App *Command : commandsOf(*At))
        if (Command->check_name(*Word))
          At = Command;
    IsValue = TakesValue && Equals == std::string::npos;
    if (TakesValue && Equals == Word->size() - 1)
      Split.insert(Split.end(), {Name, ""});
    else
      Split.push_back(*Word);
  }
  return Split;
}

/// Throws what CLI11 does.
static void parseWords(CLI::App &App, const std::vector<std::string> &Words) {
  readValuesExactly(App);
  std::vector<std::string> Split = splitEmptyValues(App, Words);
  std::reverse(Split.begin(), Split.end()); // as CLI11 wants them
  App.parse(std::move(Split));
}

std::vector<const CLI::Option *> tool::optionsOf(const CLI::App &App) {
  std::vector<const CLI::Option *> All = App.get_options();
  for (const CLI::App *Group : App.get_subcommands(nullptr))
    if (Group->get_name().empty())
      for (const CLI::Option *O : optionsOf(*Group))
        if (O != Group->get_help_ptr()) // The command's own is enough.
          All.push_back(O);
  return All;
}

std::vector<const CLI::App *> tool::commandsOf(const CLI::App &App) {
  return App.get_subcommands(
      [](const CLI::App *Below) { return !Below->get_name().empty(); });
}

/// Letters to change, add or take away to make `A` of `B`.
static size_t distance(std::string_view A, std::string_view B) {
  std::vector<size_t> Row(B.size() + 1);
  std::iota(Row.begin(), Row.end(), 0);
  for (size_t I = 0; I < A.size(); ++I) {
    size_t Diagonal = std::exchange(Row[0], I + 1);
    for (size_t J = 0; J < B.size(); ++J) {
      size_t Changed = Diagonal + (A[I] == B[J] ? 0 : 1);
      Diagonal = std::exchange(Row[J + 1],
                               std::min({Row[J] + 1, Row[J + 1] + 1, Changed}));
    }
  }
  return Row.back();
}

/// The one of `Names` that `Word` may have been meant to be; empty: none.
static std::string nearestName(const std::string &Word,
                               const std::vector<std::string> &Names) {
  std::string Nearest;
  size_t Letters =
      Word.size() - std::min(Word.find_first_not_of('-'), Word.size());
  size_t Least = 1 + std::min<size_t>((Letters + 2) / 3, 3);
  for (const std::string &Name : Names)
    if (size_t Far = distance(Word, Name); Far < Least) {
      Least = Far;
      Nearest = Name;
    }
  if (!Nearest.empty())
    return Nearest;
  for (const std::string &Name : Names)
    if (Word.size() > 3 && Name.starts_with(Word))
      return Name;
  return "";
}

static std::string meant(const std::string &Word,
                         const std::vector<std::string> &Names) {
  std::string Name = nearestName(Word, Names);
  return printable(Word) + (Name.empty() ? "" : ": did you mean " + Name + "?");
}

std::string tool::unknownCommand(const CLI::App &App, const std::string &Word) {
  std::vector<std::string> Names;
  for (const CLI::App *Command : commandsOf(App))
    Names.push_back(Command->get_name());
  return "unknown command " + meant(Word, Names);
}

namespace {
/// What errors call the options of a command.
enum class NameForm {
  Option, ///< "--top-p"
  Setting ///< top_p
};
} // namespace

static std::string shownName(const CLI::Option &O, NameForm Form) {
  std::string Name = O.get_name();
  if (Form == NameForm::Option)
    return Name;
  Name.erase(0, Name.find_first_not_of('-'));
  std::replace(Name.begin(), Name.end(), '-', '_');
  return Name;
}

/// What is wrong with how many options of a group are given; empty: nothing.
static std::string groupError(const CLI::App &Group, NameForm Form) {
  std::vector<std::string> Given, All;
  for (const CLI::Option *O : Group.get_options()) {
    if (O == Group.get_help_ptr())
      continue;
    All.push_back(shownName(*O, Form));
    if (O->count() != 0)
      Given.push_back(All.back());
  }
  size_t Most = Group.get_require_option_max();
  if (Most != 0 && Given.size() > Most)
    return Given[0] + " is given beside " + Given[1] + ": expected one of them";
  if (Given.size() < Group.get_require_option_min())
    return "expected one of " + CLI::detail::join(All, ", ");
  return "";
}

/// What is wrong with the arguments of `App`.
static std::string usageError(const CLI::App &App,
                              const CLI::ParseError &Problem, NameForm Form) {
  const CLI::App *Command = &App;
  while (!Command->get_subcommands().empty())
    Command = Command->get_subcommands().front();
  for (const CLI::Option *Option : optionsOf(*Command))
    if (Option->count() > 1 && Option->get_items_expected_max() == 1)
      return Option->get_name() + " is given " +
             std::to_string(Option->count()) + " times: expected it once";
  // A mistyped option is often why something else is missing.
  std::vector<std::string> Unknown = Command->remaining();
  auto Mistyped =
      std::find_if(Unknown.begin(), Unknown.end(), [](const std::string &Word) {
        return Word.starts_with('-');
      });
  if (Mistyped != Unknown.end()) {
    std::string Word = Mistyped->substr(0, Mistyped->find('='));
    std::vector<std::string> Names;
    for (const CLI::Option *O : optionsOf(*Command))
      for (const std::string &Name : O->get_lnames())
        Names.push_back("--" + Name);
    return "unknown option " + meant(Word, Names);
  }
  if (!Unknown.empty() && !commandsOf(*Command).empty())
    return unknownCommand(*Command, Unknown.front());
  // Of the command that was given, or of the tool itself.
  if (std::vector<const CLI::App *> Below = commandsOf(*Command);
      !Below.empty() && dynamic_cast<const CLI::RequiredError *>(&Problem)) {
    std::string Names;
    for (const CLI::App *Each : Below)
      Names += (Names.empty() ? "" : ", ") + Each->get_name();
    return (Command->get_parent() ? Command->get_name() + ": " : "") +
           "expected one of " + Names;
  }
  if (dynamic_cast<const CLI::ExtrasError *>(&Problem) && !Unknown.empty())
    return "unexpected argument " + printable(Unknown.front());
  if (dynamic_cast<const CLI::RequiredError *>(&Problem)) {
    for (const CLI::Option *O : optionsOf(*Command))
      if (O->get_positional() && O->get_required() && O->count() == 0)
        return "missing argument " + O->get_name() +
               (O->get_items_expected_max() > 1 ? "..." : "");
    for (const CLI::App *Group : Command->get_subcommands(nullptr))
      if (Group->get_name().empty())
        if (std::string Wrong = groupError(*Group, Form); !Wrong.empty())
          return Wrong;
  }
  // CLI11 puts "NAME: " before what a check says, and what is missing.
  std::string Text = Problem.what();
  for (const CLI::Option *O : tool::optionsOf(*Command)) {
    if (!Text.starts_with(O->get_name() + ": "))
      continue;
    std::string Name = shownName(*O, Form);
    if (dynamic_cast<const CLI::ArgumentMismatch *>(&Problem))
      return Name + " needs a value";
    return Name + Text.substr(O->get_name().size() + 1);
  }
  return Text;
}

/// Whether only a value is wrong, with which --help is of no more help.
static bool isOfValue(const CLI::ParseError &Problem) {
  return dynamic_cast<const CLI::ValidationError *>(&Problem) ||
         dynamic_cast<const CLI::ConversionError *>(&Problem);
}

std::optional<int> tool::parseCommandLine(CLI::App &App, int Count,
                                          char **Values) {
  try {
    parseWords(App, {Values + std::min(Count, 1), Values + Count});
    return std::nullopt;
  } catch (const CLI::Success &Answer) {
    std::ostringstream Text;
    App.exit(Answer, Text, Text);
    // CLI11 ends no line behind a footer.
    std::string Printed = Text.str();
    if (!Printed.ends_with('\n'))
      Printed += '\n';
    return exitStatusOf(print(Printed));
  } catch (const CLI::ParseError &Problem) {
    std::string Wrong = usageError(App, Problem, NameForm::Option);
    return fail(isOfValue(Problem) ? Wrong : Wrong + " (see --help)",
                ExitUsage);
  }
}

Status tool::parseOptions(CLI::App &App,
                          const std::vector<std::string> &Options) {
  try {
    parseWords(App, Options);
    return {};
  } catch (const CLI::ParseError &Problem) {
    return Error(usageError(App, Problem, NameForm::Setting));
  }
}

CLI::Option *tool::addText(CLI::App &App, const std::string &Name,
                           std::optional<std::string> &Value,
                           const std::string &Help) {
  // CLI11 leaves an optional without a value where the text is empty.
  return App
      .add_option_function<std::string>(
          Name, [&Value](const std::string &Text) { Value = Text; }, Help)
      ->type_name(AnyText);
}

CLI::Validator tool::oneOf(const std::vector<std::string> &Known) {
  std::string Words = "one of {" + CLI::detail::join(Known, ", ") + "}";
  return {[=](std::string &Text) {
            return std::find(Known.begin(), Known.end(), Text) != Known.end()
                       ? std::string()
                       : "is " + printable(Text) + ": expected " + Words;
          },
          "{" + CLI::detail::join(Known, ",") + "}"};
}

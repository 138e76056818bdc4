//===- CommandTree.cpp - What a tool's options tell others ----------------===//

#include "runtime/Tool/CommandTree.h"

#include "runtime/Support/Console.h"
#include "runtime/Support/OutputFile.h"
#include "runtime/Tool/CommandLine.h"

#include <cctype>
#include <filesystem>

using namespace tenon;
using namespace tenon::tool;

/// The longest name of an option, its dashes included.
static std::string longestName(const CLI::Option &O) {
  if (!O.get_lnames().empty())
    return "--" + O.get_lnames().front();
  return O.get_snames().empty() ? "" : "-" + O.get_snames().front();
}

static const CLI::Option *optionNamed(const CLI::App &App,
                                      const std::string &Word) {
  for (const CLI::Option *O : optionsOf(App))
    if (O->nonpositional() && O->check_name(Word))
      return O;
  return nullptr;
}

static const CLI::App *commandNamed(const CLI::App &App,
                                    const std::string &Word) {
  for (const CLI::App *Command : commandsOf(App))
    if (Command->check_name(Word))
      return Command;
  return nullptr;
}

static bool takesValue(const CLI::Option &O) {
  return O.get_items_expected_max() > 0;
}

/// The values of a choice, which CLI11 keeps as "TEXT:{a,b}".
static std::vector<std::string> choicesOf(const CLI::Option &O) {
  std::string Type = O.get_type_name();
  size_t Begin = Type.find(":{"), End = Type.find('}');
  if (Begin == std::string::npos || End == std::string::npos)
    return {};
  return CLI::detail::split(Type.substr(Begin + 2, End - Begin - 2), ',');
}

static void addMatching(std::vector<Candidate> &To, const std::string &Begin,
                        Candidate C) {
  if (C.Word.starts_with(Begin))
    To.push_back(std::move(C));
}

std::vector<Candidate> tool::completionsOf(const CLI::App &App,
                                           std::span<const std::string> Words) {
  if (Words.empty())
    return {};
  const CLI::App *At = &App;
  const CLI::Option *Open = nullptr; // Waits for its value.
  for (const std::string &Word : Words.first(Words.size() - 1)) {
    if (Word == "=") // bash makes a word of it.
      continue;
    if (Open) {
      Open = nullptr;
    } else if (Word.starts_with("-")) {
      if (const CLI::Option *O = optionNamed(*At, Word); O && takesValue(*O))
        Open = O;
    } else if (const CLI::App *Command = commandNamed(*At, Word)) {
      At = Command;
    }
  }
  std::string Last = Words.back(), Before;
  if (Last == "=")
    Last.clear();
  if (size_t Equals = Last.find('=');
      !Open && Last.starts_with("--") && Equals != std::string::npos) {
    Open = optionNamed(*At, Last.substr(0, Equals));
    Before = Last.substr(0, Equals + 1);
    if (!Open)
      return {};
  }
  std::vector<Candidate> Found;
  if (Open) {
    for (const std::string &Value : choicesOf(*Open))
      addMatching(Found, Last, {Before + Value, ""});
  } else if (Last.starts_with("-")) {
    for (const CLI::Option *O : optionsOf(*At))
      if (O->nonpositional())
        addMatching(Found, Last, {longestName(*O), O->get_description()});
  } else {
    for (const CLI::App *Command : commandsOf(*At))
      addMatching(Found, Last,
                  {Command->get_name(), Command->get_description()});
    for (const CLI::Option *O : optionsOf(*At))
      if (O->get_positional())
        for (const std::string &Value : choicesOf(*O))
          addMatching(Found, Last, {Value, ""});
  }
  return Found;
}

std::string tool::completionScript(std::string_view Shell) {
  if (Shell == "bash")
    return R"(# bash completion for tenon
_tenon() {
  local line
  COMPREPLY=()
  while IFS=$'\t' read -r line _; do
    COMPREPLY+=("$line")
  done < <("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _tenon tenon
)";
  if (Shell == "zsh")
    return R"(#compdef tenon
_tenon() {
  local -a found
  local line
  while IFS= read -r line; do
    line=${line//:/\\:}
    found+=("${line/$'\t'/:}")
  done < <("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( $#found )); then
    _describe tenon found
  else
    _files
  fi
}
compdef _tenon tenon
)";
  return R"(# fish completion for tenon
function __tenon_complete
    set -l words (commandline -opc) (commandline -ct)
    $words[1] __complete $words[2..-1] 2>/dev/null
end
complete -c tenon -a '(__tenon_complete)'
)";
}

/// Text as roff takes it for text.
static std::string roff(std::string_view Text) {
  std::string Escaped;
  for (char C : Text) {
    bool BeginsLine = Escaped.empty() || Escaped.back() == '\n';
    if (BeginsLine && (C == '.' || C == '\''))
      Escaped += "\\&";
    if (C == '\\')
      Escaped += "\\e";
    else if (C == '-')
      Escaped += "\\-";
    else
      Escaped += C;
  }
  return Escaped;
}

static std::string upper(std::string Text) {
  for (char &C : Text)
    C = static_cast<char>(std::toupper(static_cast<unsigned char>(C)));
  return Text;
}

/// The kind of value, without the choices: "TEXT".
static std::string valueOf(const CLI::Option &O) {
  std::string Choices;
  for (const std::string &Value : choicesOf(O))
    Choices += (Choices.empty() ? "" : "|") + Value;
  std::string Type = O.get_type_name();
  return Choices.empty() ? Type.substr(0, Type.find(':')) : Choices;
}

static std::string optionEntry(const CLI::Option &O) {
  std::string Names;
  for (const std::string &Short : O.get_snames())
    Names += (Names.empty() ? "" : ", ") + ("-" + Short);
  for (const std::string &Long : O.get_lnames())
    Names += (Names.empty() ? "" : ", ") + ("--" + Long);
  if (Names.empty())
    Names = O.get_name(true);
  std::string Text = ".TP\n\\fB" + roff(Names) + "\\fR";
  if (takesValue(O) && O.nonpositional())
    Text += " \\fI" + roff(valueOf(O)) + "\\fR";
  return Text + "\n" + roff(O.get_description()) + "\n";
}

/// Positional arguments, then options by their groups in the order in which
/// these first occur.
static std::string optionEntries(const CLI::App &App, const char *Heading) {
  std::string Arguments, Text;
  std::vector<std::string> Groups;
  for (const CLI::Option *O : optionsOf(App)) {
    if (!O->nonpositional())
      Arguments += optionEntry(*O);
    else if (std::find(Groups.begin(), Groups.end(), O->get_group()) ==
             Groups.end())
      Groups.push_back(O->get_group());
  }
  if (!Arguments.empty())
    Text += std::string(Heading) + " ARGUMENTS\n" + Arguments;
  for (const std::string &Group : Groups) {
    Text += std::string(Heading) + " " + roff(upper(Group)) + "\n";
    for (const CLI::Option *O : optionsOf(App))
      if (O->nonpositional() && O->get_group() == Group)
        Text += optionEntry(*O);
  }
  return Text;
}

static std::string synopsisOf(const CLI::App &App, const std::string &Name) {
  std::string Text = "\\fB" + roff(Name) + "\\fR [\\fIoptions\\fR]";
  for (const CLI::Option *O : optionsOf(App))
    if (!O->nonpositional())
      Text += (O->get_required() ? " \\fI" : " [\\fI") +
              roff(O->get_name(true)) + (O->get_required() ? "\\fR" : "\\fR]");
  if (!commandsOf(App).empty())
    Text += " \\fIcommand\\fR ...";
  return Text + "\n";
}

static std::string exitStatuses(bool Compares) {
  auto Entry = [](int Status, const char *Meaning) {
    return ".TP\n\\fB" + std::to_string(Status) + "\\fR\n" + Meaning + "\n";
  };
  std::string Text =
      ".SH EXIT STATUS\n" + Entry(0, "Success.") +
      Entry(ExitError,
            "A file, a model or what a model is given is wrong, or "
            "something failed: a line on standard error says what.") +
      Entry(ExitUsage,
            "Wrong usage: an unknown command or option, an argument or a "
            "value that is missing, a value that its option never takes, an "
            "option that is given twice, options that need or exclude each "
            "other whatever the model. Nothing has been read.");
  if (Compares)
    Text += Entry(ExitDiffers, "Results differ.");
  return Text;
}

std::string tool::manualPage(const CLI::App &App, const CLI::App *Command) {
  const CLI::App &Of = Command ? *Command : App;
  std::string Name = App.get_name(), Title = Name;
  if (Command) {
    Name = "tenon " + Of.get_name();
    Title = "tenon-" + Of.get_name();
  }
  std::string Text = ".TH \"" + upper(Title) + "\" 1 \"\" \"Tenon " +
                     TENON_VERSION "\" \"Tenon\"\n.nh\n.ad l\n.SH NAME\n" +
                     roff(Title) + " \\- " + roff(Of.get_description()) +
                     "\n.SH SYNOPSIS\n" + synopsisOf(Of, Name) +
                     optionEntries(Of, ".SH");
  std::vector<const CLI::App *> Below = commandsOf(Of);
  if (!Below.empty())
    Text += ".SH COMMANDS\n";
  for (const CLI::App *Each : Below)
    Text += ".TP\n\\fB" + roff(Each->get_name()) + "\\fR\n" +
            roff(Each->get_description()) + "\n";
  if (Command)
    for (const CLI::App *Each : Below)
      Text += ".SH " + roff(upper(Of.get_name() + " " + Each->get_name())) +
              "\n" + synopsisOf(*Each, Name + " " + Each->get_name()) +
              optionEntries(*Each, ".SS");
  if (!Of.get_footer().empty())
    Text += ".SH NOTES\n" + roff(Of.get_footer()) + "\n";
  Text += exitStatuses(Of.get_name() == "bisect") + ".SH SEE ALSO\n";
  if (Command)
    return Text + "\\fBtenon\\fR(1)\n";
  for (const CLI::App *Each : Below)
    Text += "\\fBtenon\\-" + roff(Each->get_name()) + "\\fR(1)\n";
  return Text;
}

static Status writeManualPages(const CLI::App &App, const std::string &Folder,
                               std::span<const std::string> Pages) {
  std::error_code Failure;
  std::filesystem::create_directories(Folder, Failure);
  for (const std::string &Page : Pages) {
    const CLI::App *Command = Page.empty() ? nullptr : commandNamed(App, Page);
    Result<OutputFile> File = OutputFile::create(
        Folder + "/tenon" + (Command ? "-" + Page : "") + ".1");
    if (!File)
      return File.error();
    if (Status Done = File->append(manualPage(App, Command)); !Done)
      return Done;
    if (Status Done = File->finish(); !Done)
      return Done;
  }
  return {};
}

std::optional<int> tool::answerScripts(const CLI::App &App, int Count,
                                       char **Values,
                                       std::span<const std::string> Pages) {
  std::string_view Asked = Count > 1 ? Values[1] : "";
  if (Asked == "__complete") {
    std::vector<std::string> Words(Values + 2, Values + Count);
    std::string Text;
    for (const Candidate &C : completionsOf(App, Words))
      Text += C.Word + (C.Help.empty() ? "" : "\t" + C.Help) + "\n";
    return exitStatusOf(print(Text));
  }
  if (Asked == "__manual" && Count == 3)
    return exitStatusOf(writeManualPages(App, Values[2], Pages));
  return std::nullopt;
}

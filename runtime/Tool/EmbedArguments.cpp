//===- EmbedArguments.cpp - tenon embed, its options ----------------------===//

#include "runtime/Tool/CommandArguments.h"

#include "runtime/Tool/CommandLine.h"

using namespace tenon;
using namespace tenon::tool;

namespace {
struct EmbedArguments {
  EmbedOptions Options;
  std::vector<std::string> OneEach, More;
  ModelOptions Compiling;
};
} // namespace

Command tool::addEmbedCommand(CLI::App &App) {
  auto Embed = std::make_shared<EmbedArguments>();
  CLI::App *Added =
      App.add_subcommand("embed", "Print pooled embeddings of texts");
  Added->add_option("file", Embed->Options.File, FileHelp)->required();
  // CLI11 would take "[a, b]" apart among several values of one option.
  CLI::Option *Text = Added->add_option("--text", Embed->OneEach,
                                        "A text, behind which more may stand");
  Text->type_size(1)->allow_extra_args(false)->type_name(AnyText);
  CLI::Option *MoreText =
      Added->add_option("more", Embed->More, "More texts, with --text");
  MoreText->needs(Text)->allow_extra_args(false)->type_name(AnyText);
  Added->add_option("--text-file", Embed->Options.TextFile,
                    "File with one text a line; -: standard input");
  Added->add_option("--input", Embed->Options.Input,
                    "File of any number of texts, one a line: a JSON string "
                    "or an object with a \"text\"; -: standard input. Prints "
                    "one JSON object a line, in the same order");
  Added->add_option("--output", Embed->Options.Output,
                    "With --input: write an array [texts, width] in f32 to "
                    "this .npy file instead");
  addThreads(*Added, Embed->Options.Threads);
  Added->add_flag("--json", Embed->Options.Json, "Print one JSON object");
  addModelOptions(*Added, Embed->Compiling);
  return {Added, [=] {
            EmbedOptions &Options = Embed->Options;
            auto NextText = Embed->OneEach.begin();
            auto NextMore = Embed->More.begin();
            for (const CLI::Option *O : Added->parse_order())
              if (O == Text)
                Options.Texts.push_back(*NextText++);
              else if (O == MoreText)
                Options.Texts.push_back(*NextMore++);
            if (std::string Wrong = usageErrorOf(Options); !Wrong.empty())
              return fail("embed: " + Wrong, ExitUsage);
            return exitStatusOf(
                withModel(Options, Embed->Compiling,
                          Options.Input.empty() ? embedTexts : embedInput));
          }};
}

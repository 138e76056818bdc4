//===- RunArguments.cpp - tenon run and chat, their options ---------------===//

#include "runtime/Tool/RunArguments.h"

#include "runtime/Generation/Settings.h"
#include "runtime/Tokenizer/Unicode.h"
#include "runtime/Tool/Arguments.h"
#include "runtime/Tool/CommandArguments.h"
#include "runtime/Tool/CommandLine.h"

#include <cmath>
#include <thread>

using namespace tenon;
using namespace tenon::sampling;
using namespace tenon::tool;

/// An option that may be given several times, one value each time, so that a
/// value may begin with anything.
template <typename T>
static CLI::Option *addRepeated(CLI::App &App, const char *Name,
                                std::vector<T> &Values, const char *Help) {
  return App.add_option(Name, Values, Help)
      ->type_size(1)
      ->allow_extra_args(false);
}

/// Accepts shares of a probability that leave something.
static CLI::Validator share() {
  return numbers<double>("above 0, at most 1",
                         [](double Value) { return Value > 0 && Value <= 1; });
}

/// Accepts what parseBias() reads.
static CLI::Validator bias() {
  return {[](std::string &Text) {
            return parseBias(Text) ? std::string()
                                   : "is " + printable(Text) +
                                         ": expected ID=BIAS, such as "
                                         "42=-1.5, with a bias of -100 to 100";
          },
          ""};
}

/// Accepts text that another may have in it.
static CLI::Validator stopText() {
  return {[](std::string &Text) -> std::string {
            if (Text.empty())
              return "is '': expected at least one character";
            if (tokenizer::findInvalidUtf8(Text))
              return "is " + printable(Text) + ": expected UTF-8";
            return "";
          },
          ""};
}

/// What is read, and where the output goes.
static void addInputs(CLI::App &App, RunOptions &Run) {
  App.add_option("file", Run.File, FileHelp)->required();
  addRepeated(App, "--prompt", Run.Prompts,
              "Text to continue; repeat it to run several at once (needs "
              "--json)")
      ->type_name(AnyText);
  App.add_option("--prompt-file", Run.PromptFile,
                 "File with the text to continue; -: standard input");
  App.add_flag("--chat", Run.Chat,
               "The text is a message to answer: the model's chat template "
               "makes the prompt");
  App.add_option("--system", Run.System,
                 "With --chat: what the model is told before the message")
      ->type_name(AnyText);
  App.add_option("--tools", Run.Tools,
                 "For conversations: JSON file of the tools that the model may "
                 "call, an array as OpenAI's API has it");
  addRepeated(App, "--token-ids", Run.TokenIds,
              "Token ids in place of text: 1,2,3 or @FILE.npy")
      ->check(tokenIds());
  App.add_option("--token-types", Run.TokenTypes,
                 "Segment of each token: 0,0,1 or @FILE.npy")
      ->check(tokenIds());
  App.add_option("--decoder-token-ids", Run.DecoderTokenIds,
                 "What an encoder-decoder's answer begins with [the "
                 "model's start token]")
      ->check(tokenIds());
  addRepeated(App, "--image", Run.Images,
              "Image for a model that reads images: PNG, JPEG, or .npy of "
              "pixel values [C,H,W]; of a prompt repeat it, in the order of "
              "the image tokens in the text, or before the text if it has "
              "none");
  App.add_option("--prompts", Run.Requests,
                 "File of requests, one a line: a JSON string to continue, or "
                 "an object of prompt or token_ids and options of this command "
                 "(max_new_tokens, seed, ...); -: standard input. Prints one "
                 "JSON object a line");
  App.add_option("--prefix-tokens", Run.PrefixTokens,
                 "First tokens of the prompt that see each other, in models "
                 "with a prefix mask [0]")
      ->check(atLeast<int64_t>(0));
  App.add_option("--output", Run.Output,
                 "Write the f32 output of every input position to this .npy "
                 "file");
  App.add_flag("--json", Run.Json, "Print one JSON value");
}

/// How tokens are drawn.
static void addSampling(CLI::App &App, RunOptions &Run) {
  App.add_option("--temperature", Run.Temperature,
                 "0 chooses the likeliest token [the model's]")
      ->check(numbers<double>("a finite number, at least 0", [](double Value) {
        return std::isfinite(Value) && Value >= 0;
      }));
  App.add_option("--top-k", Run.TopK,
                 "Choose among the K likeliest; 0: all [the model's]")
      ->check(atLeast<int64_t>(0));
  App.add_option("--top-p", Run.TopP,
                 "Choose among the likeliest that reach this probability "
                 "[the model's]")
      ->check(share());
  App.add_option("--min-p", Run.MinP,
                 "Choose among tokens of at least this share of the largest "
                 "probability [the model's]")
      ->check(between(0.0, 1.0));
  App.add_option("--typical-p", Run.TypicalP,
                 "Choose among the most typical that reach this probability "
                 "[the model's]")
      ->check(share());
  App.add_option("--seed", Run.Seed,
                 "Seed of the choices; one below 0 is the same 64 bits [a "
                 "fresh one]")
      ->type_name("SEED");
}

static void addChoices(CLI::App &App, RunOptions &Run) {
  App.add_option("--n", Run.Choices,
                 "Texts to generate of each prompt (needs --json) [1]")
      ->check(between(int64_t(1), generation::MaxChoices));
  App.add_option("--first-choice", Run.FirstChoice,
                 "Number of the first of them; each draws by seed and number "
                 "[0]")
      ->check(between(int64_t(0), int64_t(UINT32_MAX)));
}

static void addBeams(CLI::App &App, RunOptions &Run) {
  App.add_option("--num-beams", Run.Beams,
                 "Beams of a beam search; 1: none [the model's]")
      ->check(between(int64_t(1), MaxBeams));
  App.add_option("--length-penalty", Run.LengthPenalty,
                 "Beam search divides scores by length to this power [the "
                 "model's]")
      ->check(numbers<double>("a finite number", [](double Value) {
        return std::isfinite(Value);
      }));
  App.add_flag("--early-stopping{true},--no-early-stopping{false}",
               Run.EarlyStopping,
               "Beam search ends with as many finished texts as beams, or "
               "goes on while longer ones may be better; "
               "--early-stopping=never: while any may be [the model's]")
      ->check(oneOf({"true", "false", "never"}));
}

/// What changes scores before the choice.
static void addRules(CLI::App &App, RunOptions &Run) {
  App.add_option("--repetition-penalty", Run.RepetitionPenalty,
                 "Divide the scores of tokens that occur, multiply negative "
                 "ones [the model's]")
      ->check(numbers<double>("a finite number above 0", [](double Value) {
        return std::isfinite(Value) && Value > 0;
      }));
  App.add_option("--presence-penalty", Run.PresencePenalty,
                 "Take this from the scores of tokens generated before [0]")
      ->check(between(-2.0, 2.0));
  App.add_option("--frequency-penalty", Run.FrequencyPenalty,
                 "The same as often as they were [0]")
      ->check(between(-2.0, 2.0));
  addRepeated(App, "--logit-bias", Run.LogitBias,
              "ID=BIAS: add this to the score of a token; may be repeated")
      ->check(bias());
  addRepeated(App, "--bad-words", Run.BadWords,
              "Text that must not be generated; may be repeated")
      ->type_name(AnyText);
  addRepeated(App, "--bad-word-ids", Run.BadWordIds,
              "The same as token ids: 1,2,3")
      ->check(tokenIds());
}

/// How long texts are, and what ends them.
static void addEnds(CLI::App &App, RunOptions &Run) {
  App.add_option("--max-new-tokens", Run.MaxNewTokens,
                 "Tokens to generate [the model's, or " +
                     std::to_string(generation::DefaultNewTokens) +
                     "; none with --output]")
      ->check(atLeast<int64_t>(0));
  App.add_option("--min-new-tokens", Run.MinNewTokens,
                 "Nothing ends the text before so many [the model's]")
      ->check(atLeast<int64_t>(0));
  App.add_flag("--ignore-eos", Run.IgnoreEos,
               "Go on after an end-of-sequence token");
  addRepeated(App, "--stop", Run.Stop,
              "Text that ends the text; may be repeated")
      ->check(stopText());
  addRepeated(App, "--stop-token-id", Run.StopTokenIds,
              "Token that ends the text; may be repeated")
      ->check(between(int64_t(0), int64_t(INT32_MAX)));
  App.add_flag("--include-stop", Run.IncludeStop,
               "What has ended the text is a part of it");
}

/// How the requests of a file share the machine.
static void addScheduling(CLI::App &App, RunOptions &Run) {
  CLI::Option *Requests = App.get_option("--prompts");
  App.add_option("--max-num-seqs", Run.MaxNumSeqs,
                 "With --prompts: most sequences generated at once [8]")
      ->check(between(int64_t(1), generation::MaxChoices))
      ->needs(Requests);
  App.add_option("--max-step-ms", Run.MaxStepMs,
                 "With --prompts: time of a step in milliseconds; longer "
                 "prompts are prefilled in chunks [100]")
      ->check(aboveZero())
      ->needs(Requests);
  auto *None =
      App.add_flag("--no-prefix-cache", Run.NoPrefixCache,
                   "With --prompts: run every prompt from its beginning")
          ->needs(Requests);
  App.add_option(
         "--prefix-cache", Run.PrefixFile,
         "With --prompts: file that prompts which have run are kept in, "
         "for this and later commands; made if it is not there")
      ->excludes(None)
      ->needs(Requests);
}

void tool::addCompileSettings(CLI::App &App, ModelOptions &Options,
                              const std::string &Group) {
  for (size_t I = 0; I < modelcache::AllSettings.size(); ++I) {
    const modelcache::Setting &S = modelcache::AllSettings[I];
    std::vector<std::string> Known(S.Values.begin(), S.Values.end());
    App.add_option("--" + std::string(S.Name), Options.Values[I],
                   std::string(S.Help) + " [" + Known.front() + "]")
        ->check(oneOf(Known))
        ->group(Group);
  }
}

void tool::addModelOptions(CLI::App &App, ModelOptions &Options) {
  const char *Group = "With a model that is not compiled";
  addCompileSettings(App, Options, Group);
  App.add_flag("--no-cache", Options.NoCache,
               "Compile it again, and keep nothing")
      ->group(Group);
}

void tool::addGenerationOptions(CLI::App &App, RunOptions &Run) {
  addEnds(App, Run);
  addSampling(App, Run);
  addBeams(App, Run);
  addRules(App, Run);
  CLI::App *Must = App.add_option_group("constraint");
  addGrammarChoice(*Must, Run.Must);
  Must->require_option(0, 1);
  addGrammarSettings(App, Run.Must);
}

void tool::addGrammarChoice(CLI::App &App, grammar::GrammarChoice &Choice) {
  App.add_option("--json-schema", Choice.JsonSchemaFile,
                 "File with a JSON schema that the text must fulfil");
  addText(App, "--regex", Choice.Regex,
          "Regular expression that the whole text must match");
  App.add_option("--ebnf", Choice.EbnfFile,
                 "File with a grammar (GBNF) that the text must follow");
  App.add_flag("--json-object", Choice.JsonObject,
               "The text must be an object in JSON");
  addRepeated(App, "--choice", Choice.Choices,
              "The text must be this, or another one that is given so");
}

void tool::addGrammarSettings(CLI::App &App, grammar::GrammarChoice &Choice) {
  App.add_flag("--fixed-order", Choice.FixedOrder,
               "With --json-schema: keys in the order in which the schema has "
               "them");
  App.add_option("--format", Choice.Format,
                 "With --json-schema: whether formats of strings are asserted, "
                 "or annotations [by the schema's dialect]")
      ->check(oneOf({"asserted", "annotation"}));
}

void tool::addThreads(CLI::App &App, int64_t &Threads) {
  constexpr int64_t MaxPerCpu = 16;
  int64_t Cpus = std::max<int64_t>(std::thread::hardware_concurrency(), 1);
  App.add_option("--threads", Threads, "Threads; 0: one per core [0]")
      // The description is of every machine.
      ->check(CLI::Validator(
          [=](std::string &Text) {
            std::optional<int64_t> Number = numberOf<int64_t>(Text);
            if (Number && *Number >= 0 && *Number <= MaxPerCpu * Cpus)
              return std::string();
            return "is " + Text + ", on " + std::to_string(Cpus) +
                   (Cpus == 1 ? " CPU" : " CPUs") +
                   ": expected 0 (one per core) to " +
                   std::to_string(MaxPerCpu * Cpus);
          },
          ""));
}

/// Where a session runs.
static void addRoom(CLI::App &App, RunOptions &Run, const char *WholeCache) {
  addThreads(App, Run.Threads);
  App.add_option("--max-seq", Run.MaxSeq,
                 "Tokens that the KV cache holds, where texts end [" +
                     std::string(WholeCache) + "]")
      ->check(atLeast<int64_t>(1));
}

void tool::addChatOptions(CLI::App &App, RunOptions &Run) {
  App.add_option("file", Run.File, FileHelp)->required();
  App.add_option("--system", Run.System,
                 "What the model is told before the conversation")
      ->type_name(AnyText);
  App.add_option("--tools", Run.Tools,
                 "JSON file of the tools that the model may call, an array as "
                 "OpenAI's API has it: whoever talks gives the results");
  addRoom(App, Run, "the model's longest sequence");
  addGenerationOptions(App, Run);
  App.get_option("--max-new-tokens")
      ->description("Tokens to generate [the model's, or as many as fit]");
}

void tool::addRunOptions(CLI::App &App, RunOptions &Run) {
  addInputs(App, Run);
  addRoom(App, Run, "what the prompts can need");
  addGenerationOptions(App, Run);
  addChoices(App, Run);
  addScheduling(App, Run);
  App.add_option("--logprobs", Run.LogProbabilities,
                 "Add the log-probability of each token, and the N likeliest "
                 "in its place (needs --json)")
      ->check(atLeast<int64_t>(0));
  App.add_option("--prompt-lookup-num-tokens", Run.Lookup,
                 "Guess so many tokens from what followed the last ones before "
                 "and check them in one step; the text is the same [0]")
      ->check(between(int64_t(0), generation::MaxLookup));
  App.add_flag("--echo", Run.Echo,
               "Begin with the prompt, with --logprobs also its tokens'");
}

std::string tool::usageErrorOf(const grammar::GrammarChoice &Must,
                               SettingNames Name) {
  if (Must.hasSchema())
    return {};
  if (Must.FixedOrder)
    return Name("fixed_order") + " needs " + Name("json_schema");
  if (!Must.Format.empty())
    return Name("format") + " needs " + Name("json_schema");
  return {};
}

std::string tool::usageErrorOf(const RunOptions &Run) {
  if (!Run.System.empty() && !Run.Chat)
    return "--system needs --chat";
  if (!Run.Tools.empty() && !Run.Chat && Run.Requests.empty())
    return "--tools needs --chat or --prompts";
  if (Run.Chat && Run.Requests.empty() && Run.Prompts.empty() &&
      Run.PromptFile.empty())
    return "--chat needs --prompt or --prompt-file";
  if (!Run.Requests.empty()) {
    const std::pair<const char *, bool> Others[] = {
        {"--prompt", !Run.Prompts.empty()},
        {"--prompt-file", !Run.PromptFile.empty()},
        {"--token-ids", !Run.TokenIds.empty()},
        {"--token-types", !Run.TokenTypes.empty()},
        {"--image", !Run.Images.empty()},
        {"--output", !Run.Output.empty()}};
    for (auto [Option, IsGiven] : Others)
      if (IsGiven)
        return "--prompts takes no " + std::string(Option);
    return {};
  }
  if (std::string Wrong = usageErrorOf(Run.Must); !Wrong.empty())
    return Wrong;
  size_t Prompts = Run.Prompts.size() + Run.TokenIds.size() +
                   (Run.PromptFile.empty() ? 0 : 1);
  if (Prompts == 0 && Run.Images.empty())
    return "expected --prompt, --prompt-file, --token-ids, --prompts or "
           "--image";
  if (!Run.TokenIds.empty() && Prompts != Run.TokenIds.size())
    return "prompts are text (--prompt, --prompt-file) or ids (--token-ids), "
           "not both";
  if (Prompts > 1 && !Run.Images.empty())
    return "--image takes a single prompt";
  if (Prompts > 1 && !Run.Json)
    return "several prompts need --json";
  if (Run.Choices.value_or(1) > 1 && !Run.Json)
    return "--n above 1 needs --json";
  if (Run.LogProbabilities && !Run.Json)
    return "--logprobs needs --json";
  if (Prompts > 1 && !(Run.Output.empty() && Run.TokenTypes.empty()))
    return "--output and --token-types take a single prompt";
  return {};
}

namespace {
struct RunArguments {
  RunOptions Options;
  ModelOptions Compiling;
};
} // namespace

Command tool::addRunCommand(CLI::App &App) {
  auto Run = std::make_shared<RunArguments>();
  CLI::App *Added =
      App.add_subcommand("run", "Generate text, or write a model's raw output");
  addRunOptions(*Added, Run->Options);
  addModelOptions(*Added, Run->Compiling);
  return {Added, [=] {
            if (std::string Wrong = usageErrorOf(Run->Options); !Wrong.empty())
              return fail("run: " + Wrong, ExitUsage);
            return exitStatusOf(withModel(
                Run->Options, Run->Compiling,
                Run->Options.Requests.empty() ? runModel : runRequests));
          }};
}

Command tool::addChatCommand(CLI::App &App) {
  auto Chat = std::make_shared<RunArguments>();
  CLI::App *Added =
      App.add_subcommand("chat", "Talk with a model that has a chat template");
  addChatOptions(*Added, Chat->Options);
  addModelOptions(*Added, Chat->Compiling);
  return {Added, [=] {
            if (std::string Wrong = usageErrorOf(Chat->Options.Must);
                !Wrong.empty())
              return fail("chat: " + Wrong, ExitUsage);
            return exitStatusOf(
                withModel(Chat->Options, Chat->Compiling, chatWithModel));
          }};
}

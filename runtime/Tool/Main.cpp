//===- Main.cpp - The command line of tenon -------------------------------===//
//
// Parses the options of every subcommand and runs it. Errors are one line on
// standard error; CommandLine.h has the exit statuses.
//
//===----------------------------------------------------------------------===//

#include "runtime/Artifact/Artifact.h"
#include "runtime/Chat/TemplateCommand.h"
#include "runtime/Generation/Settings.h"
#include "runtime/Grammar/GrammarCommand.h"
#include "runtime/Support/Json.h"
#include "runtime/Support/Paths.h"
#include "runtime/Tokenizer/TokenizeCommand.h"
#include "runtime/Tool/Arguments.h"
#include "runtime/Tool/CommandLine.h"
#include "runtime/Tool/CommandTree.h"
#include "runtime/Tool/Commands.h"
#include "runtime/Tool/Inspect.h"
#include "runtime/Tool/ModelArgument.h"
#include "runtime/Tool/RunArguments.h"

#include <cstring>
#include <filesystem>
#include <functional>
#include <optional>

using namespace tenon;
using namespace tenon::artifact;
using namespace tenon::tokenizer;
using namespace tenon::tool;

namespace {

struct TokenizeArguments {
  std::string File;
  TokenizeOptions Options;
  std::string Decode;
};

struct GrammarArguments {
  std::string File;
  grammar::GrammarOptions Options;
};

struct InspectArguments {
  std::string File;
  bool Families = false;
  std::optional<int64_t> Context;
  std::vector<std::string> IgnoredConfigKeys;
  InspectOptions Options;
  std::string Html, HtmlLevel = "native";
};

struct CacheArguments {
  std::string Model;
  bool Json = false;
  std::optional<double> OlderThan;
};
/// A century.
constexpr double MostDays = 36525;

} // namespace

/// Whether the file begins like an artifact; false for a directory too.
static Result<bool> isPacked(const std::string &Path) {
  std::error_code Failure;
  if (std::filesystem::is_directory(Path, Failure))
    return false;
  if (!std::filesystem::exists(Path, Failure))
    return noSuchPath(Path);
  return isArtifact(Path);
}

/// What a command does with a tokenizer; the text is what it prints.
using TokenizerCommand =
    std::function<Status(const Tokenizer &T, std::string &Out)>;

/// With the tokenizer of an artifact, or of a tokenizer.json.
static Status withTokenizer(const std::string &Path,
                            const TokenizerCommand &Command) {
  auto Run = [&](const Result<Tokenizer> &T) -> Status {
    if (!T)
      return T.error();
    std::string Text;
    if (Status Done = Command(*T, Text); !Done)
      return Done;
    return print(Text);
  };
  Result<bool> Packed = isPacked(Path);
  if (!Packed)
    return Packed.error();
  if (!*Packed)
    return Run(Tokenizer::fromFile(Path));
  Result<Artifact> File = Artifact::open(Path);
  if (!File)
    return File.error();
  if (!File->manifest().Tokenizer)
    return Error(Path + ": the artifact has no tokenizer");
  Result<std::string> Text = File->tokenizerJson();
  if (!Text)
    return Text.error();
  return Run(Tokenizer::fromJson(*Text, Path + " (tokenizer)"));
}

/// The same of a model. A directory's tokenizer.json is what its artifact would
/// have: nothing is compiled for it.
static Status withTokenizerOf(const std::string &Path,
                              const ModelOptions &Compiling,
                              const TokenizerCommand &Command) {
  std::error_code Ignored;
  std::string Own = Path + "/tokenizer.json";
  if (std::filesystem::exists(Own, Ignored))
    return withTokenizer(Own, Command);
  if (std::filesystem::path(Path).extension() == ".json")
    return withTokenizer(Path, Command);
  Result<ModelArgument> Model = ModelArgument::open(Path, Compiling);
  if (!Model)
    return Model.error();
  return Model->named(withTokenizer(Model->artifact(), Command));
}

static Status tokenize(TokenizeArguments &Arguments,
                       const ModelOptions &Compiling) {
  if (!Arguments.Decode.empty()) {
    Result<std::vector<int32_t>> Ids =
        parseTokens(Arguments.Decode, "--decode");
    if (!Ids)
      return Ids.error();
    Arguments.Options.Decode = std::move(*Ids);
  }
  return withTokenizerOf(Arguments.File, Compiling,
                         [&](const Tokenizer &T, std::string &Out) {
                           return runTokenize(T, Arguments.Options, Out);
                         });
}

static Status checkGrammar(const GrammarArguments &Arguments,
                           const ModelOptions &Compiling) {
  return withTokenizerOf(
      Arguments.File, Compiling, [&](const Tokenizer &T, std::string &Out) {
        return grammar::runGrammar(T, Arguments.Options, Out);
      });
}

/// Runs `Command` on the artifact that
/// `Options.File` stands for.
template <typename CommandOptions, typename Function>
static Status whenAble(CommandOptions &Options, const ModelOptions &Compiling,
                       Function Command) {
  Result<ModelArgument> Model = ModelArgument::open(Options.File, Compiling);
  if (!Model)
    return Model.error();
  Options.File = Model->artifact();
  if constexpr (requires { Options.ModelFiles; })
    Options.ModelFiles = Model->files();
  return Model->named(Command(Options));
}

struct ServeArguments {
  std::vector<std::string> Models; ///< Each FILE or NAME=FILE.
  ServeOptions Options;
};

/// Of the engines that serve, or replay.
static void addEngineOptions(CLI::App &App, ServeOptions &O) {
  addThreads(App, O.Threads);
  App.add_option(
         "--max-seq", O.MaxSeq,
         "Tokens that a model's KV cache holds [what fits in a quarter of "
         "the memory]")
      ->check(atLeast<int64_t>(1));
}

static void addServeOptions(CLI::App &App, ServeArguments &Serve) {
  ServeOptions &O = Serve.Options;
  App.add_option("files", Serve.Models,
                 "Artifacts or models; NAME=FILE: what clients call it [the "
                 "file's name]")
      ->required();
  App.add_option("--default-model", O.DefaultModel,
                 "Name of the model of requests that name none [these are "
                 "refused]");
  auto *Host = App.add_option("--host", O.Host, "Where to listen [127.0.0.1]");
  auto *Port = App.add_option("--port", O.Port, "0: any that is free [8080]")
                   ->check(between<int64_t>(0, UINT16_MAX));
  App.add_option("--unix-socket", O.UnixSocket,
                 "Listen on this path instead of host and port")
      ->excludes(Host)
      ->excludes(Port);
  App.add_option("--api-key-file", O.KeyFile,
                 "File of keys, one a line; requests need one of them");
  addEngineOptions(App, O);
  App.add_option("--max-num-seqs", O.MaxNumSeqs,
                 "Most sequences that a model generates at once [8]")
      ->check(between(int64_t(1), generation::MaxChoices));
  App.add_option("--max-queued", O.MaxQueued,
                 "Most requests that wait; further ones get 429 [256]")
      ->check(atLeast<int64_t>(0));
  App.add_option("--max-step-ms", O.MaxStepMs,
                 "Time of a step in milliseconds: longer prompts are "
                 "prefilled in chunks [100]")
      ->check(aboveZero());
  auto *NoPrefixes =
      App.add_flag("--no-prefix-cache", O.NoPrefixCache,
                   "Keep no prompts for requests that begin as they do");
  App.add_option("--prefix-cache", O.PrefixFolder,
                 "Folder for what is kept at the end, to begin with the next "
                 "time; it holds what users said")
      ->excludes(NoPrefixes);
  App.add_option("--drain-timeout", O.DrainSeconds,
                 "Seconds that requests may go on after SIGTERM [30]")
      ->check(atLeast(0.0));
  App.add_flag("--log-requests", O.LogRequests,
               "A line of JSON on standard error for each request, without "
               "what was said");
  App.add_flag("--log-content", O.LogContent, "The same with what was said");
  auto *Record = App.add_option(
      "--record", O.RecordFile,
      "Keep requests and answers in this file, for tenon replay; it holds what "
      "users said, and is readable by its owner alone");
  constexpr uint64_t MostMebibytes = 1 << 20;
  App.add_option("--record-mib", O.RecordMebibytes,
                 "Mebibytes of the record, behind which it becomes FILE.1 "
                 "[256]")
      ->check(between(uint64_t(1), MostMebibytes))
      ->needs(Record);
}

struct ReplayArguments {
  std::vector<std::string> Models;
  ReplayOptions Options;
};

static void addReplayOptions(CLI::App &App, ReplayArguments &Replay) {
  ReplayOptions &O = Replay.Options;
  App.add_option("record", O.File, "What tenon serve --record has written")
      ->required();
  App.add_option("files", Replay.Models,
                 "Artifacts or models; NAME=FILE: what requests call it [the "
                 "file's name]")
      ->required();
  App.add_flag("--as-recorded", O.AsRecorded,
               "Give requests at the times at which they came [one after "
               "another]");
  App.add_option("--max-num-seqs", O.MaxNumSeqs,
                 "Most sequences that a model generates at once [as recorded]")
      ->check(between(int64_t(1), generation::MaxChoices));
  addEngineOptions(App, O.Serve);
  App.add_flag("--json", O.Json, "A JSON object a line for each request");
}

static void addExplainOptions(CLI::App &App, ExplainOptions &O) {
  App.add_option(
         "id", O.Id,
         "The request: X-Request-Id of its answer, or the answer's \"id\"")
      ->required();
  App.add_option("--url", O.Url,
                 "The server: http://HOST:PORT or unix:PATH "
                 "[http://127.0.0.1:8080]");
  App.add_option("--api-key-file", O.KeyFile,
                 "File whose first key is the one that the request came with");
  App.add_flag("--json", O.Json, "Print one JSON object");
}

/// Runs `Command` on the models that `Given` names, each FILE or NAME=FILE.
static Status whenOpen(const std::vector<std::string> &All,
                       ServeOptions &Options, const ModelOptions &Compiling,
                       const std::function<Status()> &Command) {
  std::vector<ModelArgument> Models;
  for (const std::string &Given : All) {
    std::string Name, File = Given;
    // A path that has a "=" is a path where there is such a file.
    if (size_t Equals = Given.find('=');
        Equals != std::string::npos && !std::filesystem::exists(Given)) {
      Name = Given.substr(0, Equals);
      File = Given.substr(Equals + 1);
    }
    Result<ModelArgument> Model = ModelArgument::open(File, Compiling);
    if (!Model)
      return Model.error();
    Options.Models.push_back({File, Model->artifact(), Name});
    Models.push_back(std::move(*Model));
  }
  if (Models.size() == 1)
    return Models.front().named(Command());
  return Command();
}

/// The same with the artifact to compare with, which is compiled as it is.
static Status evaluate(EvaluateOptions &Options,
                       const ModelOptions &Compiling) {
  if (Options.Against.empty())
    return evaluateModel(Options);
  Result<ModelArgument> Against =
      ModelArgument::open(Options.Against, Compiling);
  if (!Against)
    return Against.error().withContext("--against");
  Options.AgainstName = std::exchange(Options.Against, Against->artifact());
  return Against->named(evaluateModel(Options));
}

/// What the compiler knows of families and of models that are not compiled.
static Status inspectUncompiled(const InspectArguments &Arguments) {
  std::vector<std::string> Values{
      "inspect", Arguments.Families ? "--families" : Arguments.File};
  if (Arguments.Options.Json)
    Values.push_back("--json");
  if (Arguments.Context)
    Values.push_back("--context=" + std::to_string(*Arguments.Context));
  for (const std::string &Key : Arguments.IgnoredConfigKeys)
    Values.push_back("--ignore-config-key=" + Key);
  if (!Arguments.Html.empty())
    Values.insert(Values.end(), {"--html", Arguments.Html, "--target-cpu",
                                 Arguments.HtmlLevel});
  return startCompiler(Values);
}

static Status inspect(const InspectArguments &Arguments) {
  if (Arguments.Families)
    return inspectUncompiled(Arguments);
  Result<bool> Packed = isPacked(Arguments.File);
  if (!Packed)
    return Packed.error();
  const InspectOptions &Options = Arguments.Options;
  auto Refuse = [&](const char *Option, const char *Needed) {
    return Error(Arguments.File + ": " + Option + ": expected " + Needed);
  };
  if (*Packed && !Arguments.Html.empty())
    return Error(Arguments.File +
                 ": is an artifact, which holds no graph: --html expects the "
                 "model that it was compiled from");
  if (!*Packed) {
    for (auto [Option, IsGiven] :
         {std::pair("--verify", Options.Verify),
          std::pair("--memory-plan", Options.MemoryPlan),
          std::pair("--matmuls", Options.Matmuls)})
      if (IsGiven)
        return Refuse(Option, "an artifact");
    return inspectUncompiled(Arguments);
  }
  if (Arguments.Context)
    return Refuse("--context", "a model that is not compiled");
  if (!Arguments.IgnoredConfigKeys.empty())
    return Refuse("--ignore-config-key", "a model that is not compiled");
  Result<Artifact> File = Artifact::open(Arguments.File);
  if (!File)
    return File.error();
  std::string Text;
  if (Status Done = inspectArtifact(*File, Arguments.Options, Text); !Done)
    return Done;
  return print(Text);
}

static bool isCompilers(std::string_view Command) {
  return Command == "compile" || Command == "bisect";
}

int main(int Count, char **Values) {
  holdStandardStreams();
  // The compiler parses its own options.
  if (Count > 1 && isCompilers(Values[1]))
    return fail(startCompiler({Values + 1, Values + Count}).message());

  CLI::App App("Compiles Transformer models into single files and runs them.",
               "tenon");
  App.set_version_flag("--version", "tenon " TENON_VERSION);
  App.require_subcommand(1);
  App.add_subcommand("compile",
                     "Compile a model into an artifact (see tenon compile "
                     "--help)");
  App.add_subcommand("bisect",
                     "Name the pass, layer and operation that a model is first "
                     "wrong after (see tenon bisect --help)");

  RunOptions Run;
  CLI::App *RunApp =
      App.add_subcommand("run", "Generate text, or write a model's raw output");
  addRunOptions(*RunApp, Run);

  RunOptions Chat;
  CLI::App *ChatApp =
      App.add_subcommand("chat", "Talk with a model that has a chat template");
  addChatOptions(*ChatApp, Chat);

  ServeArguments Serve;
  CLI::App *ServeApp = App.add_subcommand(
      "serve", "Answer requests over HTTP: OpenAI's and Anthropic's APIs");
  addServeOptions(*ServeApp, Serve);

  ReplayArguments Replay;
  CLI::App *ReplayApp = App.add_subcommand(
      "replay", "Give the requests of a record of tenon serve again, and "
                "compare the answers");
  addReplayOptions(*ReplayApp, Replay);

  ExplainOptions Explain;
  CLI::App *ExplainApp = App.add_subcommand(
      "explain", "Say what happened to a request of tenon serve");
  addExplainOptions(*ExplainApp, Explain);

  EmbedOptions Embed;
  CLI::App *EmbedApp =
      App.add_subcommand("embed", "Print pooled embeddings of texts");
  EmbedApp->add_option("file", Embed.File, FileHelp)->required();
  // CLI11 would take "[a, b]" apart among several values of one option.
  std::vector<std::string> OneEach, More;
  CLI::Option *Text = EmbedApp->add_option(
      "--text", OneEach, "A text, behind which more may stand");
  Text->type_size(1)->allow_extra_args(false);
  CLI::Option *MoreText =
      EmbedApp->add_option("more", More, "More texts, with --text");
  MoreText->needs(Text)->allow_extra_args(false);
  EmbedApp->add_option("--text-file", Embed.TextFile,
                       "File with one text a line; -: standard input");
  EmbedApp->add_option(
      "--input", Embed.Input,
      "File of any number of texts, one a line: a JSON string "
      "or an object with a \"text\"; -: standard input. Prints "
      "one JSON object a line, in the same order");
  EmbedApp->add_option("--output", Embed.Output,
                       "With --input: write an array [texts, width] in f32 to "
                       "this .npy file instead");
  addThreads(*EmbedApp, Embed.Threads);
  EmbedApp->add_flag("--json", Embed.Json, "Print one JSON object");

  EvaluateOptions Evaluate;
  CLI::App *EvaluateApp = App.add_subcommand(
      "evaluate", "Print a decoder's perplexity on a text, and how far it is "
                  "from another artifact");
  EvaluateApp->footer(
      "The text is cut into windows of equal length that share no token; what "
      "fills none at its end is left out. Of a window of n tokens those from "
      "n/2 + 1 on are scored, counted from 0, each given all before it in the "
      "window. Of a text that is shorter than a window all but the first are "
      "scored. The special tokens that the tokenizer puts before a text stand "
      "at the beginning of every window, in place of its own.");
  EvaluateApp->add_option("file", Evaluate.File, FileHelp)->required();
  EvaluateApp->add_option("--text", Evaluate.Text,
                          "File with the text; -: standard input");
  EvaluateApp
      ->add_option("--token-ids", Evaluate.TokenIds,
                   "Token ids in place of text: 1,2,3 or @FILE.npy")
      ->check(tokenIds());
  EvaluateApp->add_option("--against", Evaluate.Against,
                          "Artifact or model to compare with, the reference "
                          "(a model is compiled as it is): its "
                          "perplexity, the KL divergence from it in nats per "
                          "token, and how often the likeliest tokens agree");
  EvaluateApp->add_option("--context", Evaluate.Context,
                          "Tokens of a window [512, or the longest sequence "
                          "where that is shorter]");
  addThreads(*EvaluateApp, Evaluate.Threads);
  EvaluateApp->add_flag("--json", Evaluate.Json, "Print one JSON object");

  TokenizeArguments Tokenize;
  CLI::App *TokenizeApp =
      App.add_subcommand("tokenize", "Turn text into token ids, or back");
  TokenizeApp
      ->add_option(
          "file", Tokenize.File,
          "Artifact, tokenizer.json, or a directory that holds one; or "
          "a .gguf file, which is compiled and kept (tenon cache)")
      ->required();
  auto *Modes = TokenizeApp->add_option_group("what");
  Modes->add_option("--text", Tokenize.Options.Text, "Text to turn into ids");
  Modes->add_option("--json-lines", Tokenize.Options.JsonLinesFile,
                    "JSON file: an array of texts");
  Modes
      ->add_option("--decode", Tokenize.Decode,
                   "Ids to turn into text: 1,2,3 or @FILE.npy")
      ->check(tokenIds());
  Modes->require_option(1);

  GrammarArguments CheckGrammar;
  CLI::App *GrammarApp = App.add_subcommand(
      "grammar", "Say which texts a constraint of the output accepts, token by "
                 "token");
  GrammarApp
      ->add_option("file", CheckGrammar.File,
                   "Artifact, tokenizer.json, or a directory that holds one; "
                   "or a .gguf file, which is compiled and kept (tenon cache)")
      ->required();
  auto *Constraint = GrammarApp->add_option_group("constraint");
  addGrammarChoice(*Constraint, CheckGrammar.Options.What);
  Constraint->add_option(
      "--batch", CheckGrammar.Options.BatchFile,
      "JSON file: an array of objects of schema, regex, ebnf or choices, and "
      "texts");
  Constraint->require_option(1);
  addGrammarSettings(*GrammarApp, CheckGrammar.Options.What);
  GrammarApp->add_option("--texts", CheckGrammar.Options.TextsFile,
                         "JSON file: an array of texts [none: only whether the "
                         "constraint is valid]");
  GrammarApp->add_flag("--json", CheckGrammar.Options.AsJson,
                       "Print one JSON object");
  GrammarApp->add_flag("--times", CheckGrammar.Options.Times,
                       "In JSON: what compiling and each mask took of a core");

  chat::TemplateOptions ChatTemplate;
  CLI::App *TemplateApp = App.add_subcommand(
      "template", "Turn a conversation into the text that a chat template "
                  "makes of it");
  TemplateApp->add_option("file", ChatTemplate.File, "Template, a Jinja file")
      ->required();
  TemplateApp
      ->add_option("--json", ChatTemplate.UserFile,
                   "JSON file: an object with messages, tools, "
                   "add_generation_prompt and other variables")
      ->required();
  TemplateApp->add_option("--model-json", ChatTemplate.ModelFile,
                          "JSON file: an object with bos_token and other "
                          "variables of the model");
  TemplateApp->add_flag("--pieces", ChatTemplate.Pieces,
                        "Print a JSON array of the pieces that the template "
                        "and the user wrote");

  InspectArguments Inspect;
  CLI::App *InspectApp = App.add_subcommand(
      "inspect", "Show what an artifact or a model consists of");
  InspectApp->add_option("file", Inspect.File, "Artifact or model");
  auto *Families =
      InspectApp->add_flag("--families", Inspect.Families,
                           "Show the model families that can be compiled");
  InspectApp->add_flag("--json", Inspect.Options.Json, "Print one JSON object");
  auto *Html = InspectApp->add_option(
      "--html", Inspect.Html,
      "Write graphs, layers, matmuls and memory plan of a model to this HTML "
      "file instead");
  InspectApp
      ->add_option("--target-cpu", Inspect.HtmlLevel,
                   "CPU level that --html shows code for")
      ->needs(Html)
      ->capture_default_str();
  InspectApp->add_flag("--verify", Inspect.Options.Verify,
                       "Check the weights' checksums too");
  InspectApp->add_flag("--memory-plan", Inspect.Options.MemoryPlan,
                       "Show where every value of an artifact's arena lies");
  InspectApp->add_flag("--matmuls", Inspect.Options.Matmuls,
                       "Show the matmuls that an artifact's code asks the "
                       "library for");
  InspectApp->add_option("--context", Inspect.Context,
                         "Tokens that a model's FLOPs are counted for [the "
                         "longest sequence]");
  InspectApp
      ->add_option("--ignore-config-key", Inspect.IgnoredConfigKeys,
                   "Keys of config.json to leave out although nothing reads "
                   "them, separated by commas")
      ->delimiter(',')
      ->allow_extra_args(false);

  for (const char *OfModels : {"--html", "--verify", "--memory-plan",
                               "--matmuls", "--context", "--ignore-config-key"})
    Families->excludes(InspectApp->get_option(OfModels));

  BenchOptions Bench;
  CLI::App *BenchApp =
      App.add_subcommand("bench", "Measure speed with random tokens");
  BenchApp->add_option("file", Bench.File, FileHelp)->required();
  constexpr int64_t MostTokens = 1 << 24, MostRounds = 1 << 20;
  BenchApp
      ->add_option("--prompt-tokens", Bench.PromptTokens,
                   "Tokens of each prompt [512, or what the model's length "
                   "leaves]")
      ->check(between(int64_t(1), MostTokens));
  BenchApp
      ->add_option("--new-tokens", Bench.NewTokens,
                   "Tokens to decode after it [32, or what the model's length "
                   "leaves]")
      ->check(between(int64_t(0), MostTokens));
  BenchApp->add_option("--batch", Bench.Batch, "Sequences at once")
      ->check(between(int64_t(1), MostRounds))
      ->capture_default_str();
  BenchApp->add_option("--repeat", Bench.Repeat, "Rounds; medians are printed")
      ->check(between(int64_t(1), MostRounds))
      ->capture_default_str();
  addThreads(*BenchApp, Bench.Threads);
  BenchApp->add_flag("--json", Bench.Json, "Print one JSON object");
  auto *Profile = BenchApp->add_flag(
      "--profile", Bench.Profile,
      "Say what every kernel takes, and how far that is from what the machine "
      "can do; a round before those that count warms up");
  BenchApp
      ->add_flag("--profile-layers", Bench.ProfileLayers,
                 "Add a table by layer (--json has every kernel by layer)")
      ->needs(Profile);
  BenchApp
      ->add_option("--profile-svg", Bench.ProfileSvg,
                   "Draw the profile as a roofline into this SVG file")
      ->needs(Profile);

  // Only one command is parsed.
  ModelOptions Compiling;
  for (CLI::App *Command : {RunApp, ChatApp, ServeApp, ReplayApp, EmbedApp,
                            EvaluateApp, TokenizeApp, GrammarApp, BenchApp})
    addModelOptions(*Command, Compiling);

  CacheArguments Cache;
  CLI::App *CacheApp = App.add_subcommand(
      "cache", "Add, show or remove models that are compiled to be run");
  CacheApp->require_subcommand(1);
  CacheApp->footer("They are kept in $TENON_CACHE_DIR, else in "
                   "$XDG_CACHE_HOME/tenon, else in ~/.cache/tenon.");
  CLI::App *CacheList =
      CacheApp->add_subcommand("list", "Show them, the last used first");
  CacheList->add_flag("--json", Cache.Json, "Print a JSON array");
  CLI::App *CacheClear = CacheApp->add_subcommand("clear", "Remove them");
  CacheClear
      ->add_option("--older-than", Cache.OlderThan,
                   "Only those that were not used in so many days")
      ->check(between(0.0, MostDays));
  CLI::App *CacheAdd = CacheApp->add_subcommand(
      "add", "Compile a model into it, unless it is there, and print the path "
             "of the artifact");
  CacheAdd->add_option("model", Cache.Model, "Directory, or .gguf file")
      ->required();
  addCompileSettings(*CacheAdd, Compiling,
                     CacheAdd->option_defaults()->get_group());
  addProgressOption(*CacheAdd, Compiling.Progress);
  CacheApp->add_subcommand("path", "Print the folder that they are kept in");

  std::string Shell;
  CLI::App *CompletionApp = App.add_subcommand(
      "completion", "Print a script that makes a shell complete the words of "
                    "tenon: source it, or store it where the shell looks");
  CompletionApp->add_option("shell", Shell, "The shell")
      ->required()
      ->check(oneOf({"bash", "zsh", "fish"}));

  // The compiler completes the words of its own commands.
  if (Count > 3 && std::strcmp(Values[1], "__complete") == 0 &&
      isCompilers(Values[2]))
    return fail(startCompiler({Values + 1, Values + Count}).message());
  std::vector<std::string> Pages = {""};
  for (const CLI::App *Command : App.get_subcommands(nullptr))
    if (!isCompilers(Command->get_name()))
      Pages.push_back(Command->get_name());
  if (std::optional<int> Answered = answerScripts(App, Count, Values, Pages))
    return *Answered;

  auto IsCommand = [&](const CLI::App *Command) {
    return Command->check_name(Values[1]);
  };
  if (Count > 1 && Values[1][0] != '-' &&
      App.get_subcommands(IsCommand).empty())
    return fail(unknownCommand(App, Values[1]) + " (see --help)", ExitUsage);
  if (std::optional<int> Ended = parseCommandLine(App, Count, Values))
    return *Ended;

  Status Done;
  if (RunApp->parsed()) {
    if (std::string Wrong = usageErrorOf(Run); !Wrong.empty())
      return fail("run: " + Wrong, ExitUsage);
    Done = whenAble(Run, Compiling, [](const RunOptions &Options) {
      return Options.Requests.empty() ? runModel(Options)
                                      : runRequests(Options);
    });
  } else if (ChatApp->parsed()) {
    if (std::string Wrong = usageErrorOf(Chat.Must); !Wrong.empty())
      return fail("chat: " + Wrong, ExitUsage);
    Done = whenAble(Chat, Compiling, chatWithModel);
  } else if (ServeApp->parsed()) {
    Done = whenOpen(Serve.Models, Serve.Options, Compiling,
                    [&] { return serveModels(Serve.Options); });
  } else if (ReplayApp->parsed()) {
    Done = whenOpen(Replay.Models, Replay.Options.Serve, Compiling,
                    [&] { return replayRequests(Replay.Options); });
  } else if (ExplainApp->parsed()) {
    Done = explainRequest(Explain);
  } else if (EmbedApp->parsed()) {
    auto NextText = OneEach.begin(), NextMore = More.begin();
    for (const CLI::Option *O : EmbedApp->parse_order())
      if (O == Text)
        Embed.Texts.push_back(*NextText++);
      else if (O == MoreText)
        Embed.Texts.push_back(*NextMore++);
    if (std::string Wrong = usageErrorOf(Embed); !Wrong.empty())
      return fail("embed: " + Wrong, ExitUsage);
    Done = whenAble(Embed, Compiling,
                    Embed.Input.empty() ? embedTexts : embedInput);
  } else if (EvaluateApp->parsed()) {
    if (Evaluate.Text.empty() == Evaluate.TokenIds.empty())
      return fail("evaluate: expected --text or --token-ids", ExitUsage);
    Done = whenAble(Evaluate, Compiling, [&](EvaluateOptions &Options) {
      return evaluate(Options, Compiling.withoutSettings());
    });
  } else if (TemplateApp->parsed()) {
    std::string Text;
    Done = chat::runTemplate(ChatTemplate, Text);
    if (Done)
      Done = print(Text);
  } else if (TokenizeApp->parsed()) {
    Done = tokenize(Tokenize, Compiling);
  } else if (GrammarApp->parsed()) {
    const grammar::GrammarOptions &O = CheckGrammar.Options;
    bool IsBatch = !O.BatchFile.empty();
    if (std::string Wrong = usageErrorOf(O.What); !Wrong.empty() && !IsBatch)
      return fail("grammar: " + Wrong, ExitUsage);
    if (IsBatch && !O.TextsFile.empty())
      return fail("grammar: --batch takes no --texts", ExitUsage);
    if (O.Times && !O.AsJson && !IsBatch)
      return fail("grammar: --times needs --json or --batch", ExitUsage);
    Done = checkGrammar(CheckGrammar, Compiling);
  } else if (CacheApp->parsed()) {
    Done = CacheList->parsed()    ? listCache(Cache.Json)
           : CacheClear->parsed() ? clearCache(Cache.OlderThan)
           : CacheAdd->parsed()   ? addToCache(Cache.Model, Compiling)
                                  : printCachePath();
  } else if (CompletionApp->parsed()) {
    Done = print(completionScript(Shell));
  } else if (InspectApp->parsed()) {
    if (Inspect.File.empty() != Inspect.Families)
      return fail("inspect: expected a file, or --families", ExitUsage);
    Done = inspect(Inspect);
  } else if (BenchApp->parsed()) {
    Done = whenAble(Bench, Compiling, benchModel);
  }
  return exitStatusOf(Done);
}

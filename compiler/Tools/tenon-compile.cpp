//===- tenon-compile.cpp - The compiler's command line --------------------===//
//
// Started by `tenon compile`, `tenon inspect MODEL` and `tenon bisect`; see
// --help.
//
//===----------------------------------------------------------------------===//

#include "compiler/Bisect/BisectModel.h"
#include "compiler/Calibration/Calibration.h"
#include "compiler/Driver/Compile.h"
#include "compiler/Families/FamilyTable.h"
#include "compiler/Report/Report.h"
#include "passes/Pipelines/Pipelines.h"
#include "runtime/Abi/CompileChoices.h"
#include "runtime/Abi/CpuLevel.h"
#include "runtime/Support/Console.h"
#include "runtime/Support/OutputFile.h"
#include "runtime/Tool/CommandLine.h"
#include "runtime/Tool/CommandTree.h"
#include "runtime/ToolCalls/ToolFormat.h"

#include "llvm/Support/GlobPattern.h"

using namespace tenon;
using namespace tenon::tool;

namespace {

/// What --target-cpu takes.
std::vector<std::string> levelNames() {
  std::vector<std::string> Names = {"native"};
  llvm::append_range(Names, cpuLevelNames());
  return Names;
}

/// Accepts one of `Choices`.
CLI::Validator oneOfChoices(llvm::ArrayRef<std::string_view> Choices) {
  return oneOf({Choices.begin(), Choices.end()});
}

/// The level of one of these names; "native" is that of this machine.
Result<CpuLevel> levelOf(const std::string &Name) {
  return Name == "native" ? effectiveLevel() : *cpuLevelNamed(Name);
}

/// The same of several, each once.
Result<std::vector<CpuLevel>> levelsOf(const std::vector<std::string> &Names) {
  std::vector<CpuLevel> Levels;
  for (const std::string &Name : Names) {
    Result<CpuLevel> Level = levelOf(Name);
    if (!Level)
      return Level.error();
    if (std::find(Levels.begin(), Levels.end(), *Level) == Levels.end())
      Levels.push_back(*Level);
  }
  return Levels;
}

/// Draws the model of `Inspection` for the CPU level `LevelName` into the file
/// `Path`.
Status writeReport(const InspectModelOptions &Inspection,
                   const std::string &LevelName, const std::string &Path) {
  Result<CpuLevel> Level = levelOf(LevelName);
  if (!Level)
    return Level.error();
  Result<OutputFile> File = OutputFile::create(Path, {{Inspection.Model}});
  if (!File)
    return File.error();
  Result<ModelReport> Report =
      reportModel(Inspection.Model, *Level, Inspection.IgnoredConfigKeys);
  if (!Report)
    return Report.error();
  for (const std::string &Note : Report->Notes)
    printNote(Note);
  if (Status Written = File->append(toHtml(*Report)); !Written)
    return Written;
  return File->finish();
}

/// Names of the stages, and what holds after each, for --help.
std::vector<std::string> stageNames() {
  std::vector<std::string> Names;
  for (const Stage &S : stages())
    Names.push_back(S.Name.str());
  return Names;
}

std::string stageHelp() {
  std::string Text = "Stages, in order:\n";
  for (const Stage &S : stages())
    Text += "  " + S.Name.str() + ": " + S.Holds.str() + "\n";
  return Text;
}

/// Keys of config.json that are not refused, of commands that read one.
void addIgnored(CLI::App &Command, std::vector<std::string> &Keys) {
  Command
      .add_option("--ignore-config-key", Keys,
                  "Keys of config.json to leave out although nothing reads "
                  "them, separated by commas")
      ->delimiter(',')
      ->allow_extra_args(false);
}

/// What is wrong with the options of a compilation taken together; empty:
/// nothing.
std::string usageErrorOf(const CompileOptions &Options) {
  if (!Options.Calibrate.empty() && Options.Quantize == "none")
    return "--calibrate needs --quantize int8 or int4: without it there is "
           "nothing that a text could change";
  if (Options.Emit == "artifact" && Options.UntilAfter.empty()) {
    if (Options.Output.empty() || Options.Output == "-")
      return "an artifact needs a file: expected -o FILE";
    if (!Options.FromStage.empty() && Options.Weights.empty())
      return "--from-stage needs --weights for an artifact: a dump has none";
    return "";
  }
  for (auto [Option, IsGiven] :
       {std::pair("--calibrate", !Options.Calibrate.empty()),
        std::pair("--tool-format", !Options.ToolFormat.empty()),
        std::pair("--prefix", !Options.Prefix.empty())})
    if (IsGiven)
      return std::string(Option) + " is for an artifact, not for text";
  return "";
}

/// Optional passes, for --disable-pass.
std::vector<std::string> optionalNames() {
  llvm::SmallVector<std::string> Names = optionalPasses();
  return {Names.begin(), Names.end()};
}

//===--- tenon compile ---------------------------------------------------===//

struct CompileArguments {
  CompileOptions Options;
  std::vector<std::string> LevelNames = {"native"};
  std::string Dtype = "auto";
};

void addCompile(CLI::App &App, CompileArguments &Given) {
  CompileOptions &Options = Given.Options;
  CLI::App *Compile =
      App.add_subcommand("compile", "Compile a model description");
  Compile->footer(stageHelp());
  std::vector<std::string> Emitted = stageNames();
  Emitted.insert(Emitted.end(), {"asm", "artifact"});
  Compile
      ->add_option("model", Options.Model,
                   "Hugging Face directory; GGUF file; .mlir file in the "
                   "transformer dialect, or a dump with --from-stage; "
                   "config.json, for its IR alone")
      ->required();
  Compile->add_option("-o,--output", Options.Output,
                      "Artifact, or file for the emitted text");
  Compile->add_option("--weights", Options.Weights,
                      "Checkpoint of a .mlir model or of a dump");
  Compile
      ->add_option("--dtype", Given.Dtype,
                   "Element type of unquantised matrices, and the one that "
                   "quantised ones are multiplied in")
      ->check(oneOfChoices(DtypeChoices))
      ->capture_default_str();
  Compile
      ->add_option("--quantize", Options.Quantize,
                   "What matrices are quantised to; none leaves quantised ones "
                   "as they are")
      ->check(oneOfChoices(QuantizeChoices))
      ->capture_default_str();
  Compile
      ->add_option("--quantize-exclude", Options.QuantizeExclude,
                   "Matrices that are not, but stay as they are: patterns of "
                   "tensor names with '*', separated by commas")
      ->delimiter(',')
      ->check([](const std::string &Text) -> std::string {
        llvm::Expected<llvm::GlobPattern> Pattern =
            llvm::GlobPattern::create(Text);
        return Pattern ? "" : llvm::toString(Pattern.takeError());
      })
      ->allow_extra_args(false)
      ->needs(Compile->get_option("--quantize"));
  auto *Calibrate = Compile->add_option(
      "--calibrate", Options.Calibrate,
      "Text file, - for standard input, or auto for text that the model "
      "generates, which the model reads as it is before it is quantised: "
      "weights that are quantised later make up for errors of earlier ones "
      "(GPTQ), by what the text multiplies them with. Takes memory for all "
      "weights of the model, in 16 bits, and 2 KiB for each input feature of a "
      "matrix");
  Calibrate->needs(Compile->get_option("--quantize"));
  Compile
      ->add_option("--calibrate-tokens", Options.CalibrateTokens,
                   "Most tokens of that text: of a file in windows of " +
                       std::to_string(CalibrationWindow) +
                       " from all over it, generated ones in windows of " +
                       std::to_string(GeneratedWindow) + " [" +
                       std::to_string(DefaultCalibrationTokens) + "]")
      ->check(between(MinCalibrationTokens, int64_t(1) << 24))
      ->needs(Calibrate);
  Compile->add_option(
      "--prefix", Options.Prefix,
      "JSON lines, each a prompt, or an object with prompt, token_ids or "
      "messages (and tools): the model runs them, and the artifact keeps what "
      "prompts that begin so need not run again on this kind of CPU");
  std::vector<std::string> ToolFormats = {"none"};
  for (const tools::ToolFormat &Format : tools::toolFormats())
    ToolFormats.emplace_back(Format.Name);
  Compile
      ->add_option("--tool-format", Options.ToolFormat,
                   "How the model writes tool calls [found in its chat "
                   "template]")
      ->check(oneOf(ToolFormats));
  Compile
      ->add_option(
          "--kv-cache", Options.KvCache,
          "What the KV cache stores; int8, not for latent attention, is "
          "integers with a scale per token and head")
      ->check(oneOfChoices(CacheChoices))
      ->capture_default_str();
  Compile
      ->add_option("--target-cpu", Given.LevelNames,
                   "CPU levels to generate code for, separated by commas")
      ->check(listOf(levelNames()))
      ->capture_default_str();
  Compile
      ->add_option("--max-seq-len", Options.MaxSequence,
                   "Most tokens of a sequence")
      ->check(atLeast<int64_t>(1));
  Compile
      ->add_option("--max-tokens-per-step", Options.MaxTokensPerStep,
                   "Most tokens of one step; sizes the arena")
      ->check(between<int64_t>(1, 1 << 20));
  Compile
      ->add_option("--few-tokens", Options.FewTokens,
                   "Batches of at most this many tokens are decode-sized and "
                   "stream the weights through generated kernels [bf16: 24 "
                   "where every level is avx512_bf16, 2 where it is amx, else "
                   "8; quantised: 3, or 8 where activations are exact or in "
                   "tiles; f32: 8]")
      ->check(between<int64_t>(1, 64));
  Compile
      ->add_option("--activations", Options.Activations,
                   "Whether activations are quantised in groups of 32 for "
                   "products with quantised weights, where the CPU level has "
                   "dot products of integers (auto), or never (exact)")
      ->check(oneOfChoices(ActivationChoices))
      ->capture_default_str();
  addIgnored(*Compile, Options.IgnoredConfigKeys);
  CLI::Option *Emit =
      Compile->add_option("--emit", Options.Emit, "What to write")
          ->check(oneOf(Emitted))
          ->capture_default_str();
  Compile
      ->add_option("--until-after", Options.UntilAfter,
                   "Stop after this stage and write its IR")
      ->check(oneOf(stageNames()))
      ->excludes(Emit);
  CLI::Option *FromStage = Compile->add_option(
      "--from-stage", Options.FromStage,
      "MODEL is what --dump-stages wrote at the end of this stage, whose "
      "options hold; needs --weights");
  FromStage->check(oneOf(stageNames()));
  Options.Progress = ProgressForm::Terminal;
  addProgressOption(*Compile, Options.Progress);
  for (const char *Past :
       {"--dtype", "--quantize", "--quantize-exclude", "--calibrate",
        "--calibrate-tokens", "--tool-format", "--kv-cache", "--target-cpu",
        "--max-seq-len", "--max-tokens-per-step", "--few-tokens",
        "--activations"})
    FromStage->excludes(Compile->get_option(Past));
  Compile
      ->add_option("--disable-pass", Options.DisabledPasses,
                   "Optional passes to leave out, separated by commas")
      ->check(listOf(optionalNames()));
  Compile->add_option("--dump-stages", Options.DumpDirectory,
                      "Directory for the IR after every pass");
  Compile->add_flag("--remarks", Options.Remarks,
                    "Say what was fused, placed and packed, and why not");
}

int runCompile(CompileArguments &Given) {
  CompileOptions &Options = Given.Options;
  if (std::string Wrong = usageErrorOf(Options); !Wrong.empty())
    return fail(Wrong, ExitUsage);
  if (Given.Dtype != "auto")
    Options.MatrixType = elementTypeNamed(Given.Dtype);
  Result<std::vector<CpuLevel>> Levels = levelsOf(Given.LevelNames);
  if (!Levels)
    return fail(Levels.error().message());
  Options.Levels = *Levels;
  bool IsUntil = !Options.UntilAfter.empty();
  const std::string &Last = IsUntil ? Options.UntilAfter : Options.Emit;
  if (std::optional<StageId> From = stageNamed(Options.FromStage),
      Wanted = stageNamed(Last);
      From && Wanted && *Wanted < *From)
    return fail(std::string(IsUntil ? "--until-after" : "--emit") + " is '" +
                    Last + "': expected '" + Options.FromStage +
                    "', as --from-stage says, or what comes after it",
                ExitUsage);
  return exitStatusOf(compile(Options));
}

//===--- tenon inspect ---------------------------------------------------===//

struct InspectArguments {
  InspectModelOptions Inspection;
  bool Families = false;
  std::string HtmlPath, HtmlLevel = "native";
};

CLI::App *addInspect(CLI::App &App, InspectArguments &Given) {
  InspectModelOptions &Inspection = Given.Inspection;
  CLI::App *Inspect = App.add_subcommand(
      "inspect", "Parameters, operations and cache of a model description");
  auto *What = Inspect->add_option(
      "model", Inspection.Model, "Directory, config.json, GGUF or .mlir file");
  Inspect
      ->add_flag("--families", Given.Families,
                 "The model families, what each is made of, and the forms of "
                 "checkpoints that are read")
      ->excludes(What);
  Inspect->add_option("--context", Inspection.Context,
                      "Tokens that FLOPs are counted for [the longest "
                      "sequence]");
  addIgnored(*Inspect, Inspection.IgnoredConfigKeys);
  auto *JsonFlag = Inspect->add_flag("--json", Inspection.AsJson, "Print JSON");
  auto *Html = Inspect
                   ->add_option("--html", Given.HtmlPath,
                                "Write graphs, layers, matmuls and memory plan "
                                "to this HTML file instead")
                   ->needs(What)
                   ->excludes(JsonFlag);
  Inspect
      ->add_option("--target-cpu", Given.HtmlLevel,
                   "CPU level that --html shows code for")
      ->needs(Html)
      ->check(oneOf(levelNames()))
      ->capture_default_str();
  return Inspect;
}

int runInspect(const InspectArguments &Given) {
  const InspectModelOptions &Inspection = Given.Inspection;
  if (!Given.Families && Inspection.Model.empty())
    return fail("inspect: expected a model, or --families", ExitUsage);
  if (!Given.HtmlPath.empty())
    return exitStatusOf(
        writeReport(Inspection, Given.HtmlLevel, Given.HtmlPath));
  Result<std::string> Text = Given.Families ? familyTable(Inspection.AsJson)
                                            : inspectModel(Inspection);
  if (!Text)
    return fail(Text.error().message());
  return exitStatusOf(print(*Text));
}

//===--- tenon bisect ----------------------------------------------------===//

struct BisectArguments {
  bisect::BisectModelOptions Bisection;
  std::string LevelName = "native";
};

CLI::App *addBisect(CLI::App &App, BisectArguments &Given) {
  bisect::BisectModelOptions &Bisection = Given.Bisection;
  CLI::App *Bisect = App.add_subcommand(
      "bisect", "Name the first pass, layer and operation whose result differs "
                "from the model's; exit status 3 when one does");
  Bisect
      ->add_option("model", Bisection.Model,
                   "Hugging Face directory, GGUF or .mlir file")
      ->required();
  Bisect->add_option("--weights", Bisection.Weights,
                     "Checkpoint of a .mlir model");
  addIgnored(*Bisect, Bisection.IgnoredConfigKeys);
  Bisect
      ->add_option("--token-ids", Bisection.TokenIds,
                   "Ids to run the model on: 1,2,3 or @FILE.npy [some]")
      ->check(tokenIds());
  Bisect->add_option("--against", Bisection.Against,
                     "Reference output of --token-ids: .npy of [tokens, "
                     "width] f32, compared with the imported model first");
  Bisect
      ->add_option("--target-cpu", Given.LevelName,
                   "CPU level to compile for, which must run here")
      ->check(oneOf(levelNames()))
      ->capture_default_str();
  Bisect
      ->add_option("--few-tokens", Bisection.FewTokens,
                   "Most tokens of a decode-sized batch, as for compile")
      ->check(between<int64_t>(1, 64));
  Bisect
      ->add_option("--disable-pass", Bisection.DisabledPasses,
                   "Optional passes to leave out, separated by commas")
      ->check(listOf(optionalNames()));
  return Bisect;
}

int runBisect(BisectArguments &Given) {
  bisect::BisectModelOptions &Bisection = Given.Bisection;
  if (!Bisection.Against.empty() && !Bisection.TokenIds)
    return fail("--against needs --token-ids, those of the reference",
                ExitUsage);
  Result<CpuLevel> Level = levelOf(Given.LevelName);
  if (!Level)
    return fail(Level.error().message());
  Bisection.Level = *Level;
  Result<bisect::BisectAnswer> Answer = bisect::bisectModel(Bisection);
  if (!Answer)
    return fail(Answer.error().message());
  if (Status Printed = print(Answer->Text); !Printed)
    return exitStatusOf(Printed);
  return Answer->Differs ? ExitDiffers : 0;
}

} // namespace

int main(int Argc, char **Argv) {
  holdStandardStreams();
  // Under the name of the tool that starts it.
  CLI::App App("Compiles Transformer models into artifacts for `tenon`.",
               "tenon");
  App.set_version_flag("--version", "tenon " TENON_VERSION);
  App.require_subcommand(1);
  CompileArguments ToCompile;
  InspectArguments ToInspect;
  BisectArguments ToBisect;
  addCompile(App, ToCompile);
  CLI::App *Inspect = addInspect(App, ToInspect);
  CLI::App *Bisect = addBisect(App, ToBisect);

  if (std::optional<int> Answered = answerScripts(
          App, Argc, Argv, std::vector<std::string>{"compile", "bisect"}))
    return *Answered;
  if (std::optional<int> Ended = parseCommandLine(App, Argc, Argv))
    return *Ended;
  for (std::vector<std::string> *List :
       {&ToCompile.Options.DisabledPasses, &ToBisect.Bisection.DisabledPasses,
        &ToCompile.LevelNames})
    *List = *splitList("", *List); // Checked above.

  if (Inspect->parsed())
    return runInspect(ToInspect);
  if (Bisect->parsed())
    return runBisect(ToBisect);
  return runCompile(ToCompile);
}

//===- InspectArguments.cpp - tenon inspect, its options ------------------===//

#include "runtime/Tool/CommandArguments.h"

#include "runtime/Artifact/Artifact.h"
#include "runtime/Tool/CommandLine.h"
#include "runtime/Tool/Inspect.h"

#include <optional>

using namespace tenon;
using namespace tenon::artifact;
using namespace tenon::tool;

namespace {
struct InspectArguments {
  std::string File;
  bool Families = false;
  std::optional<int64_t> Context;
  std::vector<std::string> IgnoredConfigKeys;
  InspectOptions Options;
  std::string Html, HtmlLevel = "native";
};
} // namespace

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

Command tool::addInspectCommand(CLI::App &App) {
  auto Inspect = std::make_shared<InspectArguments>();
  CLI::App *Added = App.add_subcommand(
      "inspect", "Show what an artifact or a model consists of");
  Added->add_option("file", Inspect->File, "Artifact or model");
  auto *Families =
      Added->add_flag("--families", Inspect->Families,
                      "Show the model families that can be compiled");
  Added->add_flag("--json", Inspect->Options.Json, "Print one JSON object");
  auto *Html = Added->add_option(
      "--html", Inspect->Html,
      "Write graphs, layers, matmuls and memory plan of a model to this HTML "
      "file instead");
  Added
      ->add_option("--target-cpu", Inspect->HtmlLevel,
                   "CPU level that --html shows code for")
      ->needs(Html)
      ->capture_default_str();
  Added->add_flag("--verify", Inspect->Options.Verify,
                  "Check the weights' checksums too");
  Added->add_flag("--memory-plan", Inspect->Options.MemoryPlan,
                  "Show where every value of an artifact's arena lies");
  Added->add_flag("--matmuls", Inspect->Options.Matmuls,
                  "Show the matmuls that an artifact's code asks the "
                  "library for");
  Added->add_option("--context", Inspect->Context,
                    "Tokens that a model's FLOPs are counted for [the "
                    "longest sequence]");
  Added
      ->add_option("--ignore-config-key", Inspect->IgnoredConfigKeys,
                   "Keys of config.json to leave out although nothing reads "
                   "them, separated by commas")
      ->delimiter(',')
      ->allow_extra_args(false);

  for (const char *OfModels : {"--html", "--verify", "--memory-plan",
                               "--matmuls", "--context", "--ignore-config-key"})
    Families->excludes(Added->get_option(OfModels));
  return {Added, [=] {
            if (Inspect->File.empty() != Inspect->Families)
              return fail("inspect: expected a file, or --families", ExitUsage);
            return exitStatusOf(inspect(*Inspect));
          }};
}

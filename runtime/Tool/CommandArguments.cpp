//===- CommandArguments.cpp - What several commands need ------------------===//

#include "runtime/Tool/CommandArguments.h"

#include "runtime/Artifact/Artifact.h"
#include "runtime/Support/Console.h"
#include "runtime/Support/Paths.h"
#include "runtime/Tool/CommandLine.h"

#include <filesystem>

using namespace tenon;
using namespace tenon::artifact;
using namespace tenon::tokenizer;
using namespace tenon::tool;

Result<bool> tool::isPacked(const std::string &Path) {
  std::error_code Failure;
  if (std::filesystem::is_directory(Path, Failure))
    return false;
  if (!std::filesystem::exists(Path, Failure))
    return noSuchPath(Path);
  return isArtifact(Path);
}

/// With the tokenizer of an artifact, or of a tokenizer.json.
static Status withTokenizer(const std::string &Path,
                            const TokenizerCommand &Run) {
  auto Print = [&](const Result<Tokenizer> &T) -> Status {
    if (!T)
      return T.error();
    std::string Text;
    if (Status Done = Run(*T, Text); !Done)
      return Done;
    return print(Text);
  };
  Result<bool> Packed = isPacked(Path);
  if (!Packed)
    return Packed.error();
  if (!*Packed)
    return Print(Tokenizer::fromFile(Path));
  Result<Artifact> File = Artifact::open(Path);
  if (!File)
    return File.error();
  if (!File->manifest().Tokenizer)
    return Error(Path + ": the artifact has no tokenizer");
  Result<std::string> Text = File->tokenizerJson();
  if (!Text)
    return Text.error();
  return Print(Tokenizer::fromJson(*Text, Path + " (tokenizer)"));
}

Status tool::withTokenizerOf(const std::string &Path,
                             const ModelOptions &Compiling,
                             const TokenizerCommand &Run) {
  std::error_code Ignored;
  std::string Own = Path + "/tokenizer.json";
  if (std::filesystem::exists(Own, Ignored))
    return withTokenizer(Own, Run);
  if (std::filesystem::path(Path).extension() == ".json")
    return withTokenizer(Path, Run);
  Result<ModelArgument> Model = ModelArgument::open(Path, Compiling);
  if (!Model)
    return Model.error();
  return Model->named(withTokenizer(Model->artifact(), Run));
}

Status tool::withModels(const std::vector<std::string> &All,
                        ServeOptions &Options, const ModelOptions &Compiling,
                        const std::function<Status()> &Run) {
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
    return Models.front().named(Run());
  return Run();
}

void tool::addEngineOptions(CLI::App &App, ServeOptions &O) {
  addThreads(App, O.Threads);
  App.add_option(
         "--max-seq", O.MaxSeq,
         "Tokens that a model's KV cache holds [what fits in a quarter of "
         "the memory]")
      ->check(atLeast<int64_t>(1));
}

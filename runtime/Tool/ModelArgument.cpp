//===- ModelArgument.cpp - Artifacts and models as arguments --------------===//

#include "runtime/Tool/ModelArgument.h"

#include "runtime/ModelCache/ModelCache.h"
#include "runtime/Support/Console.h"
#include "runtime/Support/Json.h"
#include "runtime/Tool/Commands.h"
#include "runtime/Tool/StatusLine.h"

#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <random>
#include <unistd.h>

using namespace tenon;
using namespace tenon::tool;

static modelcache::Settings compileSettingsOf(const ModelOptions &Options) {
  modelcache::Settings All;
  for (size_t I = 0; I < modelcache::AllSettings.size(); ++I)
    if (Options.Values[I])
      All.*modelcache::AllSettings[I].Value = *Options.Values[I];
  return All;
}

/// An error when something is asked of an artifact that is up to compiling.
static Status checkCompiled(const std::string &Path,
                            const ModelOptions &Options) {
  std::string Option = Options.NoCache ? "no-cache" : "";
  for (size_t I = 0; I < modelcache::AllSettings.size(); ++I)
    if (Options.Values[I])
      Option = modelcache::AllSettings[I].Name;
  if (Option.empty())
    return {};
  return Error(Path + ": is an artifact, compiled already: --" + Option +
               " expects a model: a directory or a GGUF file");
}

/// Tells the user what happens to the model `Name`.
static modelcache::Events narrated(const std::string &Name, ProgressForm Form,
                                   StatusLine &Line) {
  modelcache::Events Heard;
  Heard.Note = [&Line](const std::string &Note) {
    Line.clear();
    printNote(Note);
  };
  switch (Form) {
  case ProgressForm::None:
    break;
  case ProgressForm::Terminal:
    Heard.Waits = [&Line, Name] {
      Line.show("waiting for another process that compiles " + Name);
    };
    if (Line.isShown())
      Heard.Progress = [&Line, Name](const std::string &Phase,
                                     std::optional<double> Share) {
        std::string Text = "compiling " + Name + ": " + Phase;
        if (Share)
          Text += " " + std::to_string(static_cast<int>(*Share * 100)) + " %";
        Line.show(Text);
      };
    break;
  case ProgressForm::Json:
    Heard.Progress = [](const std::string &Phase, std::optional<double> Share) {
      std::fputs(progressJson(Phase, Share).c_str(), stderr);
    };
    Heard.Waits = [Tell = Heard.Progress] {
      Tell("waiting for another process", std::nullopt);
    };
    break;
  }
  return Heard;
}

/// Compiles into a file without a name.
static Result<FileDescriptor>
compileUnnamed(const modelcache::ModelRequest &Wanted,
               const modelcache::Events &Heard) {
  // Not /tmp, which is memory on many machines.
  const char *Given = std::getenv("TMPDIR");
  std::string Folder = Given && *Given ? Given : "/var/tmp";
  // A name that nobody has put a link at.
  std::random_device Random;
  std::string Path = Folder + "/.tenon-" +
                     modelcache::hashOf(std::to_string(Random()) + " " +
                                        std::to_string(Random()) + " " +
                                        std::to_string(Random()) + " " +
                                        std::to_string(Random()));
  // It has a name from when it is whole until it is open.
  if (Status Compiled = compileModel(Wanted, Path, Heard); !Compiled)
    return Compiled.error();
  FileDescriptor File(::open(Path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!File)
    return systemError(Path, "cannot open");
  if (::unlink(Path.c_str()) != 0)
    return systemError(Path, "cannot remove");
  return File;
}

Result<ModelArgument> ModelArgument::open(const std::string &Path,
                                          const ModelOptions &Options) {
  ModelArgument Argument;
  Argument.Given = Argument.Artifact = Path;
  if (!modelcache::isModel(Path)) {
    if (Status IsThere = checkArtifactPath(Path); !IsThere)
      return IsThere.error();
    if (Status IsPlain = checkCompiled(Path, Options); !IsPlain)
      return IsPlain.error();
    return Argument;
  }
  Result<std::string> Compiler = modelcache::compilerPath();
  if (!Compiler)
    return Compiler.error();
  Result<modelcache::ModelFiles> Files = modelcache::findModelFiles(Path);
  if (!Files)
    return Files.error();
  for (const modelcache::ModelFiles::File &File : Files->Files)
    Argument.Files.push_back(File.Path);
  modelcache::ModelRequest Request{Path, compileSettingsOf(Options), *Compiler};

  StatusLine Line;
  modelcache::Events Heard = narrated(
      std::filesystem::path(Path).lexically_normal(), Options.Progress, Line);
  if (Options.NoCache) {
    Result<FileDescriptor> Made = compileUnnamed(Request, Heard);
    if (!Made)
      return Made.error();
    Argument.Unnamed = std::move(*Made);
    Argument.Artifact =
        "/proc/self/fd/" + std::to_string(Argument.Unnamed.get());
    return Argument;
  }
  Result<std::string> Place = modelcache::cachePath();
  if (!Place)
    return Place.error();
  Result<modelcache::CacheFolder> Folder =
      modelcache::CacheFolder::open(*Place);
  if (!Folder)
    return Folder.error();
  Result<std::string> Found =
      modelcache::obtainArtifact(*Folder, Request, Heard);
  if (!Found)
    return Found.error();
  Argument.Artifact = std::move(*Found);
  return Argument;
}

Status ModelArgument::named(const Status &Done) const {
  if (Done || Artifact == Given)
    return Done;
  std::string Message = Done.error().message();
  for (size_t At = 0; (At = Message.find(Artifact, At)) != std::string::npos;
       At += Given.size())
    Message.replace(At, Artifact.size(), Given);
  return Error(Done.error().kind(), Message);
}

//===- ModelPath.cpp - What is given as a model ---------------------------===//

#include "compiler/Families/ModelPath.h"

#include "runtime/Artifact/Format.h"
#include "runtime/Support/InputFile.h"
#include "runtime/Support/Paths.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <vector>

using namespace tenon;
namespace fs = std::filesystem;

/// What the directory `Path` is if it is no model.
static Status checkDirectory(const std::string &Path) {
  auto Has = [&](const char *Name) {
    std::error_code Ignored;
    // A dangling link is reported by the opening.
    return fs::exists(fs::symlink_status(Path + "/" + Name, Ignored));
  };
  if (Has("config.json"))
    return {};
  if (Has("model_index.json"))
    return Error(Path + ": is a diffusers pipeline, which is not read: "
                        "expected the directory of one Transformer model");
  if (Has("adapter_config.json"))
    return Error(Path + ": is a PEFT adapter: expected a whole model: merge "
                        "the adapter into its model (merge_and_unload) and "
                        "save_pretrained()");
  std::vector<std::string> Files;
  std::error_code Failure;
  for (fs::directory_iterator Entry(Path, Failure), End;
       !Failure && Entry != End; Entry.increment(Failure))
    if (Entry->path().extension() == ".gguf")
      Files.push_back(Entry->path().filename());
  if (Failure)
    return Error(Path + ": cannot read the directory: " + Failure.message());
  if (Files.empty())
    return Error(Path + ": has no config.json: expected a model's directory, "
                        "as save_pretrained() of Transformers writes it");
  std::sort(Files.begin(), Files.end());
  constexpr size_t MostShown = 8;
  std::string Names;
  for (size_t I = 0; I < std::min(Files.size(), MostShown); ++I)
    Names += (I == 0 ? "" : ", ") + Files[I];
  if (Files.size() > MostShown)
    Names += ", ...";
  return Error(Path + ": is a folder with GGUF files: expected one of them (" +
               Names + ")");
}

Status tenon::checkModelPath(const std::string &Path, bool TakesConfig) {
  std::error_code Ignored;
  fs::file_status There = fs::status(Path, Ignored);
  if (!fs::exists(There) && !fs::is_symlink(fs::symlink_status(Path, Ignored)))
    return noSuchPath(Path);
  if (fs::is_directory(There))
    return checkDirectory(Path);
  std::string Suffix = fs::path(Path).extension();
  if (isGgufFile(Path) || (TakesConfig && Suffix == ".json"))
    return {};
  if (!fs::is_regular_file(There))
    return Error(Path + ": is no regular file: expected a model");
  fs::path Folder = fs::path(Path).parent_path();
  std::string Directory = Folder.empty() ? "." : Folder.string();
  if (Suffix == ".safetensors")
    return Error(Path +
                 ": holds nothing but weights: expected the directory "
                 "of the model, with its config.json: " +
                 Directory);
  std::array<unsigned char, artifact::ArtifactMagic.size()> Start{};
  std::ifstream File(Path, std::ios::binary);
  if (File.read(reinterpret_cast<char *>(Start.data()), Start.size()) &&
      Start == artifact::ArtifactMagic)
    return Error(Path +
                 ": is an artifact, compiled already: expected a "
                 "model (tenon run " +
                 Path + " runs it)");
  return Error(Path + ": is no model: expected a Hugging Face directory, a "
                      "GGUF file or a .mlir file");
}

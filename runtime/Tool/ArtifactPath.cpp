//===- ArtifactPath.cpp - What is given in place of an artifact -----------===//

#include "runtime/Support/Paths.h"
#include "runtime/Tool/Commands.h"

#include <algorithm>
#include <filesystem>

using namespace tenon;

Status tool::checkArtifactPath(const std::string &Path) {
  namespace fs = std::filesystem;
  std::error_code Ignored;
  fs::file_status There = fs::status(Path, Ignored);
  if (!fs::exists(There) && !fs::is_symlink(fs::symlink_status(Path, Ignored)))
    return noSuchPath(Path);
  auto Compile = [](const std::string &Model) {
    std::string Name = fs::path(Model).lexically_normal().filename().stem();
    return ": tenon compile " + Model + " -o " +
           (Name.empty() || Name.starts_with('.') ? "model" : Name) + ".tenon";
  };
  if (fs::is_directory(There)) {
    if (fs::exists(Path + "/config.json", Ignored))
      return Error(Path + ": is a model's directory: expected an artifact" +
                   Compile(Path));
    return Error(Path + ": is a directory: expected an artifact");
  }
  std::string Suffix = fs::path(Path).extension();
  if (Suffix == ".gguf" || Suffix == ".mlir")
    return Error(Path + ": is a model: expected an artifact" + Compile(Path));
  if (Suffix == ".safetensors") {
    std::string Directory = fs::path(Path).parent_path();
    return Error(Path + ": is a model's weights: expected an artifact" +
                 Compile(Directory.empty() ? "." : Directory));
  }
  return {};
}

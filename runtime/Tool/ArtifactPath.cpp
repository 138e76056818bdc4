//===- ArtifactPath.cpp - What is given in place of an artifact -----------===//

#include "runtime/Support/Paths.h"
#include "runtime/Tool/Commands.h"

#include <filesystem>

using namespace tenon;

Status tool::checkArtifactPath(const std::string &Path) {
  namespace fs = std::filesystem;
  std::error_code Ignored;
  fs::file_status There = fs::status(Path, Ignored);
  if (!fs::exists(There) && !fs::is_symlink(fs::symlink_status(Path, Ignored)))
    return noSuchPath(Path);
  if (fs::is_directory(There))
    return Error(Path + ": is a directory: expected an artifact, or the "
                        "directory of a model, with its config.json");
  std::string Suffix = fs::path(Path).extension();
  if (Suffix == ".mlir")
    return Error(Path +
                 ": is a model in MLIR: expected an artifact: tenon "
                 "compile " +
                 Path + " -o " + fs::path(Path).stem().string() + ".tenon");
  fs::path Directory = fs::path(Path).parent_path();
  if (Directory.empty())
    Directory = ".";
  if (Suffix == ".safetensors" ||
      (Suffix == ".json" && fs::exists(Directory / "config.json", Ignored)))
    return Error(Path +
                 (Suffix == ".json" ? ": is a file of a model"
                                    : ": is a model's weights") +
                 ": expected an artifact, or the directory of the model, with "
                 "its config.json: " +
                 Directory.string());
  return {};
}

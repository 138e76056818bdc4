//===- ModelFiles.cpp - The files that a model consists of ----------------===//

#include "runtime/ModelCache/ModelFiles.h"

#include "runtime/Support/InputFile.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string_view>

using namespace tenon;
using namespace tenon::modelcache;
namespace fs = std::filesystem;

/// More files than this are no model, but a folder given by mistake.
static constexpr size_t MostFiles = 1 << 16;

bool modelcache::isModel(const std::string &Path) {
  std::error_code Ignored;
  if (fs::is_directory(Path, Ignored))
    return fs::exists(Path + "/config.json", Ignored);
  return fs::is_regular_file(Path, Ignored) && isGgufFile(Path);
}

static bool isRead(const fs::path &Path) {
  // .model, .spm and .txt are vocabularies.
  constexpr std::string_view Suffixes[] = {".json",  ".jinja", ".safetensors",
                                           ".model", ".spm",   ".txt"};
  return std::find(std::begin(Suffixes), std::end(Suffixes),
                   Path.extension().string()) != std::end(Suffixes);
}

static Status findInDirectory(ModelFiles &Model) {
  // Modules of sentence models and named chat templates lie in folders.
  constexpr int MostDepth = 2;
  fs::path Root = Model.Path;
  std::error_code Failure;
  size_t Seen = 0;
  fs::recursive_directory_iterator Next(Root, Failure), End;
  for (; !Failure && Next != End; Next.increment(Failure)) {
    const fs::path &Path = Next->path();
    // Hidden folders hold what is about files: versions, downloads.
    if (Next.depth() == MostDepth || Path.filename().string().starts_with('.'))
      Next.disable_recursion_pending();
    if (++Seen > MostFiles)
      return Error(Model.Path + ": has more than " + std::to_string(MostFiles) +
                   " files: expected a model's directory");
    std::error_code Ignored;
    // Links are followed to files: the hub's folders consist of them.
    if (isRead(Path) && fs::is_regular_file(Path, Ignored))
      Model.Files.push_back({Path.lexically_relative(Root), Path});
  }
  if (Failure)
    return Error(Model.Path +
                 ": cannot read the directory: " + Failure.message());
  std::sort(Model.Files.begin(), Model.Files.end(),
            [](const ModelFiles::File &A, const ModelFiles::File &B) {
              return A.Name < B.Name;
            });
  return {};
}

namespace {
/// A name that ends in -00001-of-00003.gguf.
struct PartName {
  std::string Stem;
  int64_t Number, Count;

  std::string of(int64_t Part) const {
    std::array<char, 64> Text;
    std::snprintf(Text.data(), Text.size(), "-%05lld-of-%05lld.gguf",
                  static_cast<long long>(Part), static_cast<long long>(Count));
    return Stem + Text.data();
  }
};
} // namespace

static std::optional<PartName> partNameOf(const std::string &Path) {
  constexpr std::string_view Form = "-00001-of-00003.gguf";
  if (Path.size() <= Form.size())
    return std::nullopt;
  PartName Name{Path.substr(0, Path.size() - Form.size()), 0, 0};
  const char *End = Path.data() + Path.size() - Form.size();
  std::from_chars(End + 1, End + 6, Name.Number);
  std::from_chars(End + 10, End + 15, Name.Count);
  if (Name.Number < 1 || Name.Number > Name.Count ||
      Name.of(Name.Number) != Path)
    return std::nullopt;
  return Name;
}

Result<ModelFiles> modelcache::findModelFiles(const std::string &Path) {
  ModelFiles Model{Path, {}};
  std::error_code Ignored;
  if (fs::is_directory(Path, Ignored)) {
    if (Status Found = findInDirectory(Model); !Found)
      return Found.error();
    return Model;
  }
  std::optional<PartName> Parts = partNameOf(Path);
  if (!Parts) {
    Model.Files.push_back({"1", Path});
    return Model;
  }
  // Which part was given matters: the compiler takes the first.
  Model.Files.push_back({"part " + std::to_string(Parts->Number), Path});
  for (int64_t Part = 1; Part <= Parts->Count; ++Part)
    if (std::string Other = Parts->of(Part);
        Part != Parts->Number && fs::exists(Other, Ignored))
      Model.Files.push_back({std::to_string(Part), Other});
  return Model;
}

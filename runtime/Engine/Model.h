//===- Model.h - A loaded artifact ------------------------------*- C++ -*-===//
//
// An artifact made ready to run: file mapped, code loaded for this CPU,
// tables of weights built. Read-only, shared by sessions.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_ENGINE_MODEL_H
#define TENON_RUNTIME_ENGINE_MODEL_H

#include "runtime/Abi/TenonRt.h"
#include "runtime/Artifact/Artifact.h"
#include "runtime/Tokenizer/Tokenizer.h"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace tenon::engine {

/// One entry point and its code.
struct Entry {
  artifact::EntryInfo Info;
  tenon_rt_entry Function = nullptr;
};

/// Thread-safe; sessions share one.
class Model {
public:
  /// Maps the artifact at `Path` and loads the best of its code that this CPU
  /// runs. Weights are read from disk when they are first used.
  static Result<std::shared_ptr<const Model>> load(const std::string &Path);

  const std::string &path() const { return Path; }
  const artifact::Artifact &artifact() const { return File; }
  const artifact::Manifest &manifest() const { return File.manifest(); }
  /// The code in use: its matmul primitives, arena and level.
  const artifact::CodeInfo &code() const {
    return manifest().Code[Code.index()];
  }

  /// The entry called `Role`, or an error that names those there are.
  Result<const Entry *> entry(std::string_view Role) const;
  bool hasEntry(std::string_view Role) const;

  /// For each scope, the addresses of its weights by weight index.
  const std::vector<std::vector<const void *>> &weightTables() const {
    return WeightTables;
  }

  /// The artifact's tokenizer, built on first use; an error when it has none.
  Result<const tokenizer::Tokenizer *> tokenizer() const;

private:
  Model(std::string Path, artifact::Artifact File, artifact::LoadedCode Code);

  std::string Path;
  artifact::Artifact File;
  artifact::LoadedCode Code;
  std::vector<Entry> Entries;
  std::vector<std::vector<const void *>> WeightTables;
  mutable std::once_flag TokenizerOnce;
  mutable std::optional<Result<tokenizer::Tokenizer>> Text;
};

} // namespace tenon::engine

#endif // TENON_RUNTIME_ENGINE_MODEL_H

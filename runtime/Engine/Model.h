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
#include "runtime/Chat/ContentForm.h"
#include "runtime/Chat/Conversation.h"
#include "runtime/Grammar/TokenTable.h"
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

/// Whether a file of so many bytes is read whole as a session begins: not one
/// so small that it does not matter, nor one that would push out the memory of
/// others, or its own pages, where so many bytes are available.
constexpr bool isPrefaulted(uint64_t FileBytes, uint64_t AvailableBytes) {
  return FileBytes >= (16u << 20) && FileBytes <= AvailableBytes;
}

class Executor;

/// Thread-safe; sessions share one.
class Model {
public:
  /// Maps the artifact at `Path` and loads the best of its code that this CPU
  /// runs. Weights are read from disk when they are first used.
  /// Messages call it `Name`, if that is not empty.
  static Result<std::shared_ptr<const Model>>
  load(const std::string &Path, const std::string &Name = {});

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

  /// Maps all pages of the file, by all threads, so that no kernel has to wait
  /// for one: reads from disk what is not in memory. The first time only, and
  /// only a file that isPrefaulted().
  void prefault(Executor &Threads) const;

  /// The artifact's tokenizer, built on first use; an error when it has none.
  Result<const tokenizer::Tokenizer *> tokenizer() const;

  /// The bytes of its tokens, for grammars, found on first use; an error where
  /// it has none, or what a token adds to a text depends on others. With
  /// `HasAdded` for grammars in which there are added tokens.
  Result<std::shared_ptr<const grammar::TokenTable>>
  tokenTable(bool HasAdded = false) const;

  /// The artifact's chat template for plain conversations, parsed on first use;
  /// an error when it has none.
  Result<const chat::Template *> chatTemplate() const;
  /// The token ids of the prompt that the template makes of a conversation, at
  /// least one. Nothing that a user wrote is a special token in it. Messages
  /// are given in the form that the template reads, arguments of calls as
  /// objects; images among their content, {"type": "image"} each, are one image
  /// token each, where the model has one. An error where the model would not be
  /// told of tools that it needs to know.
  Result<std::vector<int32_t>> chatPrompt(const chat::Conversation &Talk) const;

private:
  Model(artifact::Artifact File, artifact::LoadedCode Code);

  std::string Path;
  artifact::Artifact File;
  artifact::LoadedCode Code;
  std::vector<Entry> Entries;
  std::vector<std::vector<const void *>> WeightTables;
  mutable std::once_flag PrefaultOnce;
  mutable std::once_flag TokenizerOnce;
  mutable std::optional<Result<tokenizer::Tokenizer>> Text;
  struct TokenTableSlot {
    std::once_flag Once;
    std::optional<Result<std::shared_ptr<const grammar::TokenTable>>> Table;
  };
  mutable TokenTableSlot Plain, WithAdded;
  mutable std::once_flag ChatOnce;
  mutable std::optional<Result<chat::Template>> Chat;
  const chat::ContentForm &contentForm(const chat::Template &Form) const;
  std::string imageToken() const;
  bool takesTools() const;
  mutable std::once_flag ContentOnce;
  mutable chat::ContentForm Content;
};

} // namespace tenon::engine

#endif // TENON_RUNTIME_ENGINE_MODEL_H

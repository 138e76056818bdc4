//===- Artifact.h - Opening compiled models ---------------------*- C++ -*-===//
//
// Maps an artifact, checks it, and hands out its sections; loads the native
// code in it. An artifact holds native code: loading that means trusting it,
// while opening and inspecting runs none of it.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_ARTIFACT_ARTIFACT_H
#define TENON_RUNTIME_ARTIFACT_ARTIFACT_H

#include "runtime/Abi/TenonRt.h"
#include "runtime/Artifact/Manifest.h"
#include "runtime/Support/MappedFile.h"

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenon::artifact {

/// An artifact mapped read-only. All spans live as long as this object.
///
/// Weights are used where they are mapped, so a file that is cut off or written
/// to while it is in use gives wrong numbers and checkUnchanged() says so; see
/// MappedFile. Manifest, code and tokenizer are copied, and checked as copies.
class Artifact {
public:
  /// Maps the file at `Path` and checks header, manifest, code and tokenizer:
  /// bounds and checksums. Of weights and prefixes only the bounds are checked
  /// and no page is read, so that opening takes milliseconds at any size.
  /// Messages call it `Name`, if that is not empty.
  static Result<Artifact> open(const std::string &Path,
                               const std::string &Name = {});

  const std::string &path() const { return File.path(); }
  uint64_t fileBytes() const { return File.bytes().size(); }
  /// The file as it is mapped, from a multiple of HugePageBytes on unless it is
  /// shorter than that.
  std::span<const std::byte> bytes() const { return File.bytes(); }
  const Manifest &manifest() const { return Contents; }

  /// The bytes of Manifest::Weights[Index], page-aligned.
  std::span<const std::byte> weight(size_t Index) const;
  /// A copy of the shared object of Manifest::Code[Index]. An error when it is
  /// no longer what it was when the file was opened.
  Result<std::string> code(size_t Index) const;
  /// The same of the tokenizer.json text; empty when there is none.
  Result<std::string> tokenizerJson() const;
  /// The bytes of Manifest::Prefixes; empty when there are none.
  std::span<const std::byte> prefixes() const;

  /// Reads what opening has not, weights and prefixes, and compares checksums;
  /// the error names the first damaged section.
  Status verifyMapped() const;

  /// An error when the file is no longer what it was when it was opened.
  Status checkUnchanged() const { return File.checkUnchanged(); }

private:
  Artifact(MappedFile File, Manifest Contents)
      : File(std::move(File)), Contents(std::move(Contents)) {}
  std::span<const std::byte> section(uint64_t Offset, uint64_t Bytes) const;

  MappedFile File;
  Manifest Contents;
};

/// Whether the file at `Path` begins as artifacts do.
Result<bool> isArtifact(const std::string &Path);

/// The native code of an artifact for one CPU level, loaded into this process
/// and unloaded on destruction.
class LoadedCode {
public:
  LoadedCode(LoadedCode &&Other) noexcept;
  LoadedCode &operator=(LoadedCode &&Other) noexcept;
  ~LoadedCode();

  /// Index into Manifest::Code.
  size_t index() const { return Index; }
  CpuLevel level() const { return Level; }

  /// The entry point of a role such as "step", null when there is none.
  tenon_rt_entry entry(std::string_view Role) const;

private:
  friend Result<LoadedCode> loadCode(const Artifact &, CpuLevel);
  friend Result<LoadedCode> loadObject(std::span<const std::byte>, CpuLevel,
                                       std::span<const std::string>);
  LoadedCode(size_t Index, CpuLevel Level) : Index(Index), Level(Level) {}
  void release();

  size_t Index;
  CpuLevel Level;
  void *Handle = nullptr;
  /// Stays open as long as the code is loaded: the dynamic linker knows the
  /// module by this number's path, and would take the next file that got the
  /// number for the same module.
  int Descriptor = -1;
  std::vector<std::pair<std::string, tenon_rt_entry>> Entries;
};

/// Index into Manifest::Code of the highest level that runs where `Machine`
/// is in force. The error names the missing CPU features.
Result<size_t> chooseCode(const Artifact &A, CpuLevel Machine);

/// Loads the code that chooseCode picks and looks up every entry point of the
/// manifest.
Result<LoadedCode> loadCode(const Artifact &A, CpuLevel Machine);

/// Loads a shared object of generated code for `Level`, with the entry points
/// of `Roles`.
Result<LoadedCode> loadObject(std::span<const std::byte> Object, CpuLevel Level,
                              std::span<const std::string> Roles);

} // namespace tenon::artifact

#endif // TENON_RUNTIME_ARTIFACT_ARTIFACT_H

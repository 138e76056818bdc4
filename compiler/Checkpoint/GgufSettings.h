//===- GgufSettings.h - Metadata of one architecture ------------*- C++ -*-===//
//
// Reads "ARCHITECTURE.key" values, remembers which were read, and collects the
// config that they become.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_CHECKPOINT_GGUFSETTINGS_H
#define TENON_COMPILER_CHECKPOINT_GGUFSETTINGS_H

#include "compiler/Checkpoint/Gguf.h"
#include "runtime/Support/Json.h"

#include <unordered_set>

namespace tenon {

/// The getters take keys without the architecture's name and never fail: the
/// first error is kept for status(), and values are then the least allowed.
class GgufSettings {
public:
  GgufSettings(const GgufFile &File, std::string Architecture)
      : File(File), Architecture(std::move(Architecture)) {}

  const GgufFile &file() const { return File; }
  const std::string &architecture() const { return Architecture; }

  bool has(std::string_view Key) const { return File.has(full(Key)); }

  /// A size: at least `Min`. An array, one number a layer, must have equal
  /// numbers, for layers differ in nothing else.
  int64_t size(std::string_view Key, int64_t Min = 1);
  std::optional<int64_t> optionalSize(std::string_view Key, int64_t Min = 1);
  double number(std::string_view Key);
  std::optional<double> optionalNumber(std::string_view Key);
  std::optional<bool> optionalFlag(std::string_view Key);
  std::optional<std::string> optionalText(std::string_view Key);
  std::optional<std::vector<double>> optionalNumbers(std::string_view Key);

  /// Errors unless `Key`, if it is there, has the value that the others say.
  void expectSize(std::string_view Key, int64_t Value, std::string_view Why);
  /// Takes note of a key that changes no result.
  void ignore(std::string_view Key) { Read.insert(full(Key)); }

  /// The first error becomes this one.
  void refuse(Error E) {
    if (!Failure)
      Failure = std::move(E);
  }
  void refuse(std::string_view Key, std::string_view Expected) {
    refuse(File.expected(full(Key), Expected));
  }

  /// A tensor that must be there.
  const GgufTensor *tensor(const std::string &Name);
  bool hasTensor(const std::string &Name) const {
    return File.findTensor(Name) != nullptr;
  }

  /// The first error, or one that names the first key of the architecture that
  /// was not read.
  Status status() const;

  /// What config.json would hold.
  Json Config = Json::object();

private:
  std::string full(std::string_view Key) const {
    return Architecture + "." + std::string(Key);
  }
  /// Marks the key read; true when it is there.
  bool take(std::string_view Key);

  const GgufFile &File;
  std::string Architecture;
  std::unordered_set<std::string> Read;
  std::optional<Error> Failure;
};

} // namespace tenon

#endif // TENON_COMPILER_CHECKPOINT_GGUFSETTINGS_H

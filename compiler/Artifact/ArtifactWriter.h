//===- ArtifactWriter.h - Writing compiled models ---------------*- C++ -*-===//
//
// Writes an artifact section by section: weights stream through in pieces,
// nothing is visible under the final name before all of it is written.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_ARTIFACT_ARTIFACTWRITER_H
#define TENON_COMPILER_ARTIFACT_ARTIFACTWRITER_H

#include "runtime/Artifact/Manifest.h"
#include "runtime/Support/OutputFile.h"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace tenon {

using namespace artifact;

/// One artifact being written. Weights, code and tokenizer may come in any
/// order, one at a time. Without a successful finish() no file is left.
class ArtifactWriter {
public:
  /// Starts an artifact in `File`, to which nothing is written yet.
  static Result<ArtifactWriter> create(OutputFile File);
  /// The same in a file that will replace `Path`; see OutputFile.
  static Result<ArtifactWriter> create(const std::string &Path);

  ArtifactWriter(ArtifactWriter &&) noexcept;
  ArtifactWriter &operator=(ArtifactWriter &&) noexcept;
  ~ArtifactWriter();

  /// Starts a weight of Info's name, layout, rows and columns; offset, size
  /// and checksum are filled in here.
  Status beginWeight(WeightInfo Info);
  /// The next packed bytes of the current weight, in pieces of any size.
  Status append(std::span<const std::byte> Bytes);
  /// Ends the weight, which must have packedBytes() bytes by now. Returns its
  /// index in Manifest::Weights.
  Result<size_t> endWeight();

  /// Adds a shared object for one CPU level; offset, size and checksum of
  /// `Info` are filled in here. Returns its index in Manifest::Code.
  Result<size_t> addCode(CodeInfo Info, std::span<const std::byte> Object);

  /// Stores the text of tokenizer.json; empty text is none.
  Status setTokenizer(std::string_view Text);

  /// The name that the file will have, as messages call it.
  const std::string &path() const;

  /// Makes a whole artifact of what was written so far, until the next call of
  /// another function: the name under which this process can open it.
  Result<std::string> preview(Manifest M);

  /// Stores cached prefixes (runtime/Serving/PrefixFile.h), which `Write` hands
  /// over piece by piece.
  Status setPrefixes(int64_t Prompts, int64_t Tokens,
                     const std::function<Status(const ByteSink &)> &Write);

  /// Writes manifest and header and gives the file its name. ABI, weights,
  /// code, tokenizer and prefixes of `M` are replaced by what was written; the
  /// manifest must pass the checks that opening makes.
  Status finish(Manifest M);

private:
  struct Implementation;
  explicit ArtifactWriter(std::unique_ptr<Implementation> Impl);
  std::unique_ptr<Implementation> Impl;
};

} // namespace tenon

#endif // TENON_COMPILER_ARTIFACT_ARTIFACTWRITER_H

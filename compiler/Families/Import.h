//===- Import.h - Model directories and files to graphs ---------*- C++ -*-===//
//
// From a Hugging Face directory, a bare config.json, or a file in the
// transformer dialect to a verified module, with everything else that
// compiling it needs.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_FAMILIES_IMPORT_H
#define TENON_COMPILER_FAMILIES_IMPORT_H

#include "compiler/Checkpoint/Checkpoint.h"
#include "compiler/Checkpoint/Config.h"
#include "runtime/Artifact/Manifest.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tenon {

using namespace artifact;

struct ImportOptions {
  /// What matrices of plain numbers are kept in: F32 or BF16. By default f32
  /// and bf16 stay what they are and f16 becomes f32. Vectors are always kept
  /// in f32.
  std::optional<ElementType> MatrixType = {};
  /// Whether a pass gives the parameter of this name and shape another format,
  /// so that it is widened if it is quantised; null if none does. All other
  /// quantised matrices are kept as they are stored.
  std::function<bool(std::string_view, std::span<const int64_t>)> Requantises =
      nullptr;
  /// What such formats are called in a note: "int4".
  std::string RequantisedTo = {};
  /// Sequences have at most this many tokens; by default as many as the config
  /// allows, which is the most that can be asked for.
  std::optional<int64_t> MaxSequence = {};
  /// Reads no weights: for estimates. All matrices then have the config's
  /// dtype, where 16 bits of either kind count as bf16.
  bool ConfigOnly = false;
  /// Paths of keys of config.json that nothing reads and that are left out
  /// instead of being refused.
  std::vector<std::string> IgnoredKeys = {};
};

struct ImportedModel {
  mlir::OwningOpRef<mlir::ModuleOp> Module;
  GenerationInfo Generation;
  /// Texts to embed are cut to this.
  std::optional<int64_t> MaxTextTokens;
  /// Names of classes, of models that have them.
  std::vector<std::string> Labels;
  /// How images become input; of vision models.
  std::optional<ImageInfo> Image;
  /// The directory's tokenizer.json; empty when it has none.
  std::string TokenizerPath;
  /// The text of a tokenizer.json that the model's file, or the directory's
  /// other files, stand for; empty when there is none.
  std::string TokenizerText;
  /// Of a model with a tokenizer, unless with ConfigOnly.
  std::optional<ChatInfo> Chat;
  /// Absent with ConfigOnly and for models without weights.
  std::optional<Checkpoint> Weights;
  /// Tensors that the checkpoint has and the model does not need.
  std::vector<std::string_view> UnneededTensors;
  /// storedTypeOf the module.
  std::string StoredType;
  /// What the directory asks for or holds and the model leaves out without
  /// harm to its outputs, one line each; for people.
  std::vector<std::string> Notes;
};

/// Imports the Hugging Face directory or the GGUF file `Path`, or with
/// ConfigOnly its config.json alone, which `Path` may name itself. An error
/// names the file, the key or tensor, its value, and what was expected: an
/// unknown model_type, a key that may change the result and is not handled, a
/// missing or unknown tensor, a wrong shape or type.
Result<ImportedModel> importModel(mlir::MLIRContext &Context,
                                  const std::string &Path,
                                  const ImportOptions &Options = {});

/// The graph of the model that `Settings`, a whole config.json, describes, as
/// importModel with ConfigOnly builds it.
Result<mlir::OwningOpRef<mlir::ModuleOp>>
importConfig(mlir::MLIRContext &Context, const Config &Settings);

/// Parses and verifies a file in the transformer dialect. Its parameters must
/// be those of the checkpoint in `WeightsDirectory`, if one is given; tensors
/// that the file does not name are left out.
Result<ImportedModel> importMlir(mlir::MLIRContext &Context,
                                 const std::string &Path,
                                 const std::string &WeightsDirectory = "");

/// Imports what a command line names: a *.mlir file with the checkpoint in
/// `WeightsDirectory`, or what importModel reads. Also an error: weights for a
/// model that has its own, keys of config.json for one that has none.
Result<ImportedModel> importNamed(mlir::MLIRContext &Context,
                                  const std::string &Path,
                                  const std::string &WeightsDirectory,
                                  const ImportOptions &Options);

/// The storage formats of the matrices of `Module`, most bytes first:
/// "q4_k+q6_k"; "f32" when there is none.
std::string storedTypeOf(mlir::ModuleOp Module);

/// A model as compiling would find it, for what is said of it without that:
/// what importNamed reads, or a config.json, alone or in a directory without
/// weights, for which ConfigOnly is set; a note says the latter.
Result<ImportedModel> importDescription(mlir::MLIRContext &Context,
                                        const std::string &Path,
                                        ImportOptions Options = {});

} // namespace tenon

#endif // TENON_COMPILER_FAMILIES_IMPORT_H

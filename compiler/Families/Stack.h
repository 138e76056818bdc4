//===- Stack.h - An embedding, layers and a final norm ----------*- C++ -*-===//
//
// The part that every Transformer has, described by data, and the functions
// that it becomes. Decoder.h, Encoder.h, Translation.h and Vision.h put entries
// around it.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_FAMILIES_STACK_H
#define TENON_COMPILER_FAMILIES_STACK_H

#include "compiler/Families/FamilyInput.h"

#include <string>
#include <vector>

namespace tenon {

/// Rows of images: patches of C x height x width, and a learned row before
/// them.
struct PatchOptions {
  /// Elements of one patch.
  int64_t Width = 0;
  LinearOptions Projection;
  /// Whole key.
  std::string ClassToken;
};

/// A learned table of positions.
struct PositionOptions {
  /// Whole key.
  std::string Key;
  int64_t Rows = 0;
  /// The row of position 0.
  int64_t Offset = 0;
};

/// How tokens become rows. Keys are relative to the stack's scope.
struct EmbeddingOptions {
  /// The table's whole key, and the scope it lies in if not the stack's. No
  /// tokens when the key is empty.
  std::string Tokens;
  std::optional<std::string> TokensScope;
  /// Rows of the table, if not as many as the model's vocabulary has tokens.
  std::optional<int64_t> Vocabulary;
  /// Width of the table, if not that of the rows.
  std::optional<int64_t> Width;
  std::optional<PatchOptions> Patches;
  /// Rows that the caller gives take the place of those of this token.
  std::optional<int64_t> ImageToken;
  /// Rows are multiplied by this before anything is added; those that the
  /// caller gives too, unless `ScalesTable` says that it belongs to the table.
  double Scale = 1;
  bool ScalesTable = false;
  std::optional<PositionOptions> Positions;
  std::optional<transformer::RopeStyle> Sinusoid;
  /// Whole key and rows of the table of token types; none when empty.
  std::string TokenTypes;
  int64_t TokenTypeCount = 0;
  NormOptions Norm;
  /// From `Width` to the rows: before positions are added (OPT), or after the
  /// norm (ELECTRA).
  LinearOptions Project;
  bool ProjectLast = false;
};

/// An embedding, layers, a final norm.
struct StackOptions {
  /// Begins every name: "model.decoder"; empty for none.
  std::string Scope;
  /// Layer N lies in SCOPE.LAYERS.N.
  std::string Layers;
  int64_t Width = 0;
  /// Rows of tables of positions are those of the checkpoint, sequences may be
  /// shorter.
  int64_t MaxSequence = 0;
  EmbeddingOptions Embedding;
  std::vector<LayerOptions> Layer;
  NormOptions FinalNorm;
  /// Scope, relative to the stack's, of relative biases that layers share.
  std::string BiasScope;

  /// The full name of `Key`.
  std::string nameOf(llvm::StringRef Key) const;
  std::string layerScope(int64_t Number) const;
};

/// `Layers` copies of one layer.
std::vector<LayerOptions> repeat(const LayerOptions &Layer, int64_t Layers);

/// The functions of a stack, to be called from entries.
class StackFunctions {
public:
  /// Builds them; the embedding's is called `EmbedName`, which no entry may
  /// be. With caches, layers number themselves.
  StackFunctions(ModelBuilder &Model, const StackOptions &Stack,
                 transformer::CacheType Cache = {},
                 transformer::CacheType CrossCache = {},
                 llvm::StringRef EmbedName = "embed");

  /// The rows after the last layer, before the final norm; null caches for
  /// those that the layers do not have.
  mlir::Value call(FunctionBuilder &Entry, mlir::Value Batch, mlir::Value Cache,
                   mlir::Value CrossCache);

  /// The handles after call().
  mlir::Value Cache, CrossCache;

private:
  mlir::func::FuncOp embedFunction(ModelBuilder &Model, llvm::StringRef Name);

  const StackOptions &Stack;
  bool HasCaches;
  mlir::func::FuncOp Embed;
  llvm::SmallVector<mlir::func::FuncOp> Layers;
};

/// What turns rows into logits.
struct HeadOptions {
  /// Full name of the matrix, and of the bias if there is one.
  std::string Weight, Bias;
  /// Of the matrix, if not the rows' width: then `Project`, of the stack's
  /// scope, comes before it.
  std::optional<int64_t> Width;
  LinearOptions Project;
  double Scale = 1;
  std::optional<double> SoftCap;
};

/// Builds the function "head": (scopes, batch, rows) -> logits of output rows.
/// `callHead` calls it.
mlir::func::FuncOp headFunction(ModelBuilder &Model, const StackOptions &Stack,
                                const HeadOptions &Head, int64_t Vocabulary);
mlir::Value callHead(FunctionBuilder &Entry, mlir::func::FuncOp Function,
                     const StackOptions &Stack, mlir::Value Batch,
                     mlir::Value Rows);

} // namespace tenon

#endif // TENON_COMPILER_FAMILIES_STACK_H

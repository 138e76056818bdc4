//===- ModelVerifier.h - What a valid model is ------------------*- C++ -*-===//
//
// The section "Modules" of SPEC.md, one function per group of constraints:
// functions in ModelVerifier.cpp, caches in ModelCaches.cpp, parameters in
// ModelWeights.cpp. Every message begins with the number of its constraint.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_DIALECTS_TRANSFORMER_MODELVERIFIER_H
#define TENON_DIALECTS_TRANSFORMER_MODELVERIFIER_H

#include "dialects/Transformer/Transformer.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace tenon::transformer {

class ModelVerifier {
public:
  explicit ModelVerifier(mlir::ModuleOp Module) : Module(Module) {}

  llvm::LogicalResult verify();
  /// What later stages keep of it: module_c1, c6, c7, c23 and c24 of sizes.
  llvm::LogicalResult verifyInterface();
  /// The same and what requests and caches rely on, module_c16 to c18 and c21,
  /// of a fused module when it runs variants `Of`.
  llvm::LogicalResult verifyFused(Variant Of);

private:
  //===--- Functions ---===//

  /// module_c1: the sizes that requests are checked against. module_c24: sizes
  /// that artifacts hold.
  llvm::LogicalResult verifySizes();
  /// module_c24: activations and parameters have columns, and not too many.
  /// module_c26: parameters are of a type that is packed as it is.
  llvm::LogicalResult verifyTypes();
  /// module_c2: what there may be.
  llvm::LogicalResult verifyOperations();
  /// module_c19: what passes write down is not there yet. module_c27: sizes of
  /// an entry's own.
  llvm::LogicalResult verifyAttributes();
  /// module_c3: entries call layer functions, and every function is called.
  llvm::LogicalResult verifyCalls();
  /// module_c5: types of arguments and results, one batch.
  llvm::LogicalResult verifySignatures();
  /// module_c6, c7 and c23: roles, arguments and results of entries.
  llvm::LogicalResult verifyEntries();
  /// module_c8: caches come out in the order they go in.
  /// module_c9: each returned activation is computed by the function, and once.
  llvm::LogicalResult verifyReturns();
  /// module_c10: one layer per name, and one for every scope that a cache is
  /// used with.
  llvm::LogicalResult verifyScopes();
  /// The scopes that `Scope` stands for: itself, or what calls pass.
  llvm::SmallVector<ScopeOp> scopesOf(mlir::Value Scope);
  /// module_c13 and c14, see RowCounts. module_c15: an entry answers the rows
  /// that its output stands for.
  llvm::LogicalResult verifyRows();
  /// What a runtime gives an entry of each role. module_c16: caches.
  /// module_c17: the length of source texts. module_c18: input features, and
  /// where they are merged.
  llvm::LogicalResult verifyRoles();
  llvm::LogicalResult verifyMerge(MergeFeaturesOp Merge);
  int64_t sizeOr(llvm::StringRef Name, int64_t Default);
  /// The entries that run `Function`.
  llvm::SmallVector<mlir::func::FuncOp> entriesOf(mlir::func::FuncOp Function);
  static bool isEntry(mlir::func::FuncOp Function);
  static llvm::StringRef roleOf(mlir::func::FuncOp Entry);

  //===--- Caches ---===//

  /// A cache, numbered over the module, and the scope that it is used with.
  using CacheLayer = std::pair<size_t, llvm::StringRef>;

  /// The argument that a cache handle began as; null when it is none of the
  /// function's.
  static mlir::BlockArgument originOf(mlir::Value Handle);
  /// module_c8: no cache is lost.
  llvm::LogicalResult verifyHandles();
  /// Whether `Handle` is taken by another operation or returned.
  static bool isPassedOn(mlir::Value Handle);
  /// module_c20: layers are numbered from 0 without gaps, and one scope has
  /// the cache of a layer.
  llvm::LogicalResult verifyLayers();
  /// The number of the cache that `Argument` of an entry is.
  size_t numberOf(mlir::BlockArgument Argument);
  /// What `Op` uses its cache with: `Op` is of an entry, or of a callee of
  /// `Call`.
  llvm::SmallVector<CacheLayer> layersOf(mlir::Operation *Op,
                                         mlir::Operation *Call);
  /// module_c21: a cache that is read holds something: by then the step, or
  /// the encoder for cross-attention, has appended to it.
  llvm::LogicalResult verifyAppends();

  //===--- Parameters ---===//

  /// module_c4: stored tensors are parameters of the function that uses them.
  /// Uses of matrices are known.
  llvm::LogicalResult verifyWeights();
  /// Tokens that `Entry` looks up and answers are below this.
  int64_t vocabularyOf(mlir::func::FuncOp Entry);
  /// module_c11: a table has a row for every index that requests may hold.
  llvm::LogicalResult verifyTables();
  /// module_c22: a parameter has one type wherever it is named.
  llvm::LogicalResult verifyParameters();
  /// Known since module_c4.
  static llvm::SmallVector<WeightUse> usesOf(mlir::Operation *Op);
  /// module_c25: what one matmul reads as one matrix lies in one scope.
  llvm::LogicalResult verifyConcatenation();
  /// module_c12: a parameter is stored once, so all that use it must read one
  /// layout.
  llvm::LogicalResult verifyLayouts();

  mlir::ModuleOp Module;
  /// Every function, in order, and its calls: dispatches in a fused module, of
  /// which one variant of each function is here.
  llvm::MapVector<mlir::func::FuncOp, llvm::SmallVector<mlir::Operation *>>
      Functions;
};

/// Checks what of a valid model holds until stage `placed`: the
/// sizes of the module, and what entries take and answer.
llvm::LogicalResult verifyInterface(mlir::ModuleOp Module);
/// Checks what of it holds after stage `fused`, too.
llvm::LogicalResult verifyFusedModel(mlir::ModuleOp Module);

/// The least rows that a table may have which `Entry` looks up from `Offset`
/// on, if all indices are valid.
int64_t leastTableRows(IndexKind Index, uint64_t Offset,
                       mlir::Operation *Entry);

} // namespace tenon::transformer

#endif // TENON_DIALECTS_TRANSFORMER_MODELVERIFIER_H

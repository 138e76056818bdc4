//===- ManifestBuilder.h - The manifest, read off the IR --------*- C++ -*-===//

#ifndef TENON_COMPILER_MANIFEST_MANIFESTBUILDER_H
#define TENON_COMPILER_MANIFEST_MANIFESTBUILDER_H

#include "runtime/Artifact/Manifest.h"

#include "mlir/IR/BuiltinOps.h"

namespace tenon {

using namespace artifact;

/// What the model level says: entries, caches, sizes. Layers of caches are
/// counted from the scopes.
Result<Manifest> describeModel(mlir::ModuleOp Module);

/// Puts into `M` the sizes and caches of a valid model, as they are after any
/// stage before `llvm`; bounds of steps from stage `fused` on.
void describeSizes(mlir::ModuleOp Module, Manifest &M);

/// Puts into `M` the entries of a valid model and what they ask of a batch, as
/// they are until stage `placed`.
void describeEntries(mlir::ModuleOp Module, Manifest &M);

/// The caches of a valid model, by number.
std::vector<CacheInfo> describeCaches(mlir::ModuleOp Module);

/// Most tokens of a step where nobody says: prompts of decoders come in chunks,
/// texts and images to encode in one piece. `M` describes `Module`.
int64_t defaultTokensPerStep(const Manifest &M, mlir::ModuleOp Module);

/// Whether a matrix of `Module` is quantised.
bool isQuantised(mlir::ModuleOp Module);

/// Most tokens of a decode-sized batch of `Module`, which is or is to be
/// quantised or not, where nobody says; as measured (docs/rationale.md). With
/// products of integers, which are cheap, fewer rows are bound by the memory.
/// Tiles, if all `Levels` have them, multiply many rows of bf16 at the price of
/// a few, but quantised weights have to be widened for them. Without tiles, dot
/// products of bf16 multiply up to 24 rows in less time than the library.
int64_t defaultFewTokens(mlir::ModuleOp Module, bool IsQuantised,
                         llvm::ArrayRef<CpuLevel> Levels);

/// The matmul primitives of a module after stage `placed`, by number.
std::vector<PrimitiveInfo> describePrimitives(mlir::ModuleOp Module);

/// The memory plan of a module after stage `buffers`.
std::vector<PlannedBuffer> describePlan(mlir::ModuleOp Module);

/// The kernels of a module after stage `buffers`, by number.
std::vector<KernelInfo> describeKernels(mlir::ModuleOp Module);

/// The arena's size of a module after stage `buffers`, and that of the scratch
/// memory of a thread.
uint64_t arenaBytes(mlir::ModuleOp Module);
uint64_t scratchBytes(mlir::ModuleOp Module);

} // namespace tenon

#endif // TENON_COMPILER_MANIFEST_MANIFESTBUILDER_H

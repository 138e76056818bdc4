//===- Pipelines.cpp - The stages of compilation --------------------------===//

#include "passes/Pipelines/Pipelines.h"

#include "passes/Bufferization/Passes.h"
#include "passes/Codegen/Passes.h"
#include "passes/Fusion/Passes.h"
#include "passes/Lowering/Passes.h"
#include "passes/Packing/Passes.h"
#include "passes/Placement/Passes.h"
#include "passes/Verify/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace tenon;

static void populateModel(OpPassManager &Passes, const PipelineOptions &) {
  Passes.addPass(createVerifyModel());
}

static void populateFused(OpPassManager &Passes,
                          const PipelineOptions &Options) {
  Passes.addPass(createFormProducts());
  // Before products are merged: it recognises queries, keys and values.
  Passes.addPass(createFuseAttention());
  Passes.addPass(createMergeQkv());
  Passes.addPass(createFuseResidual());
  // After products had their pick of the residuals.
  Passes.addPass(createFuseAddNorm());
  Passes.addPass(createHoistRowSelection());
  Passes.addPass(createChoosePacking());
  Passes.addPass(createCloneByRows({Options.FewTokens, Options.MaxTokens}));
  Passes.addPass(createVerifyFused());
}

static void populatePlaced(OpPassManager &Passes,
                           const PipelineOptions &Options) {
  Passes.addPass(createPlaceOperations({Options.Level}));
  Passes.addPass(createNarrowResults());
  // Types are final: equal products can share a site now.
  Passes.addPass(createAssignSites());
  Passes.addPass(createAssignSlots());
  Passes.addPass(createVerifyPlaced());
}

static void populateBuffers(OpPassManager &Passes, const PipelineOptions &) {
  Passes.addPass(createBufferizeFunctions());
  Passes.addPass(createFoldSelfCopies());
  Passes.addPass(createPlanMemory());
  Passes.addPass(createGenerateKernels());
  // Emitters write a constant wherever they need one.
  Passes.addPass(createCSEPass());
  Passes.addPass(createVerifyBuffers());
}

static void populateLlvm(OpPassManager &Passes, const PipelineOptions &) {
  Passes.addPass(createOutlineParallel());
  // Bounds of tiles and row counts are loop-invariant.
  Passes.addPass(createLoopInvariantCodeMotionPass());
  Passes.addPass(createCSEPass());
  Passes.addPass(createLowerToLlvm());
  Passes.addPass(createReconcileUnrealizedCastsPass());
  Passes.addPass(createCanonicalizerPass());
  Passes.addPass(createVerifyLlvm());
}

ArrayRef<Stage> tenon::stages() {
  static const Stage Table[] = {
      {"transformer",
       "shapes and types are inferred and every operation is verified; nothing "
       "is said of threads, layouts or libraries",
       "transformer, func", populateModel},
      {"fused",
       "every operation is one that placement knows, and each layer function "
       "exists for few and for many rows",
       "transformer, func", populateFused},
      {"placed",
       "every operation is a library product or a kernel to generate, every "
       "weight has a layout and a slot, every library product a site",
       "dnn, tensor, func", populatePlaced},
      {"buffers",
       "every buffer has its place in the arena and every kernel is generated; "
       "nothing allocates or copies",
       "dnn, memref, scf, vector, arith, math, x86vector, func",
       populateBuffers},
      {"llvm", "the module is LLVM and needs nothing but the runtime's ABI",
       "llvm", populateLlvm}};
  return Table;
}

void tenon::registerDialects(DialectRegistry &Registry) {
  Registry.insert<arith::ArithDialect, bufferization::BufferizationDialect,
                  cf::ControlFlowDialect, dnn::DnnDialect, func::FuncDialect,
                  LLVM::LLVMDialect, math::MathDialect, memref::MemRefDialect,
                  scf::SCFDialect, tensor::TensorDialect,
                  transformer::TransformerDialect, vector::VectorDialect,
                  x86vector::X86VectorDialect>();
  registerDnnBufferization(Registry);
}

namespace {
struct StageOptions : public PassPipelineOptions<StageOptions> {
  Option<std::string> Level{*this, "level", llvm::cl::desc("CPU level"),
                            llvm::cl::init("avx2")};
  Option<int64_t> FewTokens{*this, "few-tokens",
                            llvm::cl::desc("Most rows of .few functions"),
                            llvm::cl::init(8)};
  Option<int64_t> MaxTokens{*this, "max-tokens",
                            llvm::cl::desc("Most tokens of a step"),
                            llvm::cl::init(512)};
};
} // namespace

void tenon::registerPasses() {
  registerFusionPasses();
  registerPackingPasses();
  registerPlacementPasses();
  registerBufferizationPasses();
  registerCodegenPasses();
  registerLoweringPasses();
  registerVerifyPasses();
  registerTransformsPasses();
  for (const Stage &S : stages())
    PassPipelineRegistration<StageOptions>(
        ("stage-" + S.Name).str(), S.Holds,
        [&S](OpPassManager &Passes, const StageOptions &Options) {
          S.Populate(Passes,
                     {Options.Level, Options.FewTokens, Options.MaxTokens});
        });
}

//===- Pipelines.cpp - The stages of compilation --------------------------===//

#include "passes/Pipelines/Pipelines.h"

#include "passes/Bufferization/Passes.h"
#include "passes/Codegen/Passes.h"
#include "passes/Fusion/Passes.h"
#include "passes/Lowering/Passes.h"
#include "passes/Packing/Passes.h"
#include "passes/Placement/Passes.h"
#include "passes/Verify/Passes.h"
#include "runtime/Abi/CompileChoices.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/AMX/AMXDialect.h"
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

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

namespace {
using Made = std::unique_ptr<Pass>;
using Options = PipelineOptions;
constexpr PassRole Required = PassRole::Required;
constexpr PassRole Optional = PassRole::Optional;
constexpr PassRole Gate = PassRole::Gate;
} // namespace

// A comment before a pass says why it is where it is; docs/stages shows it.

static const StagePass TransformerPasses[] = {
    {Required,
     [](const Options &O) -> Made {
       QuantizeWeightsOptions Asked;
       Asked.Format = O.Quantize;
       Asked.Exclude.assign(O.QuantizeExclude.begin(), O.QuantizeExclude.end());
       return createQuantizeWeights(std::move(Asked));
     }},
    {Required,
     [](const Options &O) -> Made {
       return createSetCacheFormat({O.KvCache});
     }},
    {Gate, [](const Options &) -> Made { return createVerifyTransformer(); }},
};

static const StagePass FusedPasses[] = {
    {Required, [](const Options &) -> Made { return createFormMatmuls(); }},
    {Optional, [](const Options &) -> Made { return createFuseActivation(); }},
    {Required, [](const Options &) -> Made { return createLowerAttention(); }},
    // Before matmuls are merged: it recognises queries, keys and values.
    {Optional, [](const Options &) -> Made { return createFuseAttention(); }},
    {Optional, [](const Options &) -> Made { return createMergeQkv(); }},
    {Optional, [](const Options &) -> Made { return createFuseResidual(); }},
    // After matmuls had their pick of the residuals.
    {Optional, [](const Options &) -> Made { return createFuseAddNorm(); }},
    {Optional, [](const Options &) -> Made { return createBubbleUpSelect(); }},
    {Required, [](const Options &) -> Made { return createAssignLayouts(); }},
    {Required,
     [](const Options &O) -> Made {
       return createMultiversionFunctions({O.FewTokens, O.MaxTokens});
     }},
    {Gate, [](const Options &) -> Made { return createVerifyFused(); }},
};

static const StagePass PlacedPasses[] = {
    {Required,
     [](const Options &O) -> Made {
       return createConvertTransformerToDnn({O.Level});
     }},
    {Optional, [](const Options &) -> Made { return createFoldCasts(); }},
    // Types are final: equal matmuls can share a primitive now.
    {Optional,
     [](const Options &) -> Made { return createSelectLibraryMatmuls(); }},
    {Required,
     [](const Options &) -> Made { return createAssignWeightIndices(); }},
    {Gate, [](const Options &) -> Made { return createVerifyPlaced(); }},
};

static const StagePass BuffersPasses[] = {
    {Required,
     [](const Options &) -> Made { return createBufferizeFunctions(); }},
    {Required, [](const Options &) -> Made { return createFoldSelfCopies(); }},
    {Required, [](const Options &) -> Made { return createPlanMemory(); }},
    {Required, [](const Options &) -> Made { return createGenerateKernels(); }},
    {Required, [](const Options &) -> Made { return createPlaceScratch(); }},
    // Emitters write a constant wherever they need one.
    {Optional, [](const Options &) -> Made { return createCSEPass(); }},
    {Gate, [](const Options &) -> Made { return createVerifyBuffers(); }},
};

static const StagePass LlvmPasses[] = {
    {Required, [](const Options &) -> Made { return createOutlineParallel(); }},
    // Bounds of tiles and row counts are loop-invariant.
    {Optional,
     [](const Options &) -> Made {
       return createLoopInvariantCodeMotionPass();
     }},
    {Optional, [](const Options &) -> Made { return createCSEPass(); }},
    {Required, [](const Options &) -> Made { return createExpandDispatch(); }},
    {Required, [](const Options &) -> Made { return createExportEntries(); }},
    {Required, [](const Options &) -> Made { return createExpandMath(); }},
    // Patterns that split blocks do not mix with those that convert them.
    {Required,
     [](const Options &) -> Made { return createSCFToControlFlowPass(); }},
    {Required,
     [](const Options &) -> Made { return createConvertDnnToLlvm(); }},
    {Required,
     [](const Options &) -> Made {
       return createReconcileUnrealizedCastsPass();
     }},
    {Required, [](const Options &) -> Made { return createPropagateErrors(); }},
    {Gate, [](const Options &) -> Made { return createVerifyLlvm(); }},
};

ArrayRef<Stage> tenon::stages() {
  static const Stage Table[] = {
      {StageId::Transformer, "transformer",
       "the module is a valid model: shapes and types are inferred and every "
       "operation is verified; nothing is said of threads, layouts or "
       "libraries",
       "transformer, func", TransformerPasses},
      {StageId::Fused, "fused",
       "every operation has a form in the dnn dialect, every parameter a "
       "layout, "
       "and each layer function exists for decode- and for prefill-sized "
       "batches",
       "transformer, func", FusedPasses},
      {StageId::Placed, "placed",
       "every operation is a library matmul or a kernel to generate, every "
       "weight has a layout, a format and an index, every library matmul a "
       "primitive",
       "dnn, tensor, func", PlacedPasses},
      {StageId::Buffers, "buffers",
       "every buffer has its place in the arena and every kernel is generated; "
       "nothing allocates or copies",
       "dnn, memref, scf, vector, arith, math, x86vector, amx, func",
       BuffersPasses},
      {StageId::Llvm, "llvm",
       "the module is LLVM and needs nothing but the runtime's ABI", "llvm",
       LlvmPasses}};
  static_assert(std::size(Table) == StageCount);
  return Table;
}

void Stage::populate(OpPassManager &Manager,
                     const PipelineOptions &Options) const {
  for (const StagePass &Entry : Passes) {
    Made New = Entry.Create(Options);
    if (Entry.Role != PassRole::Optional ||
        !llvm::is_contained(Options.Disabled, New->getArgument()))
      Manager.addPass(std::move(New));
  }
}

std::optional<StageId> tenon::stageNamed(StringRef Name) {
  for (const Stage &S : stages())
    if (S.Name == Name)
      return S.Id;
  return std::nullopt;
}

SmallVector<std::string> tenon::optionalPasses() {
  PipelineOptions Defaults;
  SmallVector<std::string> Names;
  for (const Stage &S : stages())
    for (const StagePass &Entry : S.Passes)
      if (Entry.Role == PassRole::Optional) {
        std::string Name = Entry.Create(Defaults)->getArgument().str();
        if (!llvm::is_contained(Names, Name))
          Names.push_back(Name);
      }
  return Names;
}

static SmallVector<std::string> namesOf(ArrayRef<std::string_view> Choices) {
  return {Choices.begin(), Choices.end()};
}

SmallVector<std::string> tenon::cpuLevelNames() {
  return llvm::map_to_vector(CpuLevels, [](const CpuLevelInfo &Info) {
    return std::string(Info.Name);
  });
}

SmallVector<std::string> tenon::quantizationNames() {
  return namesOf(QuantizeChoices);
}

SmallVector<std::string> tenon::cacheFormatNames() {
  return namesOf(CacheChoices);
}

namespace {
/// Destinations print as %out.
struct EmptyName
    : public OpAsmOpInterface::ExternalModel<EmptyName, tensor::EmptyOp> {
  void getAsmResultNames(Operation *Op, OpAsmSetValueNameFn SetName) const {
    SetName(Op->getResult(0), "out");
  }
  static StringRef getDefaultDialect() { return ""; }
};
} // namespace

void tenon::registerDialects(DialectRegistry &Registry) {
  Registry.insert<amx::AMXDialect, arith::ArithDialect,
                  bufferization::BufferizationDialect, cf::ControlFlowDialect,
                  dnn::DnnDialect, func::FuncDialect, LLVM::LLVMDialect,
                  math::MathDialect, memref::MemRefDialect, scf::SCFDialect,
                  tensor::TensorDialect, transformer::TransformerDialect,
                  vector::VectorDialect, x86vector::X86VectorDialect>();
  registerDnnBufferization(Registry);
  Registry.addExtension(+[](MLIRContext *Context, tensor::TensorDialect *) {
    tensor::EmptyOp::attachInterface<EmptyName>(*Context);
  });
}

void tenon::registerPasses() {
  registerFusionPasses();
  registerPackingPasses();
  registerPlacementPasses();
  registerBufferizationPasses();
  registerCodegenPasses();
  registerLoweringPasses();
  registerVerifyPasses();
  registerTransformsPasses();
  registerSCFToControlFlowPass();
  registerReconcileUnrealizedCastsPass();
  for (const Stage &S : stages())
    PassPipelineRegistration<PipelineOptions>(
        ("stage-" + S.Name).str(), S.Holds,
        [&S](OpPassManager &Manager, const PipelineOptions &Options) {
          S.populate(Manager, Options);
        });
}

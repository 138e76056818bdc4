//===- ConvertDnnToLlvm.cpp - The module on the runtime's ABI -------------===//

#include "passes/Lowering/Passes.h"

#include "passes/Lowering/Abi.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/AMX/Transforms.h"
#include "mlir/Dialect/X86Vector/Transforms.h"
#include "mlir/Transforms/DialectConversion.h"

namespace tenon {
#define GEN_PASS_DEF_CONVERTDNNTOLLVM
#include "passes/Lowering/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

namespace {

struct ConvertDnnToLlvm
    : public tenon::impl::ConvertDnnToLlvmBase<ConvertDnnToLlvm> {
  void runOnOperation() override {
    MLIRContext *Context = &getContext();
    LowerToLLVMOptions Options(Context);
    LLVMTypeConverter Converter(Context, Options);
    auto Ptr = LLVM::LLVMPointerType::get(Context);
    Converter.addConversion([=](transformer::BatchType) { return Ptr; });
    Converter.addConversion([=](transformer::ScopeType) { return Ptr; });
    Converter.addConversion([=](dnn::PackedType) { return Ptr; });
    Converter.addConversion(
        [=](dnn::GroupedType) { return IntegerType::get(Context, 8); });
    Converter.addConversion(
        [=](transformer::CacheType) { return IntegerType::get(Context, 64); });

    RewritePatternSet Patterns(Context);
    populateHandlePatterns(Converter, Patterns);
    populateCallPatterns(Converter, Patterns);
    populateVectorPatterns(Converter, Patterns);
    arith::populateArithToLLVMConversionPatterns(Converter, Patterns);
    index::populateIndexToLLVMConversionPatterns(Converter, Patterns);
    cf::populateControlFlowToLLVMConversionPatterns(Converter, Patterns);
    populateFuncToLLVMConversionPatterns(Converter, Patterns);
    populateFinalizeMemRefToLLVMConversionPatterns(Converter, Patterns);
    populateMathToLLVMConversionPatterns(Converter, Patterns);
    populateVectorToLLVMConversionPatterns(Converter, Patterns);
    populateX86VectorLegalizeForLLVMExportPatterns(Converter, Patterns);
    populateAMXLegalizeForLLVMExportPatterns(Converter, Patterns);

    LLVMConversionTarget Target(*Context);
    configureX86VectorLegalizeForExportTarget(Target);
    configureAMXLegalizeForExportTarget(Target);
    Target.addLegalOp<ModuleOp, UnrealizedConversionCastOp>();
    ConversionConfig Config;
    Config.allowPatternRollback = false;
    if (failed(applyFullConversion(getOperation(), Target, std::move(Patterns),
                                   Config)))
      return signalPassFailure();
    getOperation()->removeDiscardableAttr(dnn::attr::Target);
  }
};

} // namespace

//===- CallPatterns.cpp - Calls through the runtime's function table ------===//

#include "passes/Lowering/Abi.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"

using namespace mlir;
using namespace tenon;
using transformer::CountKind;

/// Space on the stack for an argument of `Op`. At the start of the function:
/// elsewhere than in its first block, which loops and calls that may fail end,
/// stack is taken dynamically.
static Value spaceOf(Operation *Op, Abi &A, Type Content) {
  OpBuilder::InsertionGuard Guard(A.B);
  A.B.setInsertionPointToStart(
      &Op->getParentOfType<FunctionOpInterface>().front());
  return LLVM::AllocaOp::create(A.B, A.Loc, A.Ptr, Content, A.constant(1));
}

namespace {

struct BarrierPattern : public ConvertOpToLLVMPattern<dnn::BarrierOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(dnn::BarrierOp Op, OpAdaptor Operands,
                                ConversionPatternRewriter &B) const override {
    Abi(B, Op.getLoc())
        .call(Operands.getBatch(), TENON_FIELD(tenon_rt_functions, barrier), {},
              /*MayFail=*/false);
    B.eraseOp(Op);
    return success();
  }
};

struct ClaimPattern : public ConvertOpToLLVMPattern<dnn::ClaimOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(dnn::ClaimOp Op, OpAdaptor Operands,
                                ConversionPatternRewriter &B) const override {
    Location Loc = Op.getLoc();
    Abi A(B, Loc);
    Value Items = spaceOf(Op, A, LLVM::LLVMArrayType::get(A.I64, 2));
    A.call(Operands.getBatch(), TENON_FIELD(tenon_rt_functions, claim),
           {Operands.getThread(), Operands.getThreads(), Operands.getTotal(),
            Operands.getGrain(), Items},
           /*MayFail=*/false);
    B.replaceOp(Op, {A.word(Items, TENON_FIELD(tenon_rt_items, first), A.I64),
                     A.word(Items, TENON_FIELD(tenon_rt_items, count), A.I64)});
    return success();
  }
};

/// A comment in the assembly, and a call that the runtime may measure by.
struct KernelPattern : public ConvertOpToLLVMPattern<dnn::KernelOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(dnn::KernelOp Op, OpAdaptor Operands,
                                ConversionPatternRewriter &B) const override {
    // Neither a second line nor what LLVM reads as an operand or a variant.
    std::string Text = "# ";
    for (char C : (Op.getFunction() + ": " + Op.getText()).str()) {
      if (C == '$' || C == '{' || C == '|' || C == '}')
        Text += '_';
      else
        Text += llvm::isPrint(C) ? C : ' ';
    }
    LLVM::InlineAsmOp::create(
        B, Op.getLoc(), TypeRange(), ValueRange(), Text, /*constraints=*/"",
        /*has_side_effects=*/true, /*is_align_stack=*/false,
        LLVM::tailcallkind::TailCallKind::None, LLVM::AsmDialectAttr(),
        ArrayAttr());
    Location Loc = Op.getLoc();
    Abi A(B, Loc);
    Value Scope = Operands.getScope();
    if (!Scope)
      Scope = LLVM::ZeroOp::create(B, Loc, A.Ptr);
    Value Thread = Operands.getThread();
    A.call(Operands.getBatch(), TENON_FIELD(tenon_rt_functions, mark),
           {A.constant(static_cast<int64_t>(Op.getNumber())), Scope,
            Operands.getRows(), Thread ? Thread : A.constant(0)},
           /*MayFail=*/false);
    B.eraseOp(Op);
    return success();
  }
};

struct CallMatmulPattern : public ConvertOpToLLVMPattern<dnn::CallMatmulOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(dnn::CallMatmulOp Op, OpAdaptor Operands,
                                ConversionPatternRewriter &B) const override {
    Location Loc = Op.getLoc();
    Abi A(B, Loc);
    Value Null = LLVM::ZeroOp::create(B, Loc, A.Ptr);
    auto DataOf = [&](Value Buffer) -> Value {
      return Buffer ? MemRefDescriptor(Buffer).alignedPtr(B, Loc) : Null;
    };
    Value Rows = MemRefDescriptor(Operands.getInput()).size(B, Loc, 0);
    A.call(Operands.getBatch(), TENON_FIELD(tenon_rt_functions, matmul),
           {A.constant(static_cast<int64_t>(Op.getPrimitive())), Rows,
            DataOf(Operands.getInput()), Operands.getWeight(),
            Operands.getBias() ? Operands.getBias() : Null,
            DataOf(Operands.getMultiplier()), DataOf(Operands.getResidual()),
            DataOf(Operands.getOutput())},
           /*MayFail=*/true);
    B.eraseOp(Op);
    return success();
  }
};

struct LaunchPattern : public ConvertOpToLLVMPattern<dnn::LaunchOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(dnn::LaunchOp Op, OpAdaptor Operands,
                                ConversionPatternRewriter &B) const override {
    Location Loc = Op.getLoc();
    Abi A(B, Loc);
    auto Values = getTypeConverter()->promoteOperands(
        Loc, Op.getInputs(), Operands.getInputs(), B,
        /*useBarePtrCallConv=*/false);
    SmallVector<Type> Types =
        llvm::map_to_vector(Values, [](Value V) { return V.getType(); });
    auto Environment = LLVM::LLVMStructType::getLiteral(B.getContext(), Types);
    Value Space = spaceOf(Op, A, Environment);
    for (auto [Index, Captured] : llvm::enumerate(Values))
      LLVM::StoreOp::create(B, Loc, Captured,
                            fieldOf(A, Environment, Space, Index));
    Value Body = LLVM::AddressOfOp::create(B, Loc, A.Ptr,
                                           trampoline(Op, Environment, B));
    A.call(Operands.getBatch(), TENON_FIELD(tenon_rt_functions, parallel),
           {Body, Space}, /*MayFail=*/true);
    B.eraseOp(Op);
    return success();
  }

  static Value fieldOf(Abi &A, Type Environment, Value Base, size_t Index) {
    return LLVM::GEPOp::create(
        A.B, A.Loc, A.Ptr, Environment, Base,
        ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(Index)});
  }

  /// body(environment, thread, threads): unpacks and calls the callee.
  static StringRef trampoline(dnn::LaunchOp Op,
                              LLVM::LLVMStructType Environment,
                              ConversionPatternRewriter &B) {
    OpBuilder::InsertionGuard Guard(B);
    auto Module = Op->getParentOfType<ModuleOp>();
    Location Loc = Op.getLoc();
    B.setInsertionPointToEnd(Module.getBody());
    Abi A(B, Loc);
    auto Void = LLVM::LLVMVoidType::get(B.getContext());
    auto Type = LLVM::LLVMFunctionType::get(Void, {A.Ptr, A.I64, A.I64});
    auto Function =
        LLVM::LLVMFuncOp::create(B, Loc, (Op.getCallee() + ".body").str(), Type,
                                 LLVM::Linkage::Internal);
    Block *Entry = Function.addEntryBlock(B);
    B.setInsertionPointToStart(Entry);
    SmallVector<Value> Arguments = {Entry->getArgument(1),
                                    Entry->getArgument(2)};
    for (auto [Index, FieldType] : llvm::enumerate(Environment.getBody()))
      Arguments.push_back(LLVM::LoadOp::create(
          B, Loc, FieldType,
          fieldOf(A, Environment, Entry->getArgument(0), Index)));
    LLVM::CallOp::create(B, Loc, TypeRange(), Op.getCallee(), Arguments);
    LLVM::ReturnOp::create(B, Loc, ValueRange());
    return Function.getName();
  }
};

} // namespace

void tenon::populateCallPatterns(LLVMTypeConverter &Converter,
                                 RewritePatternSet &Patterns) {
  Patterns.add<BarrierPattern, ClaimPattern, KernelPattern, CallMatmulPattern,
               LaunchPattern>(Converter);
}

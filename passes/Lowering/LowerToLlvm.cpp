//===- LowerToLlvm.cpp - The module on the runtime's ABI ------------------===//

#include "passes/Lowering/Passes.h"

#include "dialects/Transformer/CacheNumbering.h"

#include "runtime/Abi/TenonRt.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Dialect/X86Vector/Transforms.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tenon {
#define GEN_PASS_DEF_LOWERTOLLVM
#include "passes/Lowering/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;
using transformer::RowKind;

//===----------------------------------------------------------------------===//
// Fields of the ABI's structs
//===----------------------------------------------------------------------===//

namespace {

// Every field of the ABI is eight bytes: a field is its offset over eight.
#define TENON_FIELD(STRUCT, FIELD)                                             \
  (static_cast<int32_t>(offsetof(STRUCT, FIELD) / 8))

constexpr int32_t StepFunctions = TENON_FIELD(tenon_rt_step, functions);
constexpr int32_t StepRuntime = TENON_FIELD(tenon_rt_step, runtime);
constexpr int32_t StepBatch = TENON_FIELD(tenon_rt_step, batch);
constexpr int32_t StepScopes = TENON_FIELD(tenon_rt_step, scopes);
constexpr int32_t StepArena = TENON_FIELD(tenon_rt_step, arena);
constexpr int32_t StepOutput = TENON_FIELD(tenon_rt_step, output);
constexpr int32_t ScopeWeights = TENON_FIELD(tenon_rt_scope, weights);
constexpr int32_t ScopeCaches = TENON_FIELD(tenon_rt_scope, caches);

int32_t batchField(dnn::FieldKind Kind) {
  switch (Kind) {
  case dnn::FieldKind::TokenIds:
    return TENON_FIELD(tenon_rt_batch, token_ids);
  case dnn::FieldKind::TokenTypes:
    return TENON_FIELD(tenon_rt_batch, token_types);
  case dnn::FieldKind::Positions:
    return TENON_FIELD(tenon_rt_batch, positions);
  case dnn::FieldKind::SequenceOf:
    return TENON_FIELD(tenon_rt_batch, sequence_of);
  case dnn::FieldKind::Starts:
    return TENON_FIELD(tenon_rt_batch, starts);
  case dnn::FieldKind::Wanted:
    return TENON_FIELD(tenon_rt_batch, output_rows);
  case dnn::FieldKind::MemoryLengths:
    return TENON_FIELD(tenon_rt_batch, source_lengths);
  case dnn::FieldKind::Prefixes:
    return TENON_FIELD(tenon_rt_batch, prefixes);
  }
  llvm_unreachable("all fields are covered");
}

/// Emits loads through the ABI's structs.
class Abi {
public:
  Abi(OpBuilder &B, Location Loc)
      : B(B), Loc(Loc), Ptr(LLVM::LLVMPointerType::get(B.getContext())),
        I64(B.getI64Type()) {}

  Value constant(int64_t Number) {
    return LLVM::ConstantOp::create(B, Loc, I64, B.getI64IntegerAttr(Number));
  }
  /// `Base + Index * Size`.
  Value offset(Value Base, Value Index, int64_t Size) {
    Value Bytes = LLVM::MulOp::create(B, Loc, Index, constant(Size));
    return LLVM::GEPOp::create(B, Loc, Ptr, B.getI8Type(), Base,
                               ArrayRef<LLVM::GEPArg>{Bytes});
  }
  /// Element `Index` of an array of eight-byte words, or field of a struct.
  Value word(Value Base, Value Index, Type Wanted) {
    Value At = LLVM::GEPOp::create(B, Loc, Ptr, I64, Base,
                                   ArrayRef<LLVM::GEPArg>{Index});
    return LLVM::LoadOp::create(B, Loc, Wanted, At);
  }
  Value word(Value Base, int32_t Index, Type Wanted) {
    Value At = LLVM::GEPOp::create(B, Loc, Ptr, I64, Base,
                                   ArrayRef<LLVM::GEPArg>{Index});
    return LLVM::LoadOp::create(B, Loc, Wanted, At);
  }
  Value pointer(Value Base, int32_t Index) { return word(Base, Index, Ptr); }
  Value batch(Value Step) { return pointer(Step, StepBatch); }

  /// Calls `Field` of the step's function table with the runtime first. What
  /// the function answers, if `MayFail`, is looked at by propagateFailures.
  void call(Value Step, int32_t Field, ArrayRef<Value> Arguments,
            bool MayFail) {
    Value Function = pointer(pointer(Step, StepFunctions), Field);
    SmallVector<Value> All = {Function, pointer(Step, StepRuntime)};
    llvm::append_range(All, Arguments);
    SmallVector<Type> Types;
    for (Value Argument : ArrayRef(All).drop_front())
      Types.push_back(Argument.getType());
    auto Type = LLVM::LLVMFunctionType::get(
        MayFail ? I64 : LLVM::LLVMVoidType::get(B.getContext()), Types);
    LLVM::CallOp::create(B, Loc, Type, All);
  }

  OpBuilder &B;
  Location Loc;
  LLVM::LLVMPointerType Ptr;
  Type I64;
};

/// The descriptor of `Rows` dense rows at `Pointer`.
Value dynamicRows(const LLVMTypeConverter &Converter, OpBuilder &B,
                  Location Loc, MemRefType Type, Value Pointer, Value Rows) {
  auto Descriptor =
      MemRefDescriptor::poison(B, Loc, Converter.convertType(Type));
  Abi A(B, Loc);
  Descriptor.setAllocatedPtr(B, Loc, Pointer);
  Descriptor.setAlignedPtr(B, Loc, Pointer);
  Descriptor.setOffset(B, Loc, A.constant(0));
  Descriptor.setSize(B, Loc, 0, Rows);
  int64_t Width = Type.getRank() == 2 ? Type.getDimSize(1) : 1;
  Descriptor.setStride(B, Loc, 0, A.constant(Width));
  if (Type.getRank() == 2) {
    Descriptor.setSize(B, Loc, 1, A.constant(Width));
    Descriptor.setStride(B, Loc, 1, A.constant(1));
  }
  return Descriptor;
}

int64_t bytesOf(MemRefType Type) {
  return Type.getNumElements() * Type.getElementTypeBitWidth() / 8;
}

//===----------------------------------------------------------------------===//
// Handles
//===----------------------------------------------------------------------===//

struct CountPattern : public ConvertOpToLLVMPattern<dnn::CountOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(dnn::CountOp Op, OpAdaptor Operands,
                                ConversionPatternRewriter &B) const override {
    Abi A(B, Op.getLoc());
    int32_t Field = TENON_FIELD(tenon_rt_batch, tokens);
    if (Op.getKind() == RowKind::Wanted)
      Field = TENON_FIELD(tenon_rt_batch, output_row_count);
    if (Op.getKind() == RowKind::Sequences)
      Field = TENON_FIELD(tenon_rt_batch, sequences);
    Value Count = A.word(A.batch(Operands.getBatch()), Field, A.I64);
    if (Op.getKind() == RowKind::Chunks) {
      Value Up = LLVM::AddOp::create(B, Op.getLoc(), Count,
                                     A.constant(transformer::PageTokens - 1));
      Count = LLVM::UDivOp::create(B, Op.getLoc(), Up,
                                   A.constant(transformer::PageTokens));
    }
    B.replaceOp(Op, Count);
    return success();
  }
};

struct ScopePattern : public ConvertOpToLLVMPattern<dnn::ScopeOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(dnn::ScopeOp Op, OpAdaptor Operands,
                                ConversionPatternRewriter &B) const override {
    Abi A(B, Op.getLoc());
    Value Scopes = A.pointer(Operands.getBatch(), StepScopes);
    B.replaceOp(Op, A.offset(Scopes,
                             A.constant(static_cast<int64_t>(Op.getNumber())),
                             sizeof(tenon_rt_scope)));
    return success();
  }
};

/// A weight or a table of angles: an entry of the scope's table.
template <typename OpTy>
struct SlotPattern : public ConvertOpToLLVMPattern<OpTy> {
  using ConvertOpToLLVMPattern<OpTy>::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(OpTy Op, typename OpTy::Adaptor Operands,
                                ConversionPatternRewriter &B) const override {
    if (!Op.getSlot())
      return Op.emitOpError() << "expected a slot";
    Abi A(B, Op.getLoc());
    Value Table = A.pointer(Operands.getScope(), ScopeWeights);
    B.replaceOp(Op, A.pointer(Table, static_cast<int32_t>(*Op.getSlot())));
    return success();
  }
};

struct WeightViewPattern : public ConvertOpToLLVMPattern<dnn::WeightViewOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(dnn::WeightViewOp Op, OpAdaptor Operands,
                                ConversionPatternRewriter &B) const override {
    B.replaceOp(Op, {MemRefDescriptor::fromStaticShape(
                        B, Op.getLoc(), *getTypeConverter(),
                        cast<MemRefType>(Op.getType()), Operands.getWeight())});
    return success();
  }
};

struct FieldPattern : public ConvertOpToLLVMPattern<dnn::FieldOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(dnn::FieldOp Op, OpAdaptor Operands,
                                ConversionPatternRewriter &B) const override {
    Abi A(B, Op.getLoc());
    Value Batch = A.batch(Operands.getBatch());
    // The size is only nominal: kernels know how far they may go.
    Value Size = A.word(Batch, TENON_FIELD(tenon_rt_batch, tokens), A.I64);
    B.replaceOp(Op,
                dynamicRows(*getTypeConverter(), B, Op.getLoc(),
                            cast<MemRefType>(Op.getType()),
                            A.pointer(Batch, batchField(Op.getKind())), Size));
    return success();
  }
};

struct PageTablePattern : public ConvertOpToLLVMPattern<dnn::PageTableOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(dnn::PageTableOp Op, OpAdaptor Operands,
                                ConversionPatternRewriter &B) const override {
    Abi A(B, Op.getLoc());
    Value Tables =
        A.pointer(A.batch(Operands.getBatch()),
                  Op.getMemory() ? TENON_FIELD(tenon_rt_batch, cross_pages)
                                 : TENON_FIELD(tenon_rt_batch, pages));
    Value Table = A.word(Tables, Operands.getSequence(), A.Ptr);
    B.replaceOp(Op, dynamicRows(*getTypeConverter(), B, Op.getLoc(),
                                cast<MemRefType>(Op.getType()), Table,
                                A.constant(0)));
    return success();
  }
};

/// Keys and values as descriptors of the page at `Base`.
SmallVector<Value> pageDescriptors(const LLVMTypeConverter &Converter,
                                   OpBuilder &B, Location Loc, MemRefType Keys,
                                   MemRefType Values, Value Base) {
  Abi A(B, Loc);
  Value ValuesAt = A.offset(Base, A.constant(1), bytesOf(Keys));
  return {
      MemRefDescriptor::fromStaticShape(B, Loc, Converter, Keys, Base),
      MemRefDescriptor::fromStaticShape(B, Loc, Converter, Values, ValuesAt)};
}

/// Page `Number` of the layer of `Scope` in the cache of number `Cache`.
Value pageAddress(Abi &A, Value Scope, Value Cache, Value Number,
                  int64_t PageBytes) {
  Value Layers = A.pointer(Scope, ScopeCaches);
  return A.offset(A.word(Layers, Cache, A.Ptr), Number, PageBytes);
}

struct PagePattern : public ConvertOpToLLVMPattern<dnn::PageOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(dnn::PageOp Op, OpAdaptor Operands,
                                ConversionPatternRewriter &B) const override {
    Abi A(B, Op.getLoc());
    auto Keys = cast<MemRefType>(Op.getKeys().getType());
    auto Values = cast<MemRefType>(Op.getValues().getType());
    Value Page =
        pageAddress(A, Operands.getScope(), Operands.getCache(),
                    Operands.getPage(), bytesOf(Keys) + bytesOf(Values));
    B.replaceOp(Op, pageDescriptors(*getTypeConverter(), B, Op.getLoc(), Keys,
                                    Values, Page));
    return success();
  }
};

struct LatentPagePattern : public ConvertOpToLLVMPattern<dnn::LatentPageOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(dnn::LatentPageOp Op, OpAdaptor Operands,
                                ConversionPatternRewriter &B) const override {
    Abi A(B, Op.getLoc());
    auto Type = cast<MemRefType>(Op.getType());
    Value Page = pageAddress(A, Operands.getScope(), Operands.getCache(),
                             Operands.getPage(), bytesOf(Type));
    B.replaceOp(Op, {MemRefDescriptor::fromStaticShape(
                        B, Op.getLoc(), *getTypeConverter(), Type, Page)});
    return success();
  }
};

struct StagedPagePattern : public ConvertOpToLLVMPattern<dnn::StagedPageOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(dnn::StagedPageOp Op, OpAdaptor Operands,
                                ConversionPatternRewriter &B) const override {
    Abi A(B, Op.getLoc());
    auto Keys = cast<MemRefType>(Op.getKeys().getType());
    auto Values = cast<MemRefType>(Op.getValues().getType());
    MemRefDescriptor Staged(Operands.getStaged());
    Value Page = A.offset(Staged.alignedPtr(B, Op.getLoc()), Operands.getRow(),
                          bytesOf(Keys) + bytesOf(Values));
    B.replaceOp(Op, pageDescriptors(*getTypeConverter(), B, Op.getLoc(), Keys,
                                    Values, Page));
    return success();
  }
};

struct BufferPattern : public ConvertOpToLLVMPattern<dnn::BufferOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(dnn::BufferOp Op, OpAdaptor Operands,
                                ConversionPatternRewriter &B) const override {
    Abi A(B, Op.getLoc());
    Value Arena = A.pointer(Operands.getBatch(), StepArena);
    Value At =
        A.offset(Arena, A.constant(static_cast<int64_t>(Op.getOffset())), 1);
    B.replaceOp(Op, dynamicRows(*getTypeConverter(), B, Op.getLoc(),
                                cast<MemRefType>(Op.getType()), At,
                                Operands.getRows()));
    return success();
  }
};

struct FeaturesPattern : public ConvertOpToLLVMPattern<dnn::FeaturesOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(dnn::FeaturesOp Op, OpAdaptor Operands,
                                ConversionPatternRewriter &B) const override {
    Abi A(B, Op.getLoc());
    Value Given = A.pointer(A.batch(Operands.getBatch()),
                            TENON_FIELD(tenon_rt_batch, features));
    B.replaceOp(Op, dynamicRows(*getTypeConverter(), B, Op.getLoc(),
                                cast<MemRefType>(Op.getType()), Given,
                                Operands.getRows()));
    return success();
  }
};

struct OutputPattern : public ConvertOpToLLVMPattern<dnn::OutputOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(dnn::OutputOp Op, OpAdaptor Operands,
                                ConversionPatternRewriter &B) const override {
    Abi A(B, Op.getLoc());
    B.replaceOp(Op, dynamicRows(*getTypeConverter(), B, Op.getLoc(),
                                cast<MemRefType>(Op.getType()),
                                A.pointer(Operands.getBatch(), StepOutput),
                                Operands.getRows()));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Calls of the runtime
//===----------------------------------------------------------------------===//

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

struct CallSitePattern : public ConvertOpToLLVMPattern<dnn::CallSiteOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(dnn::CallSiteOp Op, OpAdaptor Operands,
                                ConversionPatternRewriter &B) const override {
    Location Loc = Op.getLoc();
    Abi A(B, Loc);
    Value Null = LLVM::ZeroOp::create(B, Loc, A.Ptr);
    auto DataOf = [&](Value Buffer) -> Value {
      return Buffer ? MemRefDescriptor(Buffer).alignedPtr(B, Loc) : Null;
    };
    Value Rows = MemRefDescriptor(Operands.getInput()).size(B, Loc, 0);
    A.call(Operands.getBatch(), TENON_FIELD(tenon_rt_functions, matmul),
           {A.constant(static_cast<int64_t>(Op.getSite())), Rows,
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
    Value Space;
    {
      // At the start of the function: calls that may fail split blocks, and
      // elsewhere than in the first one stack is taken dynamically.
      OpBuilder::InsertionGuard Guard(B);
      B.setInsertionPointToStart(
          &Op->getParentOfType<FunctionOpInterface>().front());
      Space = LLVM::AllocaOp::create(B, Loc, A.Ptr, Environment, A.constant(1));
    }
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

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

struct LowerToLlvm : public tenon::impl::LowerToLlvmBase<LowerToLlvm> {
  void runOnOperation() override {
    ModuleOp Module = getOperation();
    expandDispatches(Module);
    exportEntries(Module);
    if (failed(expandMath(Module)) || failed(expandLoops(Module)) ||
        failed(convert(Module)))
      return signalPassFailure();
    propagateFailures(Module);
  }

  /// Entries, and whatever calls a function that may fail, answer its answer
  /// at once unless it is 0. Bodies of parallel regions cannot fail.
  static void propagateFailures(ModuleOp Module) {
    SmallVector<LLVM::LLVMFuncOp> Pending;
    auto MayFail = [&](LLVM::LLVMFuncOp Function) {
      auto Type = Function.getFunctionType();
      if (!isa<LLVM::LLVMVoidType>(Type.getReturnType()))
        return;
      auto I64 = IntegerType::get(Module.getContext(), 64);
      Function.setFunctionType(
          LLVM::LLVMFunctionType::get(I64, Type.getParams()));
      Function.walk([&](LLVM::ReturnOp Return) {
        OpBuilder B(Return);
        Value Zero = LLVM::ConstantOp::create(B, Return.getLoc(), I64, 0);
        Return.getArgMutable().assign(Zero);
      });
      Pending.push_back(Function);
    };
    auto ReturnFailure = [&](LLVM::CallOp Call) {
      OpBuilder B(Call->getContext());
      Block *Before = Call->getBlock();
      Block *After = Before->splitBlock(std::next(Call->getIterator()));
      Block *Failed = B.createBlock(After);
      LLVM::ReturnOp::create(B, Call.getLoc(), Call.getResult());
      B.setInsertionPointToEnd(Before);
      Value Zero =
          LLVM::ConstantOp::create(B, Call.getLoc(), B.getI64Type(), 0);
      Value HasFailed = LLVM::ICmpOp::create(
          B, Call.getLoc(), LLVM::ICmpPredicate::ne, Call.getResult(), Zero);
      LLVM::CondBrOp::create(B, Call.getLoc(), HasFailed, Failed, After);
    };
    // Calls through the function table first, then those of their callers.
    SmallVector<LLVM::CallOp> Calls;
    Module.walk([&](LLVM::CallOp Call) { Calls.push_back(Call); });
    llvm::erase_if(Calls, [&](LLVM::CallOp Call) {
      if (Call.getCallee() || Call.getNumResults() == 0)
        return Call.getCallee().value_or("").empty();
      MayFail(Call->getParentOfType<LLVM::LLVMFuncOp>());
      ReturnFailure(Call);
      return true;
    });
    for (auto Function : Module.getOps<LLVM::LLVMFuncOp>())
      if (Function.getName().starts_with(TENON_RT_ENTRY_PREFIX))
        MayFail(Function);
    while (!Pending.empty()) {
      LLVM::LLVMFuncOp Callee = Pending.pop_back_val();
      llvm::erase_if(Calls, [&](LLVM::CallOp Call) {
        if (Call.getCallee() != Callee.getName())
          return false;
        OpBuilder B(Call);
        auto Checked = LLVM::CallOp::create(B, Call.getLoc(), Callee,
                                            Call.getArgOperands());
        MayFail(Call->getParentOfType<LLVM::LLVMFuncOp>());
        Call.erase();
        ReturnFailure(Checked);
        return true;
      });
    }
  }

  /// Structured control flow becomes branches, apart from the rest: patterns
  /// that split blocks do not mix with those that convert them.
  static LogicalResult expandLoops(ModuleOp Module) {
    RewritePatternSet Patterns(Module.getContext());
    populateSCFToControlFlowConversionPatterns(Patterns);
    ConversionTarget Target(*Module.getContext());
    Target.addIllegalDialect<scf::SCFDialect>();
    Target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    return applyPartialConversion(Module, Target, std::move(Patterns));
  }

  /// A dispatch is a comparison and two calls.
  static void expandDispatches(ModuleOp Module) {
    auto Few = Module->getAttrOfType<IntegerAttr>(transformer::attr::FewTokens);
    Module.walk([&](dnn::DispatchOp Op) {
      OpBuilder B(Op);
      Location Loc = Op.getLoc();
      Value Count = dnn::CountOp::create(B, Loc, B.getIndexType(), Op.getRows(),
                                         Op.getBatch());
      Value Bound =
          arith::ConstantIndexOp::create(B, Loc, Few ? Few.getInt() : 0);
      Value IsFew = arith::CmpIOp::create(B, Loc, arith::CmpIPredicate::ule,
                                          Count, Bound);
      SmallVector<Value> Operands(Op.getInputs());
      llvm::append_range(Operands, Op.getOuts());
      auto Call = [&](FlatSymbolRefAttr Callee) {
        // A layer's code exists once: calls must stay calls.
        Module.lookupSymbol<func::FuncOp>(Callee.getAttr())
            ->setAttr("passthrough", B.getStrArrayAttr({"noinline"}));
        return [=](OpBuilder &Nested, Location) {
          func::CallOp::create(Nested, Loc, Callee, TypeRange(), Operands);
          scf::YieldOp::create(Nested, Loc);
        };
      };
      scf::IfOp::create(B, Loc, IsFew, Call(Op.getFewAttr()),
                        Call(Op.getManyAttr()));
      Op->erase();
    });
  }

  /// Entries take the step and nothing else; the rest of the module is
  /// internal.
  static void exportEntries(ModuleOp Module) {
    CacheNumbering Numbers(Module);
    auto Internal =
        LLVM::LinkageAttr::get(Module.getContext(), LLVM::Linkage::Internal);
    for (auto Function : Module.getOps<func::FuncOp>()) {
      auto Role = Function->getAttrOfType<StringAttr>(transformer::attr::Role);
      for (StringRef Name :
           {transformer::attr::Role, transformer::attr::Output,
            transformer::attr::MaxTokens, transformer::attr::MaxWanted,
            transformer::attr::Vocabulary})
        Function->removeAttr(Name);
      if (!Role) {
        Function->setAttr("llvm.linkage", Internal);
        continue;
      }
      Function.setName((TENON_RT_ENTRY_PREFIX + Role.getValue()).str());
      Block &Body = Function.getBody().front();
      auto B = OpBuilder::atBlockBegin(&Body);
      CacheNumbering::Entry Next = Numbers.entry();
      for (BlockArgument Argument : Body.getArguments()) {
        auto Cache = dyn_cast<transformer::CacheType>(Argument.getType());
        if (!Cache)
          continue;
        Value Number = arith::ConstantOp::create(
            B, Function.getLoc(),
            B.getI64IntegerAttr(static_cast<int64_t>(Next.number(Cache))));
        Value Handle = UnrealizedConversionCastOp::create(
                           B, Function.getLoc(), Argument.getType(), Number)
                           .getResult(0);
        Argument.replaceAllUsesWith(Handle);
      }
      Body.eraseArguments([](BlockArgument Argument) {
        return isa<transformer::CacheType>(Argument.getType());
      });
      Function.setFunctionType(B.getFunctionType(Body.getArgumentTypes(), {}));
    }
    for (StringRef Name :
         {transformer::attr::FewTokens, transformer::attr::Vocabulary,
          transformer::attr::MaxSequence, transformer::attr::TokenTypes,
          transformer::attr::MaxSource, transformer::attr::Family})
      Module->removeAttr(Name);
  }

  static LogicalResult expandMath(ModuleOp Module) {
    RewritePatternSet Patterns(Module.getContext());
    populateMathPolynomialApproximationPatterns(Patterns);
    vector::populateVectorMaskMaterializationPatterns(
        Patterns, /*force32BitVectorIndices=*/true);
    return applyPatternsGreedily(Module, std::move(Patterns));
  }

  static LogicalResult convert(ModuleOp Module) {
    MLIRContext *Context = Module.getContext();
    LowerToLLVMOptions Options(Context);
    LLVMTypeConverter Converter(Context, Options);
    auto Ptr = LLVM::LLVMPointerType::get(Context);
    Converter.addConversion([=](transformer::BatchType) { return Ptr; });
    Converter.addConversion([=](transformer::ScopeType) { return Ptr; });
    Converter.addConversion([=](dnn::PackedType) { return Ptr; });
    Converter.addConversion(
        [=](transformer::CacheType) { return IntegerType::get(Context, 64); });

    RewritePatternSet Patterns(Context);
    Patterns.add<CountPattern, ScopePattern, SlotPattern<dnn::WeightOp>,
                 SlotPattern<dnn::TableOp>, WeightViewPattern, FieldPattern,
                 PageTablePattern, PagePattern, LatentPagePattern,
                 StagedPagePattern, BufferPattern, FeaturesPattern,
                 OutputPattern, BarrierPattern, CallSitePattern, LaunchPattern>(
        Converter);
    arith::populateArithToLLVMConversionPatterns(Converter, Patterns);
    index::populateIndexToLLVMConversionPatterns(Converter, Patterns);
    cf::populateControlFlowToLLVMConversionPatterns(Converter, Patterns);
    populateFuncToLLVMConversionPatterns(Converter, Patterns);
    populateFinalizeMemRefToLLVMConversionPatterns(Converter, Patterns);
    populateMathToLLVMConversionPatterns(Converter, Patterns);
    populateVectorToLLVMConversionPatterns(Converter, Patterns);
    populateX86VectorLegalizeForLLVMExportPatterns(Converter, Patterns);

    LLVMConversionTarget Target(*Context);
    configureX86VectorLegalizeForExportTarget(Target);
    Target.addLegalOp<ModuleOp, UnrealizedConversionCastOp>();
    return applyFullConversion(Module, Target, std::move(Patterns));
  }
};

} // namespace

//===- Abi.h - Loads and calls on the runtime's ABI -------------*- C++ -*-===//

#ifndef TENON_PASSES_LOWERING_ABI_H
#define TENON_PASSES_LOWERING_ABI_H

#include "passes/Lowering/Passes.h"
#include "runtime/Abi/TenonRt.h"

#include "mlir/Conversion/LLVMCommon/Pattern.h"

#include <cstddef>

namespace tenon {

// Every field of the ABI is eight bytes: a field is its offset over eight.
#define TENON_FIELD(STRUCT, FIELD)                                             \
  (static_cast<int32_t>(offsetof(STRUCT, FIELD) / 8))

inline constexpr int32_t StepFunctions = TENON_FIELD(tenon_rt_step, functions);
inline constexpr int32_t StepRuntime = TENON_FIELD(tenon_rt_step, runtime);
inline constexpr int32_t StepBatch = TENON_FIELD(tenon_rt_step, batch);
inline constexpr int32_t StepScopes = TENON_FIELD(tenon_rt_step, scopes);
inline constexpr int32_t StepArena = TENON_FIELD(tenon_rt_step, arena);
inline constexpr int32_t StepOutput = TENON_FIELD(tenon_rt_step, output);
inline constexpr int32_t StepScratch = TENON_FIELD(tenon_rt_step, scratch);
inline constexpr int32_t StepScratchBytes =
    TENON_FIELD(tenon_rt_step, scratch_bytes);
inline constexpr int32_t ScopeWeights = TENON_FIELD(tenon_rt_scope, weights);
inline constexpr int32_t ScopeCaches = TENON_FIELD(tenon_rt_scope, caches);

/// Emits loads through the ABI's structs.
class Abi {
public:
  Abi(mlir::OpBuilder &B, mlir::Location Loc)
      : B(B), Loc(Loc), Ptr(mlir::LLVM::LLVMPointerType::get(B.getContext())),
        I64(B.getI64Type()) {}

  mlir::Value constant(int64_t Number) {
    return mlir::LLVM::ConstantOp::create(B, Loc, I64,
                                          B.getI64IntegerAttr(Number));
  }
  /// `Base + Index * Size`.
  mlir::Value offset(mlir::Value Base, mlir::Value Index, int64_t Size) {
    mlir::Value Bytes =
        mlir::LLVM::MulOp::create(B, Loc, Index, constant(Size));
    return mlir::LLVM::GEPOp::create(B, Loc, Ptr, B.getI8Type(), Base,
                                     llvm::ArrayRef<mlir::LLVM::GEPArg>{Bytes});
  }
  /// Element `Index` of an array of eight-byte words, or field of a struct.
  mlir::Value word(mlir::Value Base, mlir::Value Index, mlir::Type Element) {
    mlir::Value At = mlir::LLVM::GEPOp::create(
        B, Loc, Ptr, I64, Base, llvm::ArrayRef<mlir::LLVM::GEPArg>{Index});
    return mlir::LLVM::LoadOp::create(B, Loc, Element, At);
  }
  mlir::Value word(mlir::Value Base, int32_t Index, mlir::Type Element) {
    mlir::Value At = mlir::LLVM::GEPOp::create(
        B, Loc, Ptr, I64, Base, llvm::ArrayRef<mlir::LLVM::GEPArg>{Index});
    return mlir::LLVM::LoadOp::create(B, Loc, Element, At);
  }
  mlir::Value pointer(mlir::Value Base, int32_t Index) {
    return word(Base, Index, Ptr);
  }
  mlir::Value batch(mlir::Value Step) { return pointer(Step, StepBatch); }

  /// Calls `Field` of the step's function table with the runtime first. What
  /// the function answers, if `MayFail`, is looked at by propagateFailures.
  void call(mlir::Value Step, int32_t Field,
            llvm::ArrayRef<mlir::Value> Arguments, bool MayFail) {
    mlir::Value Function = pointer(pointer(Step, StepFunctions), Field);
    llvm::SmallVector<mlir::Value> All = {Function, pointer(Step, StepRuntime)};
    llvm::append_range(All, Arguments);
    llvm::SmallVector<mlir::Type> Types;
    for (mlir::Value Argument : llvm::ArrayRef(All).drop_front())
      Types.push_back(Argument.getType());
    auto Signature = mlir::LLVM::LLVMFunctionType::get(
        MayFail ? I64 : mlir::LLVM::LLVMVoidType::get(B.getContext()), Types);
    mlir::LLVM::CallOp::create(B, Loc, Signature, All);
  }

  mlir::OpBuilder &B;
  mlir::Location Loc;
  mlir::LLVM::LLVMPointerType Ptr;
  mlir::Type I64;
};

/// Patterns for handles and buffers: counts, scopes, weights, pages, the arena.
void populateHandlePatterns(mlir::LLVMTypeConverter &Converter,
                            mlir::RewritePatternSet &Patterns);
/// Patterns for what goes through the function table: the library, barriers,
/// parallel regions.
void populateCallPatterns(mlir::LLVMTypeConverter &Converter,
                          mlir::RewritePatternSet &Patterns);
/// Patterns for operations on vectors.
void populateVectorPatterns(mlir::LLVMTypeConverter &Converter,
                            mlir::RewritePatternSet &Patterns);

} // namespace tenon

#endif // TENON_PASSES_LOWERING_ABI_H

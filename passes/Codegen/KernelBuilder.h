//===- KernelBuilder.h - Vocabulary of the kernel emitters ------*- C++ -*-===//
//
// A builder positioned in a parallel region, with the words that kernels are
// written in: vectors of 16 f32 lanes, loops, masked tails, conversions.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_CODEGEN_KERNELBUILDER_H
#define TENON_PASSES_CODEGEN_KERNELBUILDER_H

#include "passes/Codegen/Passes.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tenon {

/// f32 lanes of every vector. Targets with narrower registers use two.
inline constexpr int64_t Lanes = 16;
/// Bytes.
inline constexpr int64_t CacheLine = 64;

class KernelBuilder : public mlir::ImplicitLocOpBuilder {
public:
  using Value = mlir::Value;
  using Type = mlir::Type;

  /// Emits at `Builder`'s place in the region of `Parallel`.
  KernelBuilder(mlir::OpBuilder &Builder, mlir::Location Loc,
                dnn::ParallelOp Parallel, Value Batch, dnn::TargetAttr Target,
                bool IsDecodeSized);

  dnn::TargetAttr Target;
  /// Whether the function runs for decode-sized batches only.
  bool IsDecodeSized;
  Value Thread;  ///< This thread's number.
  Value Threads; ///< How many there are.
  Value Batch;   ///< What the function runs for.

  //===--- Constants and indices ------------------------------------------===//
  Value index(int64_t Number);
  Value i32(int32_t Number);
  Value f32(float Number);
  /// All lanes `Number`.
  Value vecConst(float Number);
  Value add(Value A, Value B);
  Value add(Value A, int64_t B);
  Value sub(Value A, Value B);
  Value mul(Value A, Value B);
  Value mul(Value A, int64_t B);
  Value div(Value A, int64_t B); ///< Of unsigned indices.
  Value rem(Value A, int64_t B); ///< Of unsigned indices.
  Value ceilDiv(Value A, int64_t B);
  Value min(Value A, Value B); ///< Of signed indices.
  Value max(Value A, Value B); ///< Of signed indices.
  /// `i32` element of an array as an index.
  Value loadIndex(Value Array, mlir::ValueRange At);
  void storeIndex(Value Number, Value Array, mlir::ValueRange At);
  /// An index as f32.
  Value toFloat(Value Number);

  //===--- Control flow ---------------------------------------------------===//
  void loop(Value From, Value To, int64_t Step,
            llvm::function_ref<void(Value)> Body);
  /// A loop that carries `Inits`; `Body` returns their next values.
  llvm::SmallVector<Value>
  loop(Value From, Value To, int64_t Step, mlir::ValueRange Inits,
       llvm::function_ref<llvm::SmallVector<Value>(Value, mlir::ValueRange)>
           Body);
  /// This thread's contiguous share of [0, Count).
  void share(Value Count, llvm::function_ref<void(Value)> Body);
  /// The same, but who has done its share helps others with theirs: for items
  /// that take microseconds or longer. `Body` gets the first of some items,
  /// `Grain` or more while there are as many, and how many. Every thread must
  /// come by here.
  void claim(Value Count, Value Grain,
             llvm::function_ref<void(Value, Value)> Body);
  /// This thread's items of [0, Count) when dealt out in turn.
  void deal(Value Count, llvm::function_ref<void(Value)> Body);
  /// The same of items that are dealt out behind `Before` others.
  void deal(Value Count, Value Before, llvm::function_ref<void(Value)> Body);
  void ifThen(Value Condition, llvm::function_ref<void()> Body);
  void ifThenElse(Value Condition, llvm::function_ref<void()> Then,
                  llvm::function_ref<void()> Else);
  /// Runs `Body` on the first thread only.
  void once(llvm::function_ref<void()> Body);
  Value isLess(Value A, Value B);  ///< Of signed indices.
  Value isEqual(Value A, Value B); ///< Of indices.
  /// Runs `Body` with each constant in [1, Max] that equals `Number`.
  void caseOf(Value Number, int64_t Max,
              llvm::function_ref<void(int64_t)> Body);

  //===--- Vectors --------------------------------------------------------===//
  mlir::VectorType vecType(Type Element = {}, int64_t Count = Lanes);
  Value splat(Value Scalar);
  /// A constant in every lane of an i32 vector.
  Value splatWord(int32_t Number);
  /// 16 elements from `At` on, as f32; only the first `Valid`, 0 elsewhere.
  Value load(Value Buffer, mlir::ValueRange At, int64_t Valid = Lanes);
  /// The same with a mask.
  Value load(Value Buffer, mlir::ValueRange At, Value Mask);
  /// One element, as f32.
  Value loadScalar(Value Buffer, mlir::ValueRange At);
  /// Stores the first `Valid` lanes of an f32 vector in the buffer's type.
  void store(Value Vector, Value Buffer, mlir::ValueRange At,
             int64_t Valid = Lanes);
  void store(Value Vector, Value Buffer, mlir::ValueRange At, Value Mask);
  /// Stores two f32 vectors as bf16, lane by lane side by side. Rounds to
  /// nearest, ties away from zero: in integers, which tiles leave more room
  /// for.
  void storePair(Value Even, Value Odd, Value Buffer, mlir::ValueRange At);
  void storeScalar(Value Scalar, Value Buffer, mlir::ValueRange At);
  /// Four bytes from `At` on as i32.
  Value loadWord(Value Buffer, mlir::ValueRange At);
  /// Asks for the cache line of an element that is read soon, into the second
  /// level of the cache (2), for which more lines can be on their way from
  /// memory, or the first (3).
  void prefetch(Value Buffer, mlir::ValueRange At, unsigned Locality = 2);
  /// First, First + 1, ... as i32.
  Value countFrom(Value First);
  /// An index in every lane, as i32.
  Value splatIndex(Value Index);
  /// An i32 vector as f32.
  Value toFloats(Value Words);
  /// f32 lanes rounded to bf16 and back.
  Value roundToBF16(Value Vector);
  /// The first `Count` lanes, for a `Count` known only at run time.
  Value maskOf(Value Count);
  Value fma(Value A, Value B, Value C);
  Value addf(Value A, Value B);
  Value subf(Value A, Value B);
  Value mulf(Value A, Value B);
  Value divf(Value A, Value B);
  Value maxf(Value A, Value B);
  /// The larger of two numbers; without maxf()'s care for NaNs.
  Value larger(Value A, Value B);
  Value minf(Value A, Value B);
  /// A pair of bf16 in every lane of 32 bits.
  Value splatPair(Value Pair);
  /// 2^x of f32 lanes x that are at most 0: a polynomial for the fraction of x,
  /// of a relative error of at most 9e-8, or of 1.1e-4, a twentieth of what
  /// rounding to bf16 adds, for weights that become bf16 (as in
  /// FlashAttention-4 of Zadouri et al.). 0 for what is far below -149.
  Value exp2OfNonPositive(Value Vector, bool BecomesBF16 = false);
  static constexpr float Log2OfE = 1.44269504088896340736f;
  /// The columns of 16 vectors of 16 lanes of 32 bits.
  llvm::SmallVector<Value> transpose(mlir::ValueRange Rows);
  /// Sum of all lanes.
  Value sum(Value Vector);
  /// Largest lane.
  Value largest(Value Vector);
  /// What sum() and largest() are of each of 1 to 16 vectors, in the lane of
  /// its number; in the lanes behind, anything.
  Value sumOfEach(mlir::ValueRange Vectors);
  Value largestOfEach(mlir::ValueRange Vectors);
  /// Lane `Lane` in all lanes.
  Value splatLane(Value Vector, int64_t Lane);
  /// `Vector` through an activation, by polynomials.
  Value activate(Value Vector, Activation Act);

  /// Calls `Body` for each group of 16 of `Width` columns: a loop over full
  /// groups and one call for the rest, with the number of valid lanes.
  void columns(int64_t Width, llvm::function_ref<void(Value, int64_t)> Body);
  /// The same, carrying `Inits`.
  llvm::SmallVector<Value>
  columns(int64_t Width, mlir::ValueRange Inits,
          llvm::function_ref<llvm::SmallVector<Value>(Value, int64_t,
                                                      mlir::ValueRange)>
              Body);

  /// Scratch of this thread, of static shape, at the top of the region. What
  /// earlier kernels of the region had is used again: a thread has the scratch
  /// of a layer. `place-scratch` moves what is large away from its stack.
  Value scratch(llvm::ArrayRef<int64_t> Shape, Type Element = {});

  Value dim0(Value Buffer);
  Value weightView(Value Packed);
  Value field(dnn::FieldKind Kind, Value Batch);

private:
  void dealFrom(Value First, Value Count, llvm::function_ref<void(Value)> Body);
  Value widen(Value Vector);
  Value narrow(Value Vector, Type Element);
  dnn::ParallelOp Parallel;
  /// Scratch of earlier kernels that this one has not taken.
  llvm::SmallVector<mlir::memref::AllocaOp> Unused;
};

/// Turns the first `dim` elements of a head in `Head`, f32 scratch from `From`
/// on, by the angles in row `Position` of `Table`.
void emitRotation(KernelBuilder &B, transformer::RopeAttr Rope,
                  mlir::Value Table, mlir::Value Position, mlir::Value Head,
                  int64_t From);

/// Emits the share that one thread does of `Op`. Specialised for every compute
/// op of the dnn dialect in the file of its kernel: one that is missing does
/// not link.
template <typename OpTy> void emitKernel(KernelBuilder &B, OpTy Op);

} // namespace tenon

#endif // TENON_PASSES_CODEGEN_KERNELBUILDER_H

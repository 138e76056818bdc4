//===- Checks.h - What verifiers of placed operations share -----*- C++ -*-===//
//
// Each check is a numbered constraint of SPEC.md. What both dialects check of
// an operation and its twin is in the transformer dialect's Checks.h.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_DIALECTS_DNN_CHECKS_H
#define TENON_DIALECTS_DNN_CHECKS_H

#include "dialects/Dnn/Dnn.h"
#include "dialects/Transformer/Checks.h"

namespace tenon::dnn {

inline PackedType packedTypeOf(mlir::Value Weight) {
  return llvm::cast<PackedType>(Weight.getType());
}

/// Elements of a packed vector, output features of other weights.
inline int64_t elementsOf(mlir::Value Weight) {
  return packedTypeOf(Weight).getOutFeatures();
}
inline std::optional<int64_t> elementsIfAny(mlir::Value Weight) {
  return Weight ? std::optional(elementsOf(Weight)) : std::nullopt;
}

/// A value under its name in messages; null for an operand that is not there.
using NamedValue = std::pair<llvm::StringRef, mlir::Value>;

/// "CONSTRAINT: width of NAME" of each of `Rows`, which are `Width` wide.
llvm::LogicalResult checkWidths(mlir::Operation *Op,
                                const llvm::Twine &Constraint, int64_t Width,
                                llvm::ArrayRef<NamedValue> Rows);

/// PREFIX_c1 and PREFIX_c2: the weight takes rows of `Width` columns, and an
/// optional bias has an element per output feature.
llvm::LogicalResult checkWeight(mlir::Operation *Op, llvm::StringRef Prefix,
                                llvm::StringRef Name, mlir::Value Weight,
                                mlir::Value Bias, int64_t Width);

/// "CONSTRAINT: format of NAME" of `Weight` is that of `Like`.
llvm::LogicalResult checkFormat(mlir::Operation *Op,
                                const llvm::Twine &Constraint,
                                llvm::StringRef Name, mlir::Value Like,
                                mlir::Value Weight);

/// Rows of grouped integers are multiplied with a quantised weight.
llvm::LogicalResult checkGrouped(mlir::Operation *Op,
                                 const llvm::Twine &Constraint,
                                 mlir::Value Input, mlir::Value Weight);

/// A matmul (c1 to c6), whatever it is called and wherever it writes to.
template <typename OpTy>
llvm::LogicalResult checkMatmul(OpTy Op, llvm::StringRef Prefix,
                                mlir::Value Output,
                                std::optional<uint64_t> Primitive) {
  if (failed(checkWeight(Op, Prefix, "weight", Op.getWeight(), Op.getBias(),
                         widthOf(Op.getInput()))) ||
      failed(checkWidths(Op, Prefix + "_c3", elementsOf(Op.getWeight()),
                         {{"multiplier", Op.getMultiplier()},
                          {"residual", Op.getResidual()},
                          {"the destination", Output}})))
    return llvm::failure();
  if (!Primitive)
    return checkGrouped(Op, Prefix + "_c6", Op.getInput(), Op.getWeight());
  if (failed(checkAtLeast(Op, Prefix + "_c4", "primitive", 0,
                          static_cast<int64_t>(*Primitive))))
    return llvm::failure();
  StorageFormat Weight = packedTypeOf(Op.getWeight()).getFormat();
  if (groupedTypeOf(Op.getInput()))
    return Op.emitOpError() << Prefix
                            << "_c5: a library matmul: expected an input of "
                               "f32 or bf16, got grouped integers";
  StorageFormat Input = formatOf(Op.getInput());
  if (StorageFormat Out = formatOf(Output);
      !isLibraryMatmul(Input, Weight, Out))
    return Op.emitOpError()
           << Prefix << "_c5: a library matmul with a weight of "
           << infoOf(Weight).Name << ": expected an input of that type"
           << (Input == Weight ? " and an output of f32" : "") << ", got "
           << infoOf(Input == Weight ? Out : Input).Name;
  return llvm::success();
}

/// A table holds the rotations of `Rope`: there are both, or neither.
llvm::LogicalResult checkRopeTable(mlir::Operation *Op,
                                   const llvm::Twine &Constraint,
                                   transformer::RopeAttr Rope,
                                   mlir::Value Table);

/// A matmul of all experts: `Offsets` has one more column than the experts of
/// `Weight`.
llvm::LogicalResult checkOffsets(mlir::Operation *Op,
                                 const llvm::Twine &Constraint,
                                 mlir::Value Offsets, mlir::Value Weight);

} // namespace tenon::dnn

#endif // TENON_DIALECTS_DNN_CHECKS_H

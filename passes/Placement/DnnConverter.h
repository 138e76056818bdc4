//===- DnnConverter.h - One function onto the dnn dialect -------*- C++ -*-===//
//
// What the conversion of every operation shares: values already converted,
// destinations, packed weights, tables. Most operations have a twin of the same
// name in the dnn dialect and are converted alike; those that have not are
// converted by a function of their own (ConvertMatmuls, ConvertAttention,
// ConvertMoe, ConvertHandles).
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_PLACEMENT_DNNCONVERTER_H
#define TENON_PASSES_PLACEMENT_DNNCONVERTER_H

#include "dialects/Transformer/RowCounts.h"
#include "passes/Placement/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

namespace tenon {

/// What conversions know of the module.
struct DnnConversion {
  transformer::RowCounts Rows;
  dnn::TargetAttr Target;
  /// What matmuls with quantised weights compute in.
  StorageFormat Compute = StorageFormat::BF16;
  /// Whether activations are never quantised.
  bool IsExact = false;
  /// Most positions of a sequence or of a source text; sizes tables.
  int64_t Positions = 1;
  /// Numbers of scopes, by name and layer.
  llvm::MapVector<mlir::Attribute, int64_t> Scopes;
  /// The layer of the root scope; null for none.
  mlir::IntegerAttr RootLayer;
};

/// Rewrites one function, op by op, in order.
class DnnConverter {
public:
  using Value = mlir::Value;

  DnnConverter(mlir::func::FuncOp Function, DnnConversion &Module)
      : Module(Module), Function(Function), Builder(Function.getContext()) {}

  mlir::LogicalResult run();

  // What is converted by functions of its own.
  mlir::LogicalResult convert(transformer::ScopeOp Op);
  mlir::LogicalResult convert(transformer::DispatchOp Op);
  mlir::LogicalResult convert(transformer::SinusoidOp Op);
  mlir::LogicalResult convert(transformer::RopeOp Op);
  mlir::LogicalResult convert(transformer::MatmulOp Op);
  mlir::LogicalResult convert(transformer::GatedMatmulOp Op);
  mlir::LogicalResult convert(transformer::MoeOp Op);
  mlir::LogicalResult convert(transformer::SplitAppendOp Op);
  mlir::LogicalResult convert(transformer::SplitStageOp Op);
  mlir::LogicalResult convert(transformer::OnlineAttentionOp Op);
  mlir::LogicalResult convert(transformer::LatentAttentionOp Op);
  mlir::LogicalResult convert(mlir::func::ReturnOp Op);

private:
  mlir::LogicalResult convertOp(mlir::Operation *Op);
  /// An op whose twin has its name, attributes and operands, with destinations
  /// behind them. Caches come out as they went in: appends are effects now.
  mlir::LogicalResult convertTwin(mlir::Operation *Op);

  /// The converted value; null for null.
  Value mapped(Value Old) const {
    return Old ? Map.lookupOrDefault(Old) : Value();
  }
  llvm::SmallVector<Value> mapped(mlir::ValueRange Old) const;
  void map(Value Old, Value New) { Map.map(Old, New); }

  /// A fresh destination shaped like the activations `Like`, of type `Element`
  /// if that is given.
  Value emptyLike(Value Like, mlir::Type Element = {});
  /// A fresh destination of `Width` columns.
  Value emptyRows(mlir::Location Loc, transformer::CountKind Count,
                  int64_t Width, mlir::Type Element);

  /// One packed weight of the parameters `Sources`, one below another.
  Value packed(mlir::ValueRange Sources);
  /// The same of one parameter; null for null.
  Value packed(Value Source) {
    return Source ? packed(mlir::ValueRange(Source)) : Value();
  }
  /// The f32 table of `Content`, [Rows, Columns]. `Key` is the parameter that
  /// it is made of.
  Value table(mlir::Location Loc, Value Scope,
              transformer::TableAttrInterface Content, int64_t Rows,
              int64_t Columns, mlir::StringAttr Key = {});
  /// The table of a rotation; null for none.
  Value ropeTable(mlir::Location Loc, transformer::RopeAttr Rope);
  /// A scope to keep a table in that is the same in all of them.
  Value anyScope();

  /// The storage format of a parameter's matrix or of a packed weight.
  static StorageFormat formatOfWeight(Value Weight);
  /// The element type that a matmul with `Weight` reads its input in.
  mlir::Type inputType(Value Weight, bool IsExact);
  mlir::Type stagedType(transformer::SplitStageOp Op);
  int64_t partitionsOf(transformer::OnlineAttentionOp Op);
  /// Activations in the type that a matmul with `Weight` reads.
  Value castFor(Value Old, Value Weight);
  /// `Rows` in the type of the destination `Out`.
  Value castInto(Value Rows, Value Out);
  Value matmul(mlir::Location Loc, Value Old, Value OldInput,
               mlir::ValueRange Weights, mlir::ValueRange Biases,
               Activation Act, Value Multiplier, Value Residual,
               mlir::Type Element = {});
  dnn::ScopeOp createScope(mlir::Location Loc, mlir::StringAttr Name,
                           mlir::IntegerAttr Layer);

  DnnConversion &Module;
  mlir::func::FuncOp Function;
  mlir::OpBuilder Builder;
  Value Batch;
  mlir::IRMapping Map;
  /// dnn.count of each kind, made when first needed.
  llvm::SmallDenseMap<transformer::CountKind, Value, 4> Counts;
  Value OwnScope;
};

} // namespace tenon

#endif // TENON_PASSES_PLACEMENT_DNNCONVERTER_H

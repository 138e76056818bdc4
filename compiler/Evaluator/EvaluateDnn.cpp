//===- EvaluateDnn.cpp - Ops that only the placed level has ---------------===//

#include "compiler/Evaluator/OpOverloads.h"

using namespace mlir;
using namespace tenon;

namespace tenon {

//===----------------------------------------------------------------------===//
// Counts, weights and tables
//===----------------------------------------------------------------------===//

static Status evaluateOp(dnn::CountOp Op, Frame &F) {
  F.bind(Op, F.batch().count(Op.getKind()));
  return {};
}

/// The reference lets every step run variants for few.
static Status evaluateOp(dnn::FewTokensOp Op, Frame &F) {
  auto Few = Op->getParentOfType<ModuleOp>()->getAttrOfType<IntegerAttr>(
      transformer::attr::FewTokens);
  F.bind(Op, Few ? Few.getInt() : 0);
  return {};
}

/// The shape of the parameters that `Weight` is packed of.
static SmallVector<int64_t> parameterShapeOf(dnn::WeightOp Weight) {
  dnn::PackedType Type = Weight.getType();
  SmallVector<int64_t> Shape = {Type.getOutFeatures()};
  // Of several, one below another, only the sum of rows is known.
  if (Weight.getKeys().size() > 1)
    Shape = {ShapedType::kDynamic};
  // The matrices of experts are a stack, and of one expert too.
  bool IsStack = Type.getLayout() == LayoutKind::Panels &&
                 cast<StringAttr>(Weight.getKeys()[0]).getValue().contains('*');
  if (Type.getCount() > 1 || IsStack)
    Shape.insert(Shape.begin(), Type.getCount());
  if (!Type.isVector())
    Shape.push_back(Type.getInFeatures());
  return Shape;
}

static Status evaluateOp(dnn::WeightOp Op, Frame &F) {
  dnn::PackedType Type = Op.getType();
  SmallVector<int64_t> Shape = parameterShapeOf(Op);
  int64_t Rows = Type.getCount() * Type.getOutFeatures();
  // Vectors are rows here.
  Tensor2D Packed = Type.isVector() ? Tensor2D(1, Rows)
                                    : Tensor2D(Rows, Type.getInFeatures());
  size_t Expected = Packed.Data.size();
  Packed.Data.clear();
  for (auto Key : Op.getKeys().getAsRange<StringAttr>()) {
    auto Values =
        F.parameter(F.scope(Op.getScope()), Key, Shape, Type.getFormat());
    if (!Values)
      return Values.error();
    llvm::append_range(Packed.Data, *Values);
  }
  if (Packed.Data.size() != Expected)
    return Error("parameters have " + std::to_string(Packed.Data.size()) +
                 " elements: expected " + std::to_string(Expected));
  roundToType(Type, Packed);
  F.bind(Op, std::move(Packed));
  return {};
}

static Status evaluateOp(dnn::TableOp Op, Frame &F) {
  dnn::PackedType Type = Op.getType();
  Tensor2D Table(Type.getOutFeatures(), Type.getInFeatures());
  tr::TableAttrInterface Content = Op.getContent();
  std::vector<float> Learned;
  if (std::optional<int64_t> Rows = Content.getLearnedRows()) {
    if (!Op.getKey())
      return Error("key: expected that of the parameter that the table is made "
                   "of");
    auto Values =
        F.parameter(F.scope(Op.getScope()), *Op.getKey(), {*Rows, Table.Rows});
    if (!Values)
      return Values.error();
    Learned = std::move(*Values);
  }
  for (int64_t Row = 0; Row < Table.Rows; ++Row)
    Content.fillRow(Row, Table.Rows, Learned,
                    {Table.row(Row), static_cast<size_t>(Table.Columns)});
  F.bind(Op, std::move(Table));
  return {};
}

//===----------------------------------------------------------------------===//
// Matmuls and attention
//===----------------------------------------------------------------------===//

static Status evaluateOp(dnn::CastOp Op, Frame &F) {
  return F.set(Op, F.tensor(Op.getInput()));
}

static Status evaluateOp(dnn::MatmulOp Op, Frame &F) {
  std::vector<const Tensor2D *> Biases;
  if (Op.getBias())
    Biases.push_back(&F.tensor(Op.getBias()));
  return F.set(Op, evaluate::matmul(F.tensor(Op.getInput()),
                                    spanOf({&F.tensor(Op.getWeight())}),
                                    spanOf(Biases), Op.getActivation(),
                                    F.optional(Op.getMultiplier()),
                                    F.optional(Op.getResidual())));
}

static Status evaluateOp(dnn::AttentionOp Op, Frame &F) {
  evaluate::AttentionShape Shape = attentionShapeOf(Op, F);
  if (Op.getStaged())
    Shape.StagedAs = dnn::stagedFormat(Op.getStaged());
  Shape.RoundsWeights = getElementTypeOrSelf(Op.getQuery()).isBF16();
  if (tr::TableAttrInterface Content = Op.getContentAttr()) {
    Shape.Alibi = dyn_cast<tr::AlibiAttr>(Content);
    Shape.Buckets = dyn_cast<tr::BucketsAttr>(Content);
    Shape.Table = F.optional(Op.getBias());
    if ((!Shape.Alibi && !Shape.Buckets) || !Shape.Table)
      return Error("content: expected a table of slopes or of biases by "
                   "distance");
  }
  return evaluateOnline(Op, Shape, F);
}

//===----------------------------------------------------------------------===//
// Mixtures of experts
//===----------------------------------------------------------------------===//

static Status evaluateOp(dnn::MoeRouteOp Op, Frame &F) {
  auto Routes = evaluate::moeRoute(
      F.tensor(Op.getLogits()), F.optional(Op.getCorrection()), Op.getRouter());
  if (Status S = F.set(Op, 0, std::move(Routes.Choices)); !S)
    return S;
  return F.set(Op, 1, std::move(Routes.Weights));
}

static Status evaluateOp(dnn::MoeGroupOp Op, Frame &F) {
  auto Groups =
      evaluate::moeGroup(F.tensor(Op.getChoices()), resultWidth(Op, 1) - 1);
  if (!Groups)
    return Groups.error();
  if (Status S = F.set(Op, 0, std::move(Groups->Order)); !S)
    return S;
  return F.set(Op, 1, std::move(Groups->Offsets));
}

template <typename OpTy>
static evaluate::MoeGroups groupsOf(OpTy Op, const Frame &F) {
  return {F.tensor(Op.getOrder()), F.tensor(Op.getOffsets())};
}

static Status evaluateOp(dnn::MoeGateUpOp Op, Frame &F) {
  return F.set(Op,
               evaluate::moeGateUp(Op.getActivation(), F.tensor(Op.getInput()),
                                   groupsOf(Op, F), expertsOf(Op, F)));
}

static Status evaluateOp(dnn::MoeDownOp Op, Frame &F) {
  return F.set(Op, evaluate::moeDown(F.tensor(Op.getInput()), groupsOf(Op, F),
                                     expertsOf(Op, F)));
}

static Status evaluateOp(dnn::MoeCombineOp Op, Frame &F) {
  return F.set(Op, evaluate::moeCombine(F.tensor(Op.getInput()),
                                        F.tensor(Op.getWeights())));
}

//===----------------------------------------------------------------------===//
// What exists on buffers only
//===----------------------------------------------------------------------===//

template <OneOf<dnn::BufferOp, dnn::ScratchOp, dnn::OutputOp, dnn::FeaturesOp,
                dnn::FieldOp, dnn::PageTableOp, dnn::PageOp, dnn::LatentPageOp,
                dnn::StagedPageOp, dnn::WeightViewOp, dnn::RowBytesOp,
                dnn::LookupOp, dnn::DotOp, dnn::CallMatmulOp, dnn::ParallelOp,
                dnn::BarrierOp, dnn::ClaimOp, dnn::KernelOp, dnn::LaunchOp>
              OpTy>
static Status evaluateOp(OpTy, Frame &) {
  return Error("operation on buffers: expected one on tensors");
}

} // namespace tenon

//===----------------------------------------------------------------------===//
// All operations of the dialect
//===----------------------------------------------------------------------===//

Status tenon::evaluateDnn(Operation *Op, Frame &F) {
  return evaluateAs<
#define GET_OP_LIST
#include "dialects/Dnn/DnnOps.cpp.inc"
      >(Op, [&](auto Typed) { return evaluateOp(Typed, F); });
}

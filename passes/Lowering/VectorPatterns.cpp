//===- VectorPatterns.cpp - Vector operations of our own ------------------===//

#include "passes/Lowering/Abi.h"

using namespace mlir;
using namespace tenon;

namespace {

/// An instruction that picks from a register, given what is picked from and
/// then indices, both integers of `Bits`. It reads four bits or more of an
/// index: the register repeats the table.
struct LookupInstruction {
  unsigned Bits;
  int64_t VectorBits;
  StringRef Name;
  /// Whether the bits above the lowest four must be zero.
  bool NeedsMask;
};

constexpr LookupInstruction LookupInstructions[] = {
    {8, 512, "llvm.x86.avx512.pshuf.b.512", true},
    {8, 256, "llvm.x86.avx2.pshuf.b", true},
    {16, 512, "llvm.x86.avx512.permvar.hi.512", false},
    {32, 512, "llvm.x86.avx512.permvar.si.512", false},
};

struct LookupPattern : public ConvertOpToLLVMPattern<dnn::LookupOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(dnn::LookupOp Op, OpAdaptor Operands,
                                ConversionPatternRewriter &B) const override {
    Location Loc = Op.getLoc();
    auto Target =
        Op->getParentOfType<ModuleOp>()->getAttrOfType<dnn::TargetAttr>(
            dnn::attr::Target);
    int64_t VectorBits = Target ? Target.getVectorBits() : 0;
    VectorType Type = Op.getCodes().getType();
    auto Element = cast<IntegerType>(Type.getElementType());
    int64_t Count = Type.getDimSize(0);
    auto Integers = [&](int64_t Size) {
      return VectorType::get({Size}, Element);
    };
    auto Splat = [&](int64_t Size, int64_t Number) -> Value {
      return LLVM::ConstantOp::create(
          B, Loc, Integers(Size),
          DenseElementsAttr::get(Integers(Size),
                                 B.getIntegerAttr(Element, Number)));
    };
    Value Table =
        LLVM::BitcastOp::create(B, Loc, Integers(16), Operands.getTable());
    Value Codes = Operands.getCodes();
    const auto *Found =
        llvm::find_if(LookupInstructions, [&](const LookupInstruction &I) {
          return I.Bits == Element.getWidth() && I.VectorBits <= VectorBits &&
                 Count % (I.VectorBits / I.Bits) == 0;
        });
    bool IsOne = Found != std::end(LookupInstructions);
    if (!IsOne || Found->NeedsMask)
      Codes = LLVM::AndOp::create(B, Loc, Codes, Splat(Count, 15));
    Value Result = IsOne ? pick(B, Loc, *Found, Table, Codes)
                         : pickOneByOne(B, Loc, Table, Codes);
    B.replaceOpWithNewOp<LLVM::BitcastOp>(Op, Op.getType(), Result);
    return success();
  }

private:
  static Value shuffled(OpBuilder &B, Location Loc, Value Vector, int64_t Count,
                        llvm::function_ref<int64_t(int64_t)> From) {
    SmallVector<int32_t> Mask;
    for (int64_t I = 0; I < Count; ++I)
      Mask.push_back(static_cast<int32_t>(From(I)));
    return LLVM::ShuffleVectorOp::create(B, Loc, Vector, Vector, Mask);
  }

  /// With one instruction for each register of codes.
  static Value pick(OpBuilder &B, Location Loc, const LookupInstruction &With,
                    Value Table, Value Codes) {
    auto Type = cast<VectorType>(Codes.getType());
    int64_t Count = Type.getDimSize(0), Size = With.VectorBits / With.Bits;
    auto Part = VectorType::get({Size}, Type.getElementType());
    Value Repeated =
        shuffled(B, Loc, Table, Size, [](int64_t I) { return I % 16; });
    Value Result;
    for (int64_t First = 0; First < Count; First += Size) {
      Value Indices =
          Size == Count ? Codes : shuffled(B, Loc, Codes, Size, [&](int64_t I) {
            return First + I;
          });
      Value Picked = LLVM::CallIntrinsicOp::create(
                         B, Loc, Part, B.getStringAttr(With.Name),
                         ValueRange{Repeated, Indices})
                         .getResults();
      if (!Result) {
        Result = Picked;
        continue;
      }
      // Both as long as they are together.
      Value Wide = shuffled(B, Loc, Picked, First,
                            [&](int64_t I) { return std::min(I, Size - 1); });
      SmallVector<int32_t> Mask;
      for (int64_t I = 0; I < First + Size; ++I)
        Mask.push_back(static_cast<int32_t>(I));
      Result = LLVM::ShuffleVectorOp::create(B, Loc, Result, Wide, Mask);
    }
    return Result;
  }

  static Value pickOneByOne(OpBuilder &B, Location Loc, Value Table,
                            Value Codes) {
    auto Type = cast<VectorType>(Codes.getType());
    Value Result = LLVM::PoisonOp::create(B, Loc, Type);
    for (int64_t I = 0; I < Type.getDimSize(0); ++I) {
      Value At = LLVM::ConstantOp::create(B, Loc, B.getI64Type(),
                                          B.getI64IntegerAttr(I));
      Value Code = LLVM::ExtractElementOp::create(B, Loc, Codes, At);
      Value Number = LLVM::ExtractElementOp::create(B, Loc, Table, Code);
      Result = LLVM::InsertElementOp::create(B, Loc, Result, Number, At);
    }
    return Result;
  }
};

} // namespace

void tenon::populateVectorPatterns(LLVMTypeConverter &Converter,
                                   RewritePatternSet &Patterns) {
  Patterns.add<LookupPattern>(Converter);
}

//===- VectorPatterns.cpp - Vector operations of our own ------------------===//

#include "passes/Lowering/Abi.h"

#include <numeric>

using namespace mlir;
using namespace tenon;

/// What `Op` is compiled for; null where the module does not say.
static dnn::TargetAttr targetAround(Operation *Op) {
  return Op->getParentOfType<ModuleOp>()->getAttrOfType<dnn::TargetAttr>(
      dnn::attr::Target);
}

/// `Count` elements of `Vector`, each the one that `From` says.
static Value shuffled(OpBuilder &B, Location Loc, Value Vector, int64_t Count,
                      llvm::function_ref<int64_t(int64_t)> From) {
  SmallVector<int32_t> Mask;
  for (int64_t I = 0; I < Count; ++I)
    Mask.push_back(static_cast<int32_t>(From(I)));
  return LLVM::ShuffleVectorOp::create(B, Loc, Vector, Vector, Mask);
}

/// `Size` elements of `Vector` from `First` on.
static Value slice(OpBuilder &B, Location Loc, Value Vector, int64_t First,
                   int64_t Size) {
  if (cast<VectorType>(Vector.getType()).getDimSize(0) == Size)
    return Vector;
  return shuffled(B, Loc, Vector, Size, [&](int64_t I) { return First + I; });
}

/// Vectors of one length as one.
static Value joined(OpBuilder &B, Location Loc, ArrayRef<Value> Parts) {
  int64_t Size = cast<VectorType>(Parts[0].getType()).getDimSize(0);
  Value All = Parts[0];
  int64_t Length = Size;
  for (Value Part : Parts.drop_front()) {
    // A shuffle takes two vectors of one length.
    Value Wide = Part;
    if (Length != Size)
      Wide = shuffled(B, Loc, Part, Length,
                      [&](int64_t I) { return std::min(I, Size - 1); });
    SmallVector<int32_t> Mask(Length + Size);
    std::iota(Mask.begin(), Mask.end(), 0);
    All = LLVM::ShuffleVectorOp::create(B, Loc, All, Wide, Mask);
    Length += Size;
  }
  return All;
}

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
    dnn::TargetAttr Target = targetAround(Op);
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
  /// With one instruction for each register of codes.
  static Value pick(OpBuilder &B, Location Loc, const LookupInstruction &With,
                    Value Table, Value Codes) {
    auto Type = cast<VectorType>(Codes.getType());
    int64_t Count = Type.getDimSize(0), Size = With.VectorBits / With.Bits;
    auto Part = VectorType::get({Size}, Type.getElementType());
    Value Repeated =
        shuffled(B, Loc, Table, Size, [](int64_t I) { return I % 16; });
    SmallVector<Value> Parts;
    for (int64_t First = 0; First < Count; First += Size)
      Parts.push_back(
          LLVM::CallIntrinsicOp::create(
              B, Loc, Part, B.getStringAttr(With.Name),
              ValueRange{Repeated, slice(B, Loc, Codes, First, Size)})
              .getResults());
    return joined(B, Loc, Parts);
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

/// An instruction of a dot product, given a register of codes and one of
/// digits.
struct DotInstruction {
  DotProduct Dot;
  unsigned SumBits;
  unsigned CodeBits;
  int64_t VectorBits;
  StringRef Name;
  /// Whether it adds to sums, its first operand, or only multiplies.
  bool Adds;
};

constexpr DotInstruction DotInstructions[] = {
    {DotProduct::Int8, 32, 8, 512, "llvm.x86.avx512.vpdpbusd.512", true},
    {DotProduct::Int8, 32, 8, 256, "llvm.x86.avx512.vpdpbusd.256", true},
    {DotProduct::Int16, 32, 16, 512, "llvm.x86.avx512.pmaddw.d.512", false},
    {DotProduct::Int16, 32, 16, 256, "llvm.x86.avx2.pmadd.wd", false},
    {DotProduct::Int16, 16, 8, 512, "llvm.x86.avx512.pmaddubs.w.512", false},
    {DotProduct::Int16, 16, 8, 256, "llvm.x86.avx2.pmadd.ub.sw", false},
};

/// Dot products by the level's instruction; without one, products in the type
/// of the sums.
struct DotPattern : public ConvertOpToLLVMPattern<dnn::DotOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(dnn::DotOp Op, OpAdaptor Operands,
                                ConversionPatternRewriter &B) const override {
    Location Loc = Op.getLoc();
    dnn::TargetAttr Target = targetAround(Op);
    int64_t Count = Op.getSums().getType().getDimSize(0);
    Value Sums = Operands.getSums(), Codes = Operands.getCodes(),
          Digits = Operands.getDigits();
    unsigned SumBits = Op.getSums().getType().getElementTypeBitWidth();
    unsigned CodeBits = Op.getCodes().getType().getElementTypeBitWidth();
    const auto *Found =
        llvm::find_if(DotInstructions, [&](const DotInstruction &I) {
          return Target && Target.hasDot(I.Dot) && I.SumBits == SumBits &&
                 I.CodeBits == CodeBits &&
                 I.VectorBits == Target.getVectorBits() &&
                 Count % (I.VectorBits / SumBits) == 0;
        });
    if (Found == std::end(DotInstructions)) {
      B.replaceOp(Op, oneByOne(B, Loc, Sums, Codes, Digits, CodeBits == 8));
      return success();
    }
    int64_t Size = Found->VectorBits / SumBits, Each = SumBits / CodeBits;
    auto Type =
        VectorType::get({Size}, Op.getSums().getType().getElementType());
    SmallVector<Value> Parts;
    for (int64_t First = 0; First < Count; First += Size) {
      Value Sum = slice(B, Loc, Sums, First, Size);
      SmallVector<Value> Operands = {
          slice(B, Loc, Codes, Each * First, Each * Size),
          slice(B, Loc, Digits, Each * First, Each * Size)};
      if (Found->Adds)
        Operands.insert(Operands.begin(), Sum);
      Value Result = LLVM::CallIntrinsicOp::create(
                         B, Loc, Type, B.getStringAttr(Found->Name), Operands)
                         .getResults();
      if (!Found->Adds)
        Result = LLVM::AddOp::create(B, Loc, Sum, Result);
      Parts.push_back(Result);
    }
    B.replaceOp(Op, joined(B, Loc, Parts));
    return success();
  }

private:
  static Value oneByOne(OpBuilder &B, Location Loc, Value Sums, Value Codes,
                        Value Digits, bool IsOfBytes) {
    auto Words = cast<VectorType>(Sums.getType());
    int64_t Count = Words.getDimSize(0);
    int64_t Neighbours =
        cast<VectorType>(Codes.getType()).getDimSize(0) / Count;
    for (int64_t Number = 0; Number < Neighbours; ++Number) {
      auto Each = [&](Value Factors) {
        return shuffled(B, Loc, Factors, Count,
                        [&](int64_t I) { return Number + Neighbours * I; });
      };
      Value Code = Each(Codes);
      Code = IsOfBytes ? Value(LLVM::ZExtOp::create(B, Loc, Words, Code))
                       : Value(LLVM::SExtOp::create(B, Loc, Words, Code));
      Value Digit = LLVM::SExtOp::create(B, Loc, Words, Each(Digits));
      Sums = LLVM::AddOp::create(B, Loc, Sums,
                                 LLVM::MulOp::create(B, Loc, Code, Digit));
    }
    return Sums;
  }
};

} // namespace

void tenon::populateVectorPatterns(LLVMTypeConverter &Converter,
                                   RewritePatternSet &Patterns) {
  Patterns.add<LookupPattern, DotPattern>(Converter);
}

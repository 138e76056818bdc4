//===- KernelBuilder.cpp - Vocabulary of the kernel emitters --------------===//

#include "passes/Codegen/KernelBuilder.h"

#include "mlir/Dialect/X86Vector/X86VectorDialect.h"

using namespace mlir;
using namespace tenon;

KernelBuilder::KernelBuilder(OpBuilder &Builder, Location Loc,
                             dnn::ParallelOp Parallel, Value Batch,
                             dnn::TargetAttr Target, bool IsDecodeSized)
    : ImplicitLocOpBuilder(Loc, Builder), Target(Target),
      IsDecodeSized(IsDecodeSized), Thread(Parallel.getThread()),
      Threads(Parallel.getThreads()), Batch(Batch), Parallel(Parallel),
      Unused(Parallel.getBody().front().getOps<memref::AllocaOp>()) {}

//===----------------------------------------------------------------------===//
// Constants and indices
//===----------------------------------------------------------------------===//

Value KernelBuilder::index(int64_t Number) {
  return arith::ConstantIndexOp::create(*this, Number);
}
Value KernelBuilder::i32(int32_t Number) {
  return arith::ConstantIntOp::create(*this, getI32Type(), Number);
}
Value KernelBuilder::f32(float Number) {
  return arith::ConstantOp::create(*this, getF32FloatAttr(Number));
}
Value KernelBuilder::vecConst(float Number) {
  return arith::ConstantOp::create(*this,
                                   DenseElementsAttr::get(vecType(), Number));
}
Value KernelBuilder::add(Value A, Value B) {
  if (matchPattern(B, m_Zero()))
    return A;
  return arith::AddIOp::create(*this, A, B);
}
Value KernelBuilder::add(Value A, int64_t B) {
  return B == 0 ? A : add(A, index(B));
}
Value KernelBuilder::sub(Value A, Value B) {
  return arith::SubIOp::create(*this, A, B);
}
Value KernelBuilder::mul(Value A, Value B) {
  return arith::MulIOp::create(*this, A, B);
}
Value KernelBuilder::mul(Value A, int64_t B) {
  return B == 1 ? A : mul(A, index(B));
}
Value KernelBuilder::div(Value A, int64_t B) {
  return B == 1 ? A : arith::DivUIOp::create(*this, A, index(B));
}
Value KernelBuilder::rem(Value A, int64_t B) {
  return B == 1 ? index(0) : arith::RemUIOp::create(*this, A, index(B));
}
Value KernelBuilder::ceilDiv(Value A, int64_t B) {
  return div(add(A, B - 1), B);
}
Value KernelBuilder::min(Value A, Value B) {
  return arith::MinSIOp::create(*this, A, B);
}
Value KernelBuilder::max(Value A, Value B) {
  return arith::MaxSIOp::create(*this, A, B);
}
Value KernelBuilder::loadIndex(Value Array, ValueRange At) {
  Value Loaded = memref::LoadOp::create(*this, Array, At);
  return arith::IndexCastOp::create(*this, getIndexType(), Loaded);
}
void KernelBuilder::storeIndex(Value Number, Value Array, ValueRange At) {
  Value Word = arith::IndexCastOp::create(*this, getI32Type(), Number);
  memref::StoreOp::create(*this, Word, Array, At);
}
Value KernelBuilder::toFloat(Value Number) {
  Value Word = arith::IndexCastOp::create(*this, getI32Type(), Number);
  return arith::SIToFPOp::create(*this, getF32Type(), Word);
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

void KernelBuilder::loop(Value From, Value To, int64_t Step,
                         llvm::function_ref<void(Value)> Body) {
  auto For = scf::ForOp::create(*this, From, To, index(Step));
  OpBuilder::InsertionGuard Guard(*this);
  setInsertionPointToStart(For.getBody());
  Body(For.getInductionVar());
}

SmallVector<Value> KernelBuilder::loop(
    Value From, Value To, int64_t Step, ValueRange Inits,
    llvm::function_ref<SmallVector<Value>(Value, ValueRange)> Body) {
  auto For = scf::ForOp::create(*this, From, To, index(Step), Inits);
  OpBuilder::InsertionGuard Guard(*this);
  setInsertionPointToStart(For.getBody());
  SmallVector<Value> Next =
      Body(For.getInductionVar(), For.getRegionIterArgs());
  // Of nothing the builder of the loop has made one.
  if (!Next.empty())
    scf::YieldOp::create(*this, Next);
  return For.getResults();
}

void KernelBuilder::share(Value Count, llvm::function_ref<void(Value)> Body) {
  auto Bound = [&](Value Number) -> Value {
    return arith::DivUIOp::create(*this, mul(Count, Number), Threads);
  };
  Value From = Bound(Thread);
  loop(From, Bound(add(Thread, 1)), 1, Body);
}

void KernelBuilder::claim(Value Count, Value Grain,
                          llvm::function_ref<void(Value, Value)> Body) {
  Type Index = getIndexType();
  scf::WhileOp::create(
      *this, TypeRange{Index, Index}, ValueRange(),
      [&](OpBuilder &Builder, Location Loc, ValueRange) {
        auto Claim = dnn::ClaimOp::create(Builder, Loc, Grain, Count, Thread,
                                          Threads, Batch);
        Value None = arith::ConstantIndexOp::create(Builder, Loc, 0);
        Value Any = arith::CmpIOp::create(
            Builder, Loc, arith::CmpIPredicate::ne, Claim.getCount(), None);
        scf::ConditionOp::create(Builder, Loc, Any, Claim.getResults());
      },
      [&](OpBuilder &Builder, Location Loc, ValueRange Items) {
        InsertionGuard Guard(*this);
        setInsertionPointToEnd(Items[0].getParentBlock());
        Body(Items[0], Items[1]);
        scf::YieldOp::create(*this);
      });
}

void KernelBuilder::deal(Value Count, llvm::function_ref<void(Value)> Body) {
  dealFrom(Thread, Count, Body);
}

void KernelBuilder::deal(Value Count, Value Before,
                         llvm::function_ref<void(Value)> Body) {
  auto Turn = [&](Value Number) -> Value {
    return arith::RemUIOp::create(*this, Number, Threads);
  };
  dealFrom(Turn(add(Thread, sub(Threads, Turn(Before)))), Count, Body);
}

void KernelBuilder::dealFrom(Value First, Value Count,
                             llvm::function_ref<void(Value)> Body) {
  auto For = scf::ForOp::create(*this, First, Count, Threads);
  OpBuilder::InsertionGuard Guard(*this);
  setInsertionPointToStart(For.getBody());
  Body(For.getInductionVar());
}

void KernelBuilder::ifThen(Value Condition, llvm::function_ref<void()> Body) {
  auto If = scf::IfOp::create(*this, Condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard Guard(*this);
  setInsertionPointToStart(If.thenBlock());
  Body();
}

void KernelBuilder::ifThenElse(Value Condition, llvm::function_ref<void()> Then,
                               llvm::function_ref<void()> Else) {
  auto If = scf::IfOp::create(*this, Condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard Guard(*this);
  setInsertionPointToStart(&If.getThenRegion().front());
  Then();
  setInsertionPointToStart(&If.getElseRegion().front());
  Else();
}

void KernelBuilder::once(llvm::function_ref<void()> Body) {
  ifThen(isEqual(Thread, index(0)), Body);
}

Value KernelBuilder::isLess(Value A, Value B) {
  return arith::CmpIOp::create(*this, arith::CmpIPredicate::slt, A, B);
}
Value KernelBuilder::isEqual(Value A, Value B) {
  return arith::CmpIOp::create(*this, arith::CmpIPredicate::eq, A, B);
}

void KernelBuilder::caseOf(Value Number, int64_t Max,
                           llvm::function_ref<void(int64_t)> Body) {
  auto Cases = llvm::to_vector(llvm::seq_inclusive<int64_t>(1, Max));
  auto Switch = scf::IndexSwitchOp::create(*this, TypeRange(), Number, Cases,
                                           static_cast<unsigned>(Max));
  OpBuilder::InsertionGuard Guard(*this);
  for (auto [Case, Region] : llvm::zip(Cases, Switch.getCaseRegions())) {
    createBlock(&Region);
    Body(Case);
    scf::YieldOp::create(*this);
  }
  createBlock(&Switch.getDefaultRegion());
  scf::YieldOp::create(*this);
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

VectorType KernelBuilder::vecType(Type Element, int64_t Count) {
  return VectorType::get({Count}, Element ? Element : getF32Type());
}

Value KernelBuilder::splat(Value Scalar) {
  return vector::BroadcastOp::create(*this, vecType(Scalar.getType()), Scalar);
}

Value KernelBuilder::splatWord(int32_t Number) {
  return arith::ConstantOp::create(
      *this, DenseElementsAttr::get(vecType(getI32Type()), Number));
}

static Type elementOf(Value Buffer) {
  return cast<MemRefType>(Buffer.getType()).getElementType();
}

Value KernelBuilder::widen(Value Vector) {
  if (cast<VectorType>(Vector.getType()).getElementType().isF32())
    return Vector;
  return arith::ExtFOp::create(*this, vecType(), Vector);
}

Value KernelBuilder::narrow(Value Vector, Type Element) {
  if (Element.isF32())
    return Vector;
  if (Target.hasDot(DotProduct::BF16))
    return arith::TruncFOp::create(*this, vecType(Element), Vector);
  // Round to nearest even on the bits; a NaN stays one.
  auto IntType = vecType(getI32Type());
  auto Splat = [&](int32_t Number) -> Value {
    return arith::ConstantOp::create(*this,
                                     DenseElementsAttr::get(IntType, Number));
  };
  Value Bits = arith::BitcastOp::create(*this, IntType, Vector);
  Value Sixteen = Splat(16);
  Value Odd = arith::AndIOp::create(
      *this, arith::ShRUIOp::create(*this, Bits, Sixteen), Splat(1));
  Value Rounded = arith::AddIOp::create(
      *this, Bits, arith::AddIOp::create(*this, Odd, Splat(0x7fff)));
  Value IsNan =
      arith::CmpFOp::create(*this, arith::CmpFPredicate::UNO, Vector, Vector);
  Value Chosen =
      arith::SelectOp::create(*this, IsNan, Splat(0x7fc00000), Rounded);
  Value High =
      arith::TruncIOp::create(*this, vecType(getI16Type()),
                              arith::ShRUIOp::create(*this, Chosen, Sixteen));
  return arith::BitcastOp::create(*this, vecType(Element), High);
}

Value KernelBuilder::load(Value Buffer, ValueRange At, int64_t Valid) {
  Type Element = elementOf(Buffer);
  if (Valid == Lanes)
    return widen(vector::LoadOp::create(*this, vecType(Element), Buffer, At));
  return load(Buffer, At, maskOf(index(Valid)));
}

Value KernelBuilder::load(Value Buffer, ValueRange At, Value Mask) {
  Type Element = elementOf(Buffer);
  Value Zero = arith::ConstantOp::create(*this, getZeroAttr(vecType(Element)));
  return widen(vector::MaskedLoadOp::create(*this, vecType(Element), Buffer, At,
                                            Mask, Zero));
}

Value KernelBuilder::loadScalar(Value Buffer, ValueRange At) {
  Value Loaded = memref::LoadOp::create(*this, Buffer, At);
  if (Loaded.getType().isF32())
    return Loaded;
  return arith::ExtFOp::create(*this, getF32Type(), Loaded);
}

void KernelBuilder::store(Value Vector, Value Buffer, ValueRange At,
                          int64_t Valid) {
  if (Valid != Lanes)
    return store(Vector, Buffer, At, maskOf(index(Valid)));
  vector::StoreOp::create(*this, narrow(Vector, elementOf(Buffer)), Buffer, At);
}

void KernelBuilder::store(Value Vector, Value Buffer, ValueRange At,
                          Value Mask) {
  vector::MaskedStoreOp::create(*this, Buffer, At, Mask,
                                narrow(Vector, elementOf(Buffer)));
}

void KernelBuilder::storePair(Value Even, Value Odd, Value Buffer,
                              ValueRange At) {
  auto Words = vecType(getI32Type());
  auto Halves = vecType(getI16Type(), 2 * Lanes);
  auto Splat = [&](int32_t Number) -> Value {
    return arith::ConstantOp::create(*this,
                                     DenseElementsAttr::get(Words, Number));
  };
  auto Rounded = [&](Value Vector) -> Value {
    Value Bits = arith::BitcastOp::create(*this, Words, Vector);
    return arith::AddIOp::create(*this, Bits, Splat(0x8000));
  };
  auto AsHalves = [&](Value Vector) -> Value {
    return vector::BitCastOp::create(*this, Halves, Vector);
  };
  Value Low = AsHalves(arith::ShRUIOp::create(*this, Rounded(Even), Splat(16)));
  Value High = AsHalves(Rounded(Odd));
  // A blend: LLVM joins a shuffle with the shift to one of three operations.
  SmallVector<bool> IsLow;
  for (int64_t I = 0; I < 2 * Lanes; ++I)
    IsLow.push_back(I % 2 == 0);
  Value Pairs = arith::SelectOp::create(
      *this,
      arith::ConstantOp::create(
          *this, DenseElementsAttr::get(
                     cast<ShapedType>(vecType(getI1Type(), 2 * Lanes)), IsLow)),
      Low, High);
  auto Type = vecType(getBF16Type(), 2 * Lanes);
  vector::StoreOp::create(*this, vector::BitCastOp::create(*this, Type, Pairs),
                          Buffer, At);
}

void KernelBuilder::storeScalar(Value Scalar, Value Buffer, ValueRange At) {
  Type Element = elementOf(Buffer);
  if (!Element.isF32()) {
    Value Narrow = narrow(splat(Scalar), Element);
    Scalar = vector::ExtractOp::create(*this, Narrow, 0);
  }
  memref::StoreOp::create(*this, Scalar, Buffer, At);
}

Value KernelBuilder::countFrom(Value First) {
  auto Iota = llvm::to_vector(llvm::seq<int32_t>(0, Lanes));
  Value Steps = arith::ConstantOp::create(
      *this,
      DenseElementsAttr::get(vecType(getI32Type()), ArrayRef<int32_t>(Iota)));
  return arith::AddIOp::create(*this, splatIndex(First), Steps);
}

Value KernelBuilder::loadWord(Value Buffer, ValueRange At) {
  Value Bytes =
      vector::LoadOp::create(*this, vecType(getI8Type(), 4), Buffer, At);
  return vector::ExtractOp::create(
      *this, vector::BitCastOp::create(*this, vecType(getI32Type(), 1), Bytes),
      0);
}

void KernelBuilder::prefetch(Value Buffer, ValueRange At, unsigned Locality) {
  memref::PrefetchOp::create(*this, Buffer, At, /*isWrite=*/false, Locality,
                             /*isDataCache=*/true);
}

Value KernelBuilder::splatIndex(Value Index) {
  return splat(arith::IndexCastOp::create(*this, getI32Type(), Index));
}

Value KernelBuilder::toFloats(Value Words) {
  return arith::SIToFPOp::create(*this, vecType(), Words);
}

Value KernelBuilder::roundToBF16(Value Vector) {
  return widen(narrow(Vector, getBF16Type()));
}

Value KernelBuilder::maskOf(Value Count) {
  return vector::CreateMaskOp::create(*this, vecType(getI1Type()), Count);
}

Value KernelBuilder::fma(Value A, Value B, Value C) {
  return math::FmaOp::create(*this, A, B, C);
}
Value KernelBuilder::addf(Value A, Value B) {
  return arith::AddFOp::create(*this, A, B);
}
Value KernelBuilder::subf(Value A, Value B) {
  return arith::SubFOp::create(*this, A, B);
}
Value KernelBuilder::mulf(Value A, Value B) {
  return arith::MulFOp::create(*this, A, B);
}
Value KernelBuilder::divf(Value A, Value B) {
  return arith::DivFOp::create(*this, A, B);
}
Value KernelBuilder::maxf(Value A, Value B) {
  return arith::MaxNumFOp::create(*this, A, B);
}
Value KernelBuilder::minf(Value A, Value B) {
  return arith::MinNumFOp::create(*this, A, B);
}
Value KernelBuilder::splatPair(Value Pair) {
  Value Word = vector::ExtractOp::create(
      *this, vector::BitCastOp::create(*this, vecType(getI32Type(), 1), Pair),
      0);
  return vector::BitCastOp::create(*this, vecType(getBF16Type(), 2 * Lanes),
                                   splat(Word));
}

Value KernelBuilder::exp2OfNonPositive(Value Vector, bool BecomesBF16) {
  auto Words = vecType(getI32Type());
  // 2^x = 2^n 2^f with n the nearest integer. The error of x grows with it, and
  // the result falls faster.
  // One instruction of AVX-512 scales by powers of 2, whatever they are.
  bool HasScale = Target.getLanes() == Lanes;
  Value X = Vector;
  if (!HasScale) {
    // A comparison that lets a NaN through.
    Value Lowest = vecConst(-125.875f);
    Value IsBelow =
        arith::CmpFOp::create(*this, arith::CmpFPredicate::OLT, Vector, Lowest);
    X = arith::SelectOp::create(*this, IsBelow, Lowest, Vector);
  }
  Value N = math::RoundEvenOp::create(*this, X);
  Value F = subf(X, N);
  // Of the polynomials of degree 5 and 3 with p(0) = 1, those of the least
  // largest relative error over [-1/2, 1/2].
  constexpr float Near[] = {0.001326472731307149f, 0.009671512991189957f,
                            0.05550733581185341f,  0.24022242426872253f,
                            0.6931470036506653f,   1.0f};
  constexpr float Rough[] = {0.055008931854115f, 0.24221095944159776f,
                             0.6932829269434042f, 1.0f};
  ArrayRef<float> Coefficients = BecomesBF16 ? ArrayRef(Rough) : ArrayRef(Near);
  Value P = vecConst(Coefficients.front());
  for (float C : Coefficients.drop_front())
    P = fma(P, F, vecConst(C));
  Value Scaled;
  if (HasScale) {
    constexpr int32_t CurrentRounding = 4;
    Value All = arith::ConstantIntOp::create(*this, getIntegerType(Lanes), -1);
    // Its operands are those of the intrinsic, in its order: the number, the
    // power, and what lanes that are masked out have.
    Scaled = x86vector::MaskScaleFOp::create(*this, P, N, P, All,
                                             i32(CurrentRounding));
    // Subnormal numbers, which bf16 products take for 0.
    if (BecomesBF16)
      return Scaled;
  } else {
    Value Exponent = arith::ShLIOp::create(
        *this, arith::FPToSIOp::create(*this, Words, N),
        arith::ConstantOp::create(*this, DenseElementsAttr::get(Words, 23)));
    Scaled = arith::BitcastOp::create(
        *this, vecType(),
        arith::AddIOp::create(*this, arith::BitcastOp::create(*this, Words, P),
                              Exponent));
  }
  // What is masked out must not count at all.
  Value IsZero = arith::CmpFOp::create(*this, arith::CmpFPredicate::OLT, Vector,
                                       vecConst(-125.5f));
  return arith::SelectOp::create(*this, IsZero, vecConst(0), Scaled);
}

Value KernelBuilder::sum(Value Vector) {
  // Lanes may be added in any order, as those of a row are anyway.
  return vector::ReductionOp::create(*this, vector::CombiningKind::ADD, Vector,
                                     arith::FastMathFlags::reassoc);
}

/// Of each run of 2 * `Half` lanes the first halves of both vectors side by
/// side, and the second halves.
static std::pair<Value, Value> exchangeLanes(KernelBuilder &B, Value First,
                                             Value Second, int64_t Half) {
  SmallVector<int64_t> Low, High;
  for (int64_t Lane = 0; Lane < Lanes; ++Lane) {
    bool IsOfFirst = (Lane & Half) == 0;
    Low.push_back(IsOfFirst ? Lane : Lanes + Lane - Half);
    High.push_back(IsOfFirst ? Lane + Half : Lanes + Lane);
  }
  Value Lower = vector::ShuffleOp::create(B, First, Second, Low);
  Value Upper = vector::ShuffleOp::create(B, First, Second, High);
  return {Lower, Upper};
}

SmallVector<Value> KernelBuilder::transpose(ValueRange Rows) {
  // Eklundh's: exchanges quarters of squares of 2, 4, 8 and 16.
  SmallVector<Value> Now(Rows);
  for (int64_t Half = 1; Half < Lanes; Half *= 2) {
    for (int64_t I = 0; I < Lanes; ++I) {
      if ((I & Half) != 0)
        continue;
      std::tie(Now[I], Now[I + Half]) =
          exchangeLanes(*this, Now[I], Now[I + Half], Half);
    }
  }
  return Now;
}

Value KernelBuilder::largest(Value Vector) {
  return vector::ReductionOp::create(*this, vector::CombiningKind::MAXNUMF,
                                     Vector, arith::FastMathFlags::nnan);
}

Value KernelBuilder::larger(Value A, Value B) {
  return arith::MaxNumFOp::create(
      *this, A, B,
      arith::FastMathFlagsAttr::get(getContext(), arith::FastMathFlags::nnan));
}

Value KernelBuilder::splatLane(Value Vector, int64_t Lane) {
  return vector::ShuffleOp::create(*this, Vector, Vector,
                                   SmallVector<int64_t>(Lanes, Lane));
}

/// Reduces each vector by halves, as a reduction of it alone does: once they
/// have half as many lanes that count, two of them are one vector.
static Value reduceEach(KernelBuilder &B, ValueRange Vectors,
                        llvm::function_ref<Value(Value, Value)> Combine) {
  SmallVector<Value> Now(Vectors);
  auto Count = static_cast<int64_t>(llvm::PowerOf2Ceil(Now.size()));
  Now.resize(static_cast<size_t>(Count), Now.front());
  for (int64_t Half = Lanes / 2; Half > 0; Half /= 2) {
    size_t Pairs = std::max<size_t>(Now.size() / 2, 1);
    for (size_t I = 0; I < Pairs; ++I) {
      Value First = Now[I], Second = Now[Now.size() == 1 ? 0 : I + Pairs];
      auto [Lower, Upper] = exchangeLanes(B, First, Second, Half);
      Now[I] = Combine(Lower, Upper);
    }
    Now.resize(Pairs);
  }
  SmallVector<int64_t> Places;
  for (int64_t Lane = 0; Lane < Lanes; ++Lane)
    Places.push_back(Lane % Count * (Lanes / Count));
  return vector::ShuffleOp::create(B, Now[0], Now[0], Places);
}

Value KernelBuilder::sumOfEach(ValueRange Vectors) {
  return reduceEach(*this, Vectors,
                    [&](Value A, Value B) { return addf(A, B); });
}

Value KernelBuilder::largestOfEach(ValueRange Vectors) {
  return reduceEach(*this, Vectors,
                    [&](Value A, Value B) { return larger(A, B); });
}

Value KernelBuilder::activate(Value Vector, Activation Act) {
  switch (Act) {
  case Activation::None:
    return Vector;
  case Activation::Relu:
    return maxf(Vector, vecConst(0));
  case Activation::Sigmoid: {
    Value Minus = subf(vecConst(0), Vector);
    return divf(vecConst(1),
                addf(vecConst(1), math::ExpOp::create(*this, Minus)));
  }
  case Activation::Silu:
    return mulf(Vector, activate(Vector, Activation::Sigmoid));
  case Activation::QuickGelu:
    return mulf(Vector,
                activate(mulf(Vector, vecConst(1.702f)), Activation::Sigmoid));
  case Activation::Tanh:
    return math::TanhOp::create(*this, Vector);
  case Activation::Gelu: {
    Value Erf = math::ErfOp::create(
        *this, mulf(Vector, vecConst(0.70710678118654752440f)));
    return mulf(mulf(Vector, vecConst(0.5f)), addf(Erf, vecConst(1)));
  }
  case Activation::GeluTanh: {
    Value Cube = mulf(mulf(Vector, Vector), Vector);
    Value Inner = mulf(fma(Cube, vecConst(0.044715f), Vector),
                       vecConst(0.79788456080286535588f));
    Value Tanh = math::TanhOp::create(*this, Inner);
    return mulf(mulf(Vector, vecConst(0.5f)), addf(Tanh, vecConst(1)));
  }
  }
  llvm_unreachable("all activations are covered");
}

void KernelBuilder::columns(int64_t Width,
                            llvm::function_ref<void(Value, int64_t)> Body) {
  int64_t Full = Width / Lanes * Lanes;
  if (Full > 0)
    loop(index(0), index(Full), Lanes, [&](Value At) { Body(At, Lanes); });
  if (Full != Width)
    Body(index(Full), Width - Full);
}

SmallVector<Value> KernelBuilder::columns(
    int64_t Width, ValueRange Inits,
    llvm::function_ref<SmallVector<Value>(Value, int64_t, ValueRange)> Body) {
  SmallVector<Value> Carried(Inits);
  int64_t Full = Width / Lanes * Lanes;
  if (Full > 0)
    Carried = loop(
        index(0), index(Full), Lanes, Carried,
        [&](Value At, ValueRange Values) { return Body(At, Lanes, Values); });
  if (Full != Width)
    Carried = Body(index(Full), Width - Full, Carried);
  return Carried;
}

Value KernelBuilder::scratch(ArrayRef<int64_t> Shape, Type Element) {
  auto Type = MemRefType::get(Shape, Element ? Element : getF32Type());
  auto *Same = llvm::find_if(
      Unused, [&](memref::AllocaOp Op) { return Op.getType() == Type; });
  if (Same != Unused.end()) {
    memref::AllocaOp Taken = *Same;
    Unused.erase(Same);
    return Taken;
  }
  OpBuilder::InsertionGuard Guard(*this);
  setInsertionPointToStart(&Parallel.getBody().front());
  return memref::AllocaOp::create(*this, Type, getI64IntegerAttr(64));
}

Value KernelBuilder::dim0(Value Buffer) {
  return memref::DimOp::create(*this, Buffer, 0);
}

Value KernelBuilder::weightView(Value Packed) {
  auto Type = cast<dnn::PackedType>(Packed.getType());
  return dnn::WeightViewOp::create(*this, Type.getBufferType(), Packed);
}

Value KernelBuilder::field(dnn::FieldKind Kind, Value Batch) {
  return dnn::FieldOp::create(
      *this, MemRefType::get({ShapedType::kDynamic}, getI32Type()), Kind,
      Batch);
}

//===- EngineMatmulTest.cpp - Library matmuls -----------------------------===//

#include "runtime/Engine/MatmulPrimitives.h"

#include "runtime/Abi/TenonRt.h"
#include "runtime/Support/Half.h"

#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>
#include <iostream>
#include <oneapi/dnnl/dnnl.hpp>
#include <random>

using namespace tenon;
using namespace tenon::artifact;
using namespace tenon::engine;

namespace {

/// A tensor in f32 or bf16, with the values it really holds in f32.
class Tensor {
public:
  Tensor(StorageFormat Type, size_t Count, std::mt19937_64 &Random,
         float Scale = 1)
      : Type(Type), Wide(Count), Narrow(Count) {
    for (size_t I = 0; I < Count; ++I)
      set(I, Scale * (static_cast<float>(Random() >> 40) * 0x1p-23f - 1));
  }
  void set(size_t I, float Value) {
    Narrow[I] = floatToBf16(Value);
    Wide[I] = Type == StorageFormat::F32 ? Value : bf16ToFloat(Narrow[I]);
  }
  /// After a matmul has written here.
  float get(size_t I) const {
    return Type == StorageFormat::F32 ? Wide[I] : bf16ToFloat(Narrow[I]);
  }
  void *data() {
    return Type == StorageFormat::F32 ? static_cast<void *>(Wide.data())
                                      : static_cast<void *>(Narrow.data());
  }
  const std::vector<float> &values() const { return Wide; }

private:
  StorageFormat Type;
  std::vector<float> Wide;
  std::vector<uint16_t> Narrow;
};

double activate(Activation Act, double X) {
  switch (Act) {
  case Activation::None:
    return X;
  case Activation::Relu:
    return X > 0 ? X : 0;
  case Activation::Gelu:
    return 0.5 * X * (1 + std::erf(X / std::sqrt(2.0)));
  case Activation::GeluTanh:
    return 0.5 * X *
           (1 + std::tanh(std::sqrt(2 / M_PI) * (X + 0.044715 * X * X * X)));
  case Activation::QuickGelu:
    return X / (1 + std::exp(-1.702 * X));
  case Activation::Silu:
    return X / (1 + std::exp(-X));
  case Activation::Tanh:
    return std::tanh(X);
  case Activation::Sigmoid:
    return 1 / (1 + std::exp(-X));
  }
  return X;
}

/// Where weight [n, k] lies in panels.
size_t placeOf(const PrimitiveInfo &S, int64_t N, int64_t K) {
  int64_t V = infoOf(S.Layout.Format).Interleave;
  int64_t Padded = paddedInFeatures(S.Layout.Format, S.K);
  return static_cast<size_t>(N / PanelWidth * PanelWidth * Padded +
                             K / V * V * PanelWidth + N % PanelWidth * V +
                             K % V);
}

/// Runs the matmul on random operands and compares with plain loops.
/// Relative to the largest value: 1e-5 for f32, 2^-7 for bf16 results.
void check(const PrimitiveInfo &S, int64_t Rows) {
  SCOPED_TRACE(describe(0, S) + ", rows " + std::to_string(Rows));
  Result<CpuLevel> Level = effectiveLevel();
  ASSERT_TRUE(Level);
  std::mt19937_64 Random(7);
  auto Bucket = static_cast<size_t>(tenon_rt_bucket(Rows));
  auto N = static_cast<size_t>(S.N), K = static_cast<size_t>(S.K);
  Tensor Source(S.Source, Bucket * K, Random);
  bool Panels = S.Layout.Kind == LayoutKind::Panels;
  StorageFormat Type = S.Layout.Format;
  auto Stored = static_cast<size_t>(packedBytes(S.Layout, S.N, S.K) /
                                    infoOf(Type).BlockBytes);
  Tensor Weights(Type, N * K, Random), Packed(Type, Stored, Random);
  for (size_t I = 0; I < Stored; ++I)
    Packed.set(I, 0);
  for (size_t I = 0; I < N; ++I)
    for (size_t J = 0; J < K; ++J)
      Packed.set(
          Panels ? placeOf(S, static_cast<int64_t>(I), static_cast<int64_t>(J))
                 : I * K + J,
          Weights.values()[I * K + J]);
  Tensor Bias(StorageFormat::F32, N, Random);
  Tensor Multiplier(S.Multiplier.value_or(StorageFormat::F32), Bucket * N,
                    Random);
  Tensor Residual(S.Residual.value_or(StorageFormat::F32), Bucket * N, Random,
                  10);
  Tensor Destination(S.Destination, Bucket * N, Random);
  std::vector<float> Added = Residual.values();

  MatmulPrimitives Library(std::span<const PrimitiveInfo>(&S, 1), *Level);
  Matmul P;
  P.Rows = Rows;
  P.Source = Source.data();
  P.Weights = Packed.data();
  P.Bias = S.HasBias ? Bias.data() : nullptr;
  P.Multiplier = S.Multiplier ? Multiplier.data() : nullptr;
  P.Residual = S.Residual ? Residual.data() : nullptr;
  P.Destination = Destination.data();
  Status Done = Library.run(P);
  ASSERT_TRUE(Done) << Done.error().message();

  std::vector<double> Expected;
  double Largest = 0;
  for (size_t R = 0; R < static_cast<size_t>(Rows); ++R)
    for (size_t I = 0; I < N; ++I) {
      double Sum = S.HasBias ? Bias.values()[I] : 0;
      for (size_t J = 0; J < K; ++J)
        Sum += static_cast<double>(Source.values()[R * K + J]) *
               static_cast<double>(Weights.values()[I * K + J]);
      Sum = activate(S.Act, Sum);
      if (S.Multiplier)
        Sum *= Multiplier.values()[R * N + I];
      if (S.Residual)
        Sum += Added[R * N + I];
      Expected.push_back(Sum);
      Largest = std::max(Largest, std::abs(Sum));
    }
  double Tolerance =
      Largest * (S.Destination == StorageFormat::F32 ? 1e-5 : 0x1p-7);
  for (size_t I = 0; I < Expected.size(); ++I)
    ASSERT_NEAR(Destination.get(I), Expected[I], Tolerance)
        << "row " << I / N << ", column " << I % N;
}

bool hasBF16() {
  Result<CpuLevel> Level = effectiveLevel();
  return Level && infoOf(*Level).Dots.contains(DotProduct::BF16);
}

PrimitiveInfo primitiveOf(int64_t K, int64_t N, StorageFormat Type,
                          StorageFormat To) {
  Result<CpuLevel> Level = effectiveLevel();
  bool Wide =
      Level && infoOf(*Level).LibraryFormats.contains(StorageFormat::F32);
  PrimitiveInfo S;
  S.K = K;
  S.N = N;
  S.Source = Type;
  S.Destination = To;
  S.Layout = {Wide ? LayoutKind::Panels : LayoutKind::RowMajor, Type};
  return S;
}

constexpr Activation AllActivations[] = {Activation::None, Activation::Relu,
                                         Activation::Gelu, Activation::GeluTanh,
                                         Activation::Silu};

} // namespace

TEST(EngineMatmulTest, EpiloguesF32) {
  for (Activation Act : AllActivations)
    for (int Operands = 0; Operands < 8; ++Operands) {
      PrimitiveInfo S =
          primitiveOf(45, 97, StorageFormat::F32, StorageFormat::F32);
      S.Act = Act;
      S.HasBias = Operands & 1;
      if (Operands & 2)
        S.Multiplier = StorageFormat::F32;
      if (Operands & 4)
        S.Residual = StorageFormat::F32;
      check(S, 19);
    }
}

TEST(EngineMatmulTest, EpiloguesBF16) {
  if (!hasBF16())
    GTEST_SKIP() << "this CPU has no bf16 matmuls";
  for (Activation Act : AllActivations)
    for (int Operands = 0; Operands < 8; ++Operands)
      for (StorageFormat To : {StorageFormat::F32, StorageFormat::BF16}) {
        PrimitiveInfo S = primitiveOf(45, 97, StorageFormat::BF16, To);
        S.Act = Act;
        S.HasBias = Operands & 1;
        if (Operands & 2)
          S.Multiplier = StorageFormat::BF16;
        if (Operands & 4)
          S.Residual = StorageFormat::F32;
        check(S, 19);
      }
}

TEST(EngineMatmulTest, ResidualOfDeepMatmuls) {
  // Deep enough that the library sums in several passes over K.
  PrimitiveInfo S =
      primitiveOf(4099, 130, StorageFormat::F32, StorageFormat::F32);
  S.Residual = StorageFormat::F32;
  S.HasBias = true;
  for (int64_t Rows : {1, 16, 100})
    check(S, Rows);
}

TEST(EngineMatmulTest, ManyRowCounts) {
  PrimitiveInfo S = primitiveOf(24, 72, StorageFormat::F32, StorageFormat::F32);
  for (int64_t Rows : {1, 15, 16, 17, 127, 129, 200, 1025})
    check(S, Rows);
}

TEST(EngineMatmulTest, OnePrimitivePerBucket) {
  Result<CpuLevel> Level = effectiveLevel();
  ASSERT_TRUE(Level);
  PrimitiveInfo S = primitiveOf(16, 64, StorageFormat::F32, StorageFormat::F32);
  MatmulPrimitives Library(std::span<const PrimitiveInfo>(&S, 1), *Level);
  std::vector<float> Source(48 * 16), Weights(64 * 16), To(48 * 64);
  for (int64_t Rows : {1, 16, 9, 17, 32, 3}) {
    Matmul P;
    P.Rows = Rows;
    P.Source = Source.data();
    P.Weights = Weights.data();
    P.Destination = To.data();
    ASSERT_TRUE(Library.run(P));
  }
  EXPECT_EQ(Library.counters().Primitives, 2);
  EXPECT_EQ(Library.counters().Library, 6);
}

TEST(EngineMatmulTest, RefusesWhatTheLibraryLacks) {
  Result<CpuLevel> Level = effectiveLevel();
  ASSERT_TRUE(Level);
  // The library has no f32 matmul with bf16 results.
  PrimitiveInfo S =
      primitiveOf(20, 50, StorageFormat::F32, StorageFormat::BF16);
  MatmulPrimitives Library(std::span<const PrimitiveInfo>(&S, 1), *Level);
  Status Ready = Library.prepare(5);
  ASSERT_FALSE(Ready);
  EXPECT_EQ(Ready.error().message(), describe(0, S) +
                                         " with 16 rows at level " +
                                         std::string(infoOf(*Level).Name) +
                                         ": the library has no implementation");
  EXPECT_EQ(Library.counters().Reference, 1);
}

TEST(EngineMatmulTest, RefusesTheReferenceImplementation) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto Prepare = [] {
    // Without AVX the library has nothing but plain loops for panels.
    dnnl::set_max_cpu_isa(dnnl::cpu_isa::sse41);
    PrimitiveInfo S;
    S.K = 20;
    S.N = 50;
    S.Layout = {LayoutKind::Panels, StorageFormat::F32};
    MatmulPrimitives Library(std::span<const PrimitiveInfo>(&S, 1),
                             CpuLevel::AVX2);
    Status Ready = Library.prepare(5);
    std::cerr << (Ready ? "ready" : Ready.error().message());
    std::exit(Library.counters().Reference == 1 ? 0 : 1);
  };
  EXPECT_EXIT(Prepare(), testing::ExitedWithCode(0),
              "with 16 rows at level avx2: the library has only its reference "
              "implementation 'ref");
}

TEST(EngineMatmulTest, RefusesWrongOperands) {
  Result<CpuLevel> Level = effectiveLevel();
  ASSERT_TRUE(Level);
  PrimitiveInfo S = primitiveOf(16, 64, StorageFormat::F32, StorageFormat::F32);
  S.Multiplier = StorageFormat::F32;
  MatmulPrimitives Library(std::span<const PrimitiveInfo>(&S, 1), *Level);
  std::vector<float> Source(16 * 16), Weights(64 * 16), Other(16 * 64),
      To(16 * 64);
  Matmul P;
  P.Rows = 1;
  P.Source = Source.data();
  P.Weights = Weights.data();
  P.Multiplier = Other.data();
  P.Destination = To.data();
  ASSERT_TRUE(Library.run(P));
  auto Refused = [&](auto Change) {
    Matmul Bad = P;
    Change(Bad);
    return !Library.run(Bad);
  };
  EXPECT_TRUE(Refused([](Matmul &Q) { Q.Rows = 0; }));
  EXPECT_TRUE(Refused([](Matmul &Q) { Q.Primitive = -1; }));
  EXPECT_TRUE(Refused([](Matmul &Q) { Q.Primitive = 1; }));
  EXPECT_TRUE(Refused([](Matmul &Q) { Q.Source = nullptr; }));
  EXPECT_TRUE(Refused([](Matmul &Q) { Q.Multiplier = nullptr; }));
  EXPECT_TRUE(Refused([](Matmul &Q) { Q.Residual = Q.Source; }));
  EXPECT_TRUE(Refused([](Matmul &Q) { Q.Multiplier = Q.Destination; }));
  EXPECT_TRUE(Refused([](Matmul &Q) { Q.Source = Q.Destination; }));
}

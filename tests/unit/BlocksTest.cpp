//===- BlocksTest.cpp - Quantised blocks and their panels -----------------===//

#include "BlocksTestSupport.h"

#include "runtime/Packing/Packer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

using namespace tenon;

namespace {

std::vector<StorageFormat> quantisedFormats() {
  std::vector<StorageFormat> Formats;
  for (const StorageFormatInfo &Info : StorageFormats)
    if (Info.isQuantised())
      Formats.push_back(Info.Value);
  return Formats;
}

/// The values of `X`, whole blocks, after storing.
std::vector<float> stored(StorageFormat Format, const std::vector<float> &X) {
  std::vector<float> Out(X.size());
  int64_t Size = infoOf(Format).BlockValues;
  for (size_t I = 0; I < X.size(); I += static_cast<size_t>(Size))
    EXPECT_TRUE(decodeBlock(Format, quantiseBlock(Format, &X[I]), &Out[I]));
  return Out;
}

/// Root of the mean squared error over that of the mean square.
double errorOf(StorageFormat Format, const std::vector<float> &X) {
  std::vector<float> Y = stored(Format, X);
  double Error = 0, Square = 0;
  for (size_t I = 0; I < X.size(); ++I) {
    Error += (X[I] - Y[I]) * (X[I] - Y[I]);
    Square += X[I] * X[I];
  }
  return std::sqrt(Error / Square);
}

TEST(BlocksTest, ErrorsAreThoseOfTheBits) {
  std::vector<float> X = normalValues(1 << 14, 5);
  for (StorageFormat Format : quantisedFormats()) {
    const StorageFormatInfo &Info = infoOf(Format);
    // Of n uniform steps over a range of 4.7 deviations, 4.7 / n / sqrt(12).
    double Bound = 4.7 / std::sqrt(12) / (1 << Info.Bits);
    if (Format == StorageFormat::MXFP4)
      Bound = 0.13; // One bit of mantissa.
    EXPECT_LT(errorOf(Format, X), Bound) << Info.Name;
    EXPECT_GT(errorOf(Format, X), Bound / 3) << Info.Name;
  }
}

TEST(BlocksTest, NumbersOfTheFormatStay) {
  for (StorageFormat Format : quantisedFormats()) {
    const StorageFormatInfo &Info = infoOf(Format);
    if (Info.hasMinimum() || Info.Scale == ScaleKind::Integer)
      continue;
    // All codes, the lowest one among them, at a scale that f16 holds.
    std::vector<float> X(static_cast<size_t>(Info.BlockValues));
    for (int I = 0; I < 32; ++I) {
      int Code = I % (1 << std::min<int64_t>(Info.Bits, 5));
      int Number = Info.Codes       ? (*Info.Codes)[Code]
                   : Info.Bits == 8 ? (I == 0 ? 127 : -4 * I)
                                    : Code - static_cast<int>(Info.Offset);
      X[static_cast<size_t>(I)] = 0.25f * static_cast<float>(Number);
    }
    EXPECT_EQ(stored(Format, X), X) << Info.Name;
  }
}

TEST(BlocksTest, ZerosAndLonelyValues) {
  for (StorageFormat Format : quantisedFormats()) {
    const StorageFormatInfo &Info = infoOf(Format);
    std::vector<float> X(static_cast<size_t>(Info.BlockValues));
    for (float Y : stored(Format, X))
      EXPECT_EQ(Y, 0) << Info.Name;
    X[3] = -2.5f;
    std::vector<float> Y = stored(Format, X);
    EXPECT_NEAR(Y[3], -2.5f, Format == StorageFormat::MXFP4 ? 0.6 : 0.03)
        << Info.Name;
  }
}

TEST(BlocksTest, TinyValuesBesideZeros) {
  for (StorageFormat Format : quantisedFormats())
    for (float Tiny : {1e-36f, 1e-37f, 1e-38f, 1e-40f, 1e-45f}) {
      std::vector<float> X(static_cast<size_t>(infoOf(Format).BlockValues));
      X[5] = Tiny;
      for (float Value : stored(Format, X))
        EXPECT_LT(std::abs(Value), 0x1p-24f) << infoOf(Format).Name;
    }
}

TEST(BlocksTest, SubnormalScalesClipNothing) {
  // The scale that q8_0 would like is 1.4 times the least that f16 has.
  std::vector<float> X = normalValues(32, 11);
  for (float &Value : X)
    Value = std::clamp(Value, -1.0f, 1.0f) * 127 * 1.4f * 0x1p-24f;
  X[3] = 127 * 1.4f * 0x1p-24f;
  std::vector<float> Y = stored(StorageFormat::Q8_0, X);
  for (size_t I = 0; I < X.size(); ++I)
    EXPECT_NEAR(X[I], Y[I], 0x1p-24f);
}

TEST(BlocksTest, LargestQuantised) {
  for (StorageFormat Format :
       {StorageFormat::Q8_0, StorageFormat::Q6_0, StorageFormat::IQ4_NL}) {
    float Most = largestQuantised(Format);
    std::vector<float> X(32);
    X[7] = Most;
    EXPECT_NEAR(stored(Format, X)[7] / Most, 1, 0.02) << infoOf(Format).Name;
    EXPECT_GT(Most, 2e6f) << infoOf(Format).Name;
    X[7] = 2 * Most;
    EXPECT_LT(stored(Format, X)[7], 1.2f * Most) << infoOf(Format).Name;
  }
}

TEST(BlocksTest, EveryFormatKeepsNumbersOfWeights) {
  for (StorageFormat Format : quantisedFormats())
    EXPECT_GT(largestQuantised(Format), 1e5f) << infoOf(Format).Name;
}

TEST(BlocksTest, NoExponentIsNone) {
  CodeBlock Block;
  Block.Groups[0].Scales[0] = 254;
  float Out[MaxBlockValues];
  EXPECT_TRUE(decodeBlock(StorageFormat::MXFP4, Block, Out));
  Block.Groups[0].Scales[0] = 255;
  EXPECT_FALSE(decodeBlock(StorageFormat::MXFP4, Block, Out));
}

TEST(BlocksTest, PanelsHoldTheValues) {
  constexpr int64_t Rows = 37, K = 300;
  std::vector<float> X = normalValues(Rows * K, 7);
  for (StorageFormat Format : quantisedFormats()) {
    const StorageFormatInfo &Info = infoOf(Format);
    PackedLayout Layout = {LayoutKind::Panels, Format};
    std::vector<std::byte> Panel(static_cast<size_t>(panelBytes(Layout, K)),
                                 std::byte(0xff));
    packPanel(Layout, K, Rows, X.data(), Panel.data());
    for (int64_t Row = 0; Row < Rows; ++Row) {
      std::vector<float> Padded(
          static_cast<size_t>(roundUp(K, Info.BlockValues)));
      std::copy_n(&X[static_cast<size_t>(Row * K)], K, Padded.begin());
      std::vector<float> Expected = stored(Format, Padded);
      for (int64_t I = 0; I < K; ++I)
        ASSERT_FLOAT_EQ(valueAt(Format, Panel.data(), Row, I),
                        Expected[static_cast<size_t>(I)])
            << Info.Name << " row " << Row << " value " << I;
    }
    // Rows that are missing are zeros.
    EXPECT_EQ(valueAt(Format, Panel.data(), Rows, 5), 0) << Info.Name;
  }
}

TEST(BlocksTest, StoredBlocksKeepTheirBits) {
  // Q8_0: f16 scale and 32 codes, in a file as one behind another.
  constexpr int64_t Rows = 3, K = 64, RowBytes = 2 * 34;
  std::vector<std::byte> Source(Rows * RowBytes);
  std::mt19937 Random(3);
  for (std::byte &Each : Source)
    Each = static_cast<std::byte>(Random());
  for (size_t I = 0; I < Source.size(); I += 34)
    std::memcpy(&Source[I], "\x00\x3c", 2); // A scale of 1.
  PackedLayout Layout = {LayoutKind::Panels, StorageFormat::Q8_0};
  std::vector<std::byte> Packed;
  Packer Pack(Layout, Rows, K, [&](std::span<const std::byte> Bytes) -> Status {
    Packed.insert(Packed.end(), Bytes.begin(), Bytes.end());
    return {};
  });
  ASSERT_TRUE(Pack.appendStored(std::span(Source).first(2 * RowBytes), 2));
  EXPECT_FALSE(Pack.finish());
  EXPECT_FALSE(Pack.appendStored(Source, 3));
  ASSERT_TRUE(Pack.appendStored(std::span(Source).subspan(2 * RowBytes), 1));
  ASSERT_TRUE(Pack.finish());
  ASSERT_EQ(static_cast<int64_t>(Packed.size()), packedBytes(Layout, Rows, K));
  for (int64_t Row = 0; Row < Rows; ++Row)
    for (int64_t I = 0; I < K; ++I)
      EXPECT_EQ(valueAt(StorageFormat::Q8_0, Packed.data(), Row, I),
                static_cast<int8_t>(Source[static_cast<size_t>(
                    Row * RowBytes + I / 32 * 34 + 2 + I % 32)]));
}

TEST(BlocksTest, HighBitsOfSixLieInFourRows) {
  for (size_t I = 0; I < 32; ++I) {
    // A scale of 1; code I is 37, the others are 0.
    std::array<std::byte, 26> Stored = {std::byte(0), std::byte(0x3c)};
    Stored[10 + I % 16] = std::byte(I < 16 ? 0x05 : 0x50);
    constexpr int Shifts[] = {0, 4, 2, 6};
    Stored[2 + I % 8] = std::byte(2 << Shifts[I / 8]);
    std::array<float, 32> Values;
    ASSERT_TRUE(decodeBlock(StorageFormat::Q6_0,
                            readBlock(StorageFormat::Q6_0, Stored.data()),
                            Values.data()));
    for (size_t J = 0; J < 32; ++J)
      EXPECT_EQ(Values[J], J == I ? 5 : -32) << I << " " << J;
  }
}

/// The formats whose scales are searched.
constexpr StorageFormat Searched[] = {StorageFormat::IQ4_NL,
                                      StorageFormat::Q6_0, StorageFormat::Q6_K,
                                      StorageFormat::Q8_0};

/// The bits of `X`, one block, as a panel of one feature.
std::vector<std::byte> bitsOf(StorageFormat Format, const std::vector<float> &X,
                              const float *Importance) {
  std::vector<std::byte> Panel(
      static_cast<size_t>(infoOf(Format).BlockBytes * PanelWidth));
  layBlock(Format, quantiseBlock(Format, X.data(), Importance), 0,
           Panel.data());
  return Panel;
}

TEST(BlocksTest, WithoutImportanceLargeValuesWeighMore) {
  for (StorageFormat Format : Searched)
    for (uint32_t Seed = 0; Seed < 20; ++Seed) {
      std::vector<float> X = normalValues(infoOf(Format).BlockValues, Seed);
      std::vector<std::byte> Without = bitsOf(Format, X, nullptr);
      std::vector<float> Importance(X.size());
      EXPECT_EQ(bitsOf(Format, X, Importance.data()), Without)
          << infoOf(Format).Name << " zeros";
      auto Shared = static_cast<size_t>(infoOf(Format).ScaleValues);
      for (size_t I = 0; I < X.size(); I += Shared) {
        float Squares = 0;
        for (size_t J = I; J < I + Shared; ++J)
          Squares += X[J] * X[J];
        for (size_t J = I; J < I + Shared; ++J)
          Importance[J] =
              std::sqrt(Squares / static_cast<float>(Shared) + X[J] * X[J]);
      }
      EXPECT_EQ(bitsOf(Format, X, Importance.data()), Without)
          << infoOf(Format).Name << " weights";
    }
}

TEST(BlocksTest, OnlyRatiosOfImportanceCount) {
  for (StorageFormat Format : Searched)
    for (uint32_t Seed = 0; Seed < 20; ++Seed) {
      std::vector<float> X = normalValues(infoOf(Format).BlockValues, Seed);
      std::vector<float> Importance =
          normalValues(infoOf(Format).BlockValues, Seed + 100);
      for (float &Each : Importance)
        Each *= Each;
      std::vector<std::byte> Once = bitsOf(Format, X, Importance.data());
      // A power of two: the same roundings.
      for (float &Each : Importance)
        Each *= 8;
      EXPECT_EQ(bitsOf(Format, X, Importance.data()), Once)
          << infoOf(Format).Name;
    }
}

TEST(BlocksTest, ImportanceDecidesBetweenScales) {
  // One scale fits the first values, another one all the others.
  std::vector<float> X(GroupValues, 1.0f);
  for (size_t I = 0; I < 16; ++I)
    X[I] = -1.27f;
  std::vector<float> Importance(GroupValues, 1e-4f);
  auto ErrorOf = [&](const std::vector<float> &Importance, float Value) {
    std::vector<float> Y(GroupValues);
    EXPECT_TRUE(decodeBlock(
        StorageFormat::IQ4_NL,
        quantiseBlock(StorageFormat::IQ4_NL, X.data(), Importance.data()),
        Y.data()));
    float Most = 0;
    for (size_t I = 0; I < Y.size(); ++I)
      if (X[I] == Value)
        Most = std::max(Most, std::abs(X[I] - Y[I]));
    return Most;
  };
  for (float Value : {-1.27f, 1.0f}) {
    for (size_t I = 0; I < X.size(); ++I)
      Importance[I] = X[I] == Value ? 1 : 1e-4f;
    EXPECT_LT(ErrorOf(Importance, Value), 2e-3f) << Value;
    EXPECT_GT(ErrorOf(Importance, Value == 1 ? -1.27f : 1.0f), 2e-3f);
  }
}

TEST(BlocksTest, WeightedErrorsAreSmaller) {
  constexpr int64_t Count = 1 << 14;
  std::vector<float> X = normalValues(Count, 3);
  std::vector<float> Importance = normalValues(Count, 4);
  for (float &Each : Importance)
    Each = std::exp(2 * Each);
  for (StorageFormat Format : Searched) {
    double With = 0, Without = 0, PlainWith = 0, PlainWithout = 0;
    std::vector<float> Y(MaxBlockValues);
    auto Size = static_cast<size_t>(infoOf(Format).BlockValues);
    for (size_t From = 0; From < X.size(); From += Size)
      for (bool IsWeighted : {false, true}) {
        ASSERT_TRUE(
            decodeBlock(Format,
                        quantiseBlock(Format, &X[From],
                                      IsWeighted ? &Importance[From] : nullptr),
                        Y.data()));
        for (size_t I = 0; I < Size; ++I) {
          double Error = std::pow(X[From + I] - Y[I], 2);
          (IsWeighted ? With : Without) += Importance[From + I] * Error;
          (IsWeighted ? PlainWith : PlainWithout) += Error;
        }
      }
    EXPECT_LT(With, 0.97 * Without) << infoOf(Format).Name;
    EXPECT_GT(PlainWith, PlainWithout) << infoOf(Format).Name;
  }
}

TEST(BlocksTest, ValuesOfNoImportanceMayBeAnything) {
  std::vector<float> X = normalValues(GroupValues, 9), Y = X;
  std::vector<float> Importance(GroupValues, 1.0f);
  X[5] = 0.01f;
  Y[5] = -0.02f;
  Importance[5] = 0;
  auto Of = [&](const std::vector<float> &Values) {
    return quantiseBlock(StorageFormat::IQ4_NL, Values.data(),
                         Importance.data())
        .Groups[0]
        .Scales[0];
  };
  EXPECT_EQ(Of(X), Of(Y));
}

/// Rows come in pieces that divide panels, each with its own metric; the last
/// block of a row is not full.
TEST(BlocksTest, PackersKeepTheMetricsOfRows) {
  constexpr int64_t Rows = 90, K = 45;
  std::vector<float> X = normalValues(Rows * K, 11);
  std::vector<float> Importance = normalValues(2 * K, 12);
  for (float &Each : Importance)
    Each = std::exp(2 * Each);
  ErrorMetric Metrics[2];
  for (size_t I : {0, 1}) {
    auto OfRows = std::span(Importance).subspan(I * K, K);
    Metrics[I] = ErrorMetric::ofSquares(
        std::vector<double>(OfRows.begin(), OfRows.end()));
  }
  PackedLayout Layout = {LayoutKind::Panels, StorageFormat::IQ4_NL};
  std::vector<std::byte> Packed;
  QuantisationError Measured;
  Packer Pack(Layout, Rows, K, [&](std::span<const std::byte> Bytes) -> Status {
    Packed.insert(Packed.end(), Bytes.begin(), Bytes.end());
    return {};
  });
  Pack.measure(Measured);
  auto IsFirst = [](int64_t Row) { return Row < 40; };
  ASSERT_TRUE(Pack.append(std::span(X).first(40 * K), &Metrics[0]));
  ASSERT_TRUE(Pack.append(std::span(X).subspan(40 * K, 30 * K), &Metrics[1]));
  ASSERT_TRUE(Pack.append(std::span(X).subspan(70 * K), &Metrics[1]));
  ASSERT_TRUE(Pack.finish());
  EXPECT_FALSE(Pack.isStored());
  QuantisationError Expected;
  for (int64_t Row = 0; Row < Rows; ++Row) {
    const float *OfRow = Metrics[IsFirst(Row) ? 0 : 1].importance(0);
    std::vector<float> Padded(64), Weights(64), Stored(64);
    std::copy_n(&X[static_cast<size_t>(Row * K)], K, Padded.begin());
    std::copy_n(OfRow, K, Weights.begin());
    for (size_t I = 0; I < 64; I += 32)
      ASSERT_TRUE(decodeBlock(
          Layout.Format, quantiseBlock(Layout.Format, &Padded[I], &Weights[I]),
          &Stored[I]));
    for (int64_t I = 0; I < K; ++I) {
      auto At = static_cast<size_t>(I);
      ASSERT_FLOAT_EQ(valueAt(Layout.Format,
                              Packed.data() + Row / 64 * panelBytes(Layout, K),
                              Row % 64, I),
                      Stored[At])
          << "row " << Row << " value " << I;
      double Error = std::pow(static_cast<double>(Padded[At]) - Stored[At], 2);
      double Square = std::pow(static_cast<double>(Padded[At]), 2);
      Expected += {Square, Error, Weights[At] * Square, Weights[At] * Error};
    }
  }
  EXPECT_NEAR(Measured.Square, Expected.Square, 1e-9 * Expected.Square);
  EXPECT_NEAR(Measured.Error, Expected.Error, 1e-9 * Expected.Error);
  EXPECT_NEAR(Measured.OutputSquare, Expected.OutputSquare,
              1e-9 * Expected.OutputSquare);
  EXPECT_NEAR(Measured.OutputError, Expected.OutputError,
              1e-9 * Expected.OutputError);
}

TEST(BlocksTest, OnlyPanelsAreQuantised) {
  EXPECT_TRUE(layoutNamed("panels.q4_k"));
  EXPECT_FALSE(layoutNamed("row_major.q4_k"));
  EXPECT_FALSE(layoutNamed("vector.q8_0"));
}

} // namespace

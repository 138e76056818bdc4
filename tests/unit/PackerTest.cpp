//===- PackerTest.cpp - Packed layouts against oneDNN's own ---------------===//

#include "runtime/Packing/Packer.h"
#include "runtime/Support/Half.h"

#include <gtest/gtest.h>
#include <oneapi/dnnl/dnnl.hpp>

#include <algorithm>
#include <cstring>
#include <limits>

using namespace tenon;

namespace {

constexpr PackedLayout PanelsF32 = {LayoutKind::Panels, StorageFormat::F32};
constexpr PackedLayout PanelsBF16 = {LayoutKind::Panels, StorageFormat::BF16};
constexpr PackedLayout AllLayouts[] = {
    {LayoutKind::Vector, StorageFormat::F32},
    {LayoutKind::Vector, StorageFormat::BF16},
    {LayoutKind::RowMajor, StorageFormat::F32},
    {LayoutKind::RowMajor, StorageFormat::BF16},
    PanelsF32,
    PanelsBF16};

/// Distinct values whose low bits are set, so that rounding shows.
std::vector<float> testValues(int64_t Count) {
  std::vector<float> Values(Count);
  for (int64_t I = 0; I < Count; ++I)
    Values[I] = static_cast<float>((I * 7919 + 13) % 10007) / 97.0f - 50.0f;
  return Values;
}

/// What oneDNN's reorder makes of [N][K] as weights with dims {K, N}.
std::vector<std::byte> reorderedByLibrary(PackedLayout Layout, int64_t N,
                                          int64_t K,
                                          std::vector<float> Source) {
  using namespace dnnl;
  engine Engine(engine::kind::cpu, 0);
  stream Stream(Engine);
  memory::desc Plain({K, N}, memory::data_type::f32, memory::format_tag::ba);
  bool IsF32 = Layout.Format == StorageFormat::F32;
  memory::desc Blocked(
      {K, N}, IsF32 ? memory::data_type::f32 : memory::data_type::bf16,
      IsF32 ? memory::format_tag::BA16a64b : memory::format_tag::BA16a64b2a);
  std::vector<std::byte> Bytes(Blocked.get_size());
  memory From(Plain, Engine, Source.data());
  memory To(Blocked, Engine, Bytes.data());
  reorder(From, To).execute(Stream, From, To);
  Stream.wait();
  return Bytes;
}

/// Everything a Packer emits, fed in pieces of `Rows` rows.
std::vector<std::byte> packedInPieces(PackedLayout Layout, int64_t N, int64_t K,
                                      const std::vector<float> &Source,
                                      int64_t Rows) {
  std::vector<std::byte> Bytes;
  Packer P(Layout, N, K, [&](std::span<const std::byte> Piece) -> Status {
    Bytes.insert(Bytes.end(), Piece.begin(), Piece.end());
    return {};
  });
  for (int64_t Row = 0; Row < N; Row += Rows) {
    int64_t Take = std::min(Rows, N - Row);
    Status S = P.append(std::span(Source).subspan(Row * K, Take * K));
    EXPECT_TRUE(S) << S.error().message();
  }
  Status S = P.finish();
  EXPECT_TRUE(S) << S.error().message();
  return Bytes;
}

} // namespace

TEST(Layout, NamesRoundTrip) {
  for (PackedLayout Layout : AllLayouts)
    EXPECT_EQ(layoutNamed(nameOf(Layout)), Layout) << nameOf(Layout);
  EXPECT_EQ(nameOf(PanelsBF16), "panels.bf16");
  for (const char *Wrong : {"", ".", "panels", "panels.", ".f32", "panels.f64",
                            "panels.f32 ", "tiles.f32", "panels.f32.f32"})
    EXPECT_FALSE(layoutNamed(Wrong)) << Wrong;
}

TEST(Packer, PanelsEqualLibraryReorder) {
  struct Shape {
    int64_t N, K;
  };
  for (Shape S : {Shape{1, 1},
                  {24, 24},
                  {64, 32},
                  {97, 264},
                  {264, 97},
                  {65, 33},
                  {63, 31},
                  {128, 16},
                  {200, 511}})
    for (PackedLayout Layout : {PanelsF32, PanelsBF16}) {
      SCOPED_TRACE(nameOf(Layout) + " N=" + std::to_string(S.N) +
                   " K=" + std::to_string(S.K));
      std::vector<float> Source = testValues(S.N * S.K);
      std::vector<std::byte> Wanted =
          reorderedByLibrary(Layout, S.N, S.K, Source);
      ASSERT_EQ(static_cast<int64_t>(Wanted.size()),
                packedBytes(Layout, S.N, S.K));
      for (int64_t Rows : {int64_t(1), int64_t(50), int64_t(64), S.N}) {
        std::vector<std::byte> Got =
            packedInPieces(Layout, S.N, S.K, Source, Rows);
        ASSERT_EQ(Got.size(), Wanted.size());
        EXPECT_EQ(std::memcmp(Got.data(), Wanted.data(), Got.size()), 0)
            << "in pieces of " << Rows << " rows";
      }
    }
}

TEST(Packer, ConcatenatedPanelsEqualMergedWeight) {
  // Merged matmuls rely on this: N a multiple of 64 needs no repacking.
  constexpr int64_t K = 40;
  std::vector<float> Source = testValues(192 * K);
  std::vector<std::byte> Merged =
      packedInPieces(PanelsBF16, 192, K, Source, 192);
  std::vector<float> First(Source.begin(), Source.begin() + 128 * K);
  std::vector<float> Second(Source.begin() + 128 * K, Source.end());
  std::vector<std::byte> Parts = packedInPieces(PanelsBF16, 128, K, First, 7);
  std::vector<std::byte> Tail = packedInPieces(PanelsBF16, 64, K, Second, 7);
  Parts.insert(Parts.end(), Tail.begin(), Tail.end());
  EXPECT_EQ(Merged, Parts);
}

TEST(Packer, RowsAndVectors) {
  std::vector<float> Source = testValues(5 * 37);
  for (StorageFormat Format : {StorageFormat::F32, StorageFormat::BF16}) {
    auto Size = static_cast<size_t>(storedBytes(Format, 1));
    auto ElementAt = [&](const std::vector<std::byte> &Bytes, size_t I) {
      uint32_t Bits = 0;
      std::memcpy(&Bits, Bytes.data() + I * Size, Size);
      return Bits;
    };
    auto Stored = [&](float Value) {
      return Format == StorageFormat::F32 ? std::bit_cast<uint32_t>(Value)
                                          : floatToBf16(Value);
    };
    std::vector<std::byte> Rows =
        packedInPieces({LayoutKind::RowMajor, Format}, 5, 37, Source, 2);
    ASSERT_EQ(Rows.size(), 5 * 37 * Size);
    std::vector<std::byte> Vector =
        packedInPieces({LayoutKind::Vector, Format}, 5 * 37, 1, Source, 100);
    ASSERT_EQ(Vector.size(), 192 * Size);
    for (size_t I = 0; I < Source.size(); ++I) {
      ASSERT_EQ(ElementAt(Rows, I), Stored(Source[I])) << I;
      ASSERT_EQ(ElementAt(Vector, I), Stored(Source[I])) << I;
    }
    for (size_t I = Source.size(); I < 192; ++I)
      ASSERT_EQ(ElementAt(Vector, I), 0u) << I;
  }
}

TEST(Packer, LongRowsLeaveInGroups) {
  // More than one group of plain rows, and a row longer than a group.
  for (auto [N, K] : {std::pair<int64_t, int64_t>{300, 1000}, {3, 70000}}) {
    std::vector<float> Source = testValues(N * K);
    PackedLayout Layout = {LayoutKind::RowMajor, StorageFormat::F32};
    std::vector<std::byte> Bytes = packedInPieces(Layout, N, K, Source, 77);
    ASSERT_EQ(Bytes.size(), Source.size() * 4);
    EXPECT_EQ(std::memcmp(Bytes.data(), Source.data(), Bytes.size()), 0);
  }
}

TEST(Packer, RoundsToNearestEven) {
  // Halfway cases go to the even neighbour; special values survive.
  float Values[] = {0x1.01p0f,
                    0x1.03p0f,
                    0x1.010002p0f,
                    -0.0f,
                    0x1p-149f,
                    0x1.fffffep127f,
                    std::numeric_limits<float>::infinity(),
                    std::numeric_limits<float>::quiet_NaN()};
  std::byte Bytes[64 * 2];
  std::fill(std::begin(Bytes), std::end(Bytes), std::byte(0xaa));
  packVector({LayoutKind::Vector, StorageFormat::BF16}, 8, Values, Bytes);
  uint16_t Got[8];
  std::memcpy(Got, Bytes, sizeof(Got));
  uint16_t Wanted[] = {0x3f80, 0x3f82, 0x3f81, 0x8000,
                       0x0000, 0x7f80, 0x7f80, 0x7fc0};
  for (int I = 0; I < 8; ++I)
    EXPECT_EQ(Got[I], Wanted[I]) << I;
  for (size_t I = sizeof(Got); I < sizeof(Bytes); ++I)
    EXPECT_EQ(Bytes[I], std::byte(0)) << "padding at " << I;
}

TEST(Packer, RefusesWrongAmounts) {
  auto Ignore = [](std::span<const std::byte>) -> Status { return {}; };
  std::vector<float> Source(30);
  Packer Short(PanelsF32, 4, 10, Ignore);
  ASSERT_TRUE(Short.append(Source));
  Status Missing = Short.finish();
  ASSERT_FALSE(Missing);
  EXPECT_EQ(Missing.error().message(),
            "packing panels.f32: got 3 rows: expected 4");
  EXPECT_FALSE(Short.append(Source)) << "two rows too many";
  EXPECT_FALSE(Short.append(std::span(Source).first(5))) << "half a row";

  Packer Failing(PanelsF32, 3, 10, [](std::span<const std::byte>) -> Status {
    return Error("disk full");
  });
  Status Stopped = Failing.append(Source);
  ASSERT_FALSE(Stopped);
  EXPECT_EQ(Stopped.error().message(), "disk full");
}

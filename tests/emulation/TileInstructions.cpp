//===- TileInstructions.cpp - Intel AMX -----------------------------------===//
//
// As chapter 3 of Intel Architecture Instruction Set Extensions Programming
// Reference describes them. Where the CPU would raise an exception (no palette,
// shapes that do not fit) the process ends.
//
//===----------------------------------------------------------------------===//

#include "tests/emulation/Emulation.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pmmintrin.h>

using namespace tenon::emulation;

namespace {

/// The memory operand of LDTILECFG.
struct TileConfiguration {
  uint8_t Palette;
  uint8_t StartRow;
  std::array<uint8_t, 14> Reserved;
  std::array<uint16_t, 16> RowBytes;
  std::array<uint8_t, 16> Rows;
};
static_assert(sizeof(TileConfiguration) == 64);

constexpr size_t MaxRows = 16;
constexpr size_t MaxRowBytes = 64;

struct Tile {
  std::array<std::array<std::byte, MaxRowBytes>, MaxRows> Data;

  template <typename T> T at(size_t Row, size_t Column) const {
    T Value;
    std::memcpy(&Value, &Data[Row][Column * sizeof(T)], sizeof(T));
    return Value;
  }
  template <typename T> T *row(size_t Row) {
    return reinterpret_cast<T *>(Data[Row].data());
  }
  template <typename T> const T *row(size_t Row) const {
    return reinterpret_cast<const T *>(Data[Row].data());
  }
};

struct TileState {
  TileConfiguration Configuration = {};
  alignas(64) std::array<Tile, 8> Tiles = {};
};

/// What a product reads and writes: Into[Rows][Columns] +=
/// A[Rows][Groups] * B[Groups][Columns], in groups of four bytes.
struct TileProduct {
  Tile &Into;
  const Tile &A, &B;
  size_t Rows, Columns, Groups;
};

} // namespace

static thread_local TileState Thread;

[[noreturn]] static void raise(const Instruction &What, const char *Why) {
  std::fprintf(stderr, "tenon: emulated %s: %s\n", What.Name.c_str(), Why);
  std::abort();
}

static size_t rowsOf(unsigned Tile) { return Thread.Configuration.Rows[Tile]; }

static size_t bytesOf(unsigned Tile) {
  return Thread.Configuration.RowBytes[Tile];
}

/// Checks that `Number` is a tile of the palette in force.
static Tile &configured(const Instruction &What, unsigned Number) {
  if (Thread.Configuration.Palette == 0)
    raise(What, "tiles are not configured");
  if (rowsOf(Number) == 0 || bytesOf(Number) == 0)
    raise(What, "the tile has no rows or no columns");
  return Thread.Tiles[Number];
}

static void loadConfiguration(const Instruction &What, Registers &State) {
  TileConfiguration Loaded;
  std::memcpy(&Loaded, What.Memory->address(State), sizeof(Loaded));
  if (Loaded.Palette > 1)
    raise(What, "palette beyond 1");
  for (size_t I = 0; Loaded.Palette == 1 && I < Loaded.Rows.size(); ++I)
    if (Loaded.Rows[I] > MaxRows || Loaded.RowBytes[I] > MaxRowBytes ||
        (I >= Thread.Tiles.size() && (Loaded.Rows[I] || Loaded.RowBytes[I])))
      raise(What, "a tile beyond the palette's limits");
  Thread = {};
  if (Loaded.Palette == 1)
    Thread.Configuration = Loaded;
}

static void storeConfiguration(const Instruction &What, Registers &State) {
  std::memcpy(What.Memory->address(State), &Thread.Configuration,
              sizeof(Thread.Configuration));
}

static void release(const Instruction &, Registers &) { Thread = {}; }

static void zero(const Instruction &What, Registers &) {
  configured(What, What.Tiles[0]) = {};
}

static void load(const Instruction &What, Registers &State) {
  unsigned Number = What.Tiles[0];
  Tile Loaded = {};
  configured(What, Number);
  for (size_t R = 0; R < rowsOf(Number); ++R)
    std::memcpy(Loaded.Data[R].data(),
                What.Memory->base(State) +
                    static_cast<int64_t>(R) * What.Memory->stride(State),
                bytesOf(Number));
  Thread.Tiles[Number] = Loaded;
}

static void store(const Instruction &What, Registers &State) {
  unsigned Number = What.Tiles[0];
  const Tile &Stored = configured(What, Number);
  for (size_t R = 0; R < rowsOf(Number); ++R)
    std::memcpy(What.Memory->base(State) +
                    static_cast<int64_t>(R) * What.Memory->stride(State),
                Stored.Data[R].data(), bytesOf(Number));
}

/// The operands of a product, which must be three tiles whose shapes fit.
static TileProduct productOf(const Instruction &What) {
  // The first is there twice: as the result, and as what is added to.
  unsigned Into = What.Tiles[0], A = What.Tiles[2], B = What.Tiles[3];
  TileProduct P = {configured(What, Into), configured(What, A),
                   configured(What, B),    rowsOf(Into),
                   bytesOf(Into) / 4,      bytesOf(A) / 4};
  if (Into == A || Into == B || A == B)
    raise(What, "a tile comes twice");
  if (rowsOf(A) != P.Rows || rowsOf(B) != P.Groups ||
      bytesOf(B) / 4 != P.Columns)
    raise(What, "the shapes of the tiles do not fit");
  return P;
}

static float fromBF16(uint16_t Value) {
  return std::bit_cast<float>(static_cast<uint32_t>(Value) << 16);
}

/// Even and odd elements of a row are summed apart, with one rounding for a
/// product and its sum. Subnormal numbers are zero whatever MXCSR says.
static void multiplyBF16(const Instruction &What, Registers &) {
  _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON);
  _MM_SET_DENORMALS_ZERO_MODE(_MM_DENORMALS_ZERO_ON);
  TileProduct P = productOf(What);
  using Row = std::array<float, MaxRowBytes / 4>;
  std::array<Row, MaxRows> EvenB, OddB;
  for (size_t K = 0; K < P.Groups; ++K)
    for (size_t N = 0; N < P.Columns; ++N) {
      EvenB[K][N] = fromBF16(P.B.at<uint16_t>(K, 2 * N));
      OddB[K][N] = fromBF16(P.B.at<uint16_t>(K, 2 * N + 1));
    }
  for (size_t M = 0; M < P.Rows; ++M) {
    Row Even = {}, Odd = {};
    for (size_t K = 0; K < P.Groups; ++K) {
      float EvenA = fromBF16(P.A.at<uint16_t>(M, 2 * K));
      float OddA = fromBF16(P.A.at<uint16_t>(M, 2 * K + 1));
      for (size_t N = 0; N < P.Columns; ++N) {
        Even[N] = std::fma(EvenA, EvenB[K][N], Even[N]);
        Odd[N] = std::fma(OddA, OddB[K][N], Odd[N]);
      }
    }
    auto *Into = P.Into.row<float>(M);
    for (size_t N = 0; N < P.Columns; ++N)
      Into[N] += Even[N] + Odd[N];
  }
}

template <typename OfA, typename OfB>
static void multiplyBytes(const Instruction &What, Registers &) {
  TileProduct P = productOf(What);
  for (size_t M = 0; M < P.Rows; ++M)
    for (size_t K = 0; K < P.Groups; ++K) {
      const OfA *A = P.A.row<OfA>(M) + 4 * K;
      const OfB *B = P.B.row<OfB>(K);
      // Sums wrap around.
      auto *Row = P.Into.row<uint32_t>(M);
      for (size_t N = 0; N < P.Columns; ++N)
        Row[N] +=
            static_cast<uint32_t>(A[0] * B[4 * N] + A[1] * B[4 * N + 1] +
                                  A[2] * B[4 * N + 2] + A[3] * B[4 * N + 3]);
    }
}

Emulation tenon::emulation::tileEmulation(const Instruction &What) {
  struct Named {
    const char *Name;
    Emulation Does;
  };
  static constexpr std::array<Named, 11> Known = {{
      {"LDTILECFG", loadConfiguration},
      {"STTILECFG", storeConfiguration},
      {"TILERELEASE", release},
      {"TILEZERO", zero},
      {"TILELOADD", load},
      {"TILESTORED", store},
      {"TDPBF16PS", multiplyBF16},
      {"TDPBSSD", multiplyBytes<int8_t, int8_t>},
      {"TDPBSUD", multiplyBytes<int8_t, uint8_t>},
      {"TDPBUSD", multiplyBytes<uint8_t, int8_t>},
      {"TDPBUUD", multiplyBytes<uint8_t, uint8_t>},
  }};
  const auto *Found = std::ranges::find(Known, What.Name, &Named::Name);
  return Found == Known.end() ? nullptr : Found->Does;
}

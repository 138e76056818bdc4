//===- Tiles.h - Tile registers ---------------------------------*- C++ -*-===//
//
// A tile register holds 16 rows of 64 bytes. One instruction adds to 16 rows of
// 16 f32 sums the products of 16 rows of 32 bf16 with 16 columns of as many,
// which lie in pairs: row i of their tile has elements 2 i and 2 i + 1 of each
// column side by side. Of bytes there are up to 64 in a row, in fours, and sums
// are i32; tiles may be smaller.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_CODEGEN_TILES_H
#define TENON_PASSES_CODEGEN_TILES_H

#include "passes/Codegen/KernelBuilder.h"

#include "mlir/Dialect/AMX/AMXDialect.h"

namespace tenon {

/// Rows of a tile, and columns of a tile of sums.
inline constexpr int64_t TileRows = 16;
/// bf16 of a row of a tile, which are multiplied and summed.
inline constexpr int64_t TileFeatures = 32;

/// The tile of `Rows` rows of `Bytes` i8 that begins at `At`.
inline mlir::Value loadByteTile(KernelBuilder &B, int64_t Rows, int64_t Bytes,
                                mlir::Value Buffer, mlir::ValueRange At) {
  return mlir::amx::TileLoadOp::create(
      B, mlir::amx::TileType::get({Rows, Bytes}, B.getI8Type()), Buffer, At);
}

/// The tile of bf16 that begins at `At`; its rows are as far apart as those of
/// `Buffer`.
inline mlir::Value loadTile(KernelBuilder &B, mlir::Value Buffer,
                            mlir::ValueRange At) {
  return mlir::amx::TileLoadOp::create(
      B, mlir::amx::TileType::get({TileRows, TileFeatures}, B.getBF16Type()),
      Buffer, At);
}

inline mlir::amx::TileType sumTileType(KernelBuilder &B) {
  return mlir::amx::TileType::get({TileRows, Lanes}, B.getF32Type());
}

/// The tile of f32 sums that begins at `At`.
inline mlir::Value loadSums(KernelBuilder &B, mlir::Value Buffer,
                            mlir::ValueRange At) {
  return mlir::amx::TileLoadOp::create(B, sumTileType(B), Buffer, At);
}

/// A tile of f32 sums that are zero.
inline mlir::Value zeroTile(KernelBuilder &B) {
  return mlir::amx::TileZeroOp::create(B, sumTileType(B));
}

inline void storeTile(KernelBuilder &B, mlir::Value Sums, mlir::Value Buffer,
                      mlir::ValueRange At) {
  mlir::amx::TileStoreOp::create(B, Buffer, At, Sums);
}

/// `Sums` and the products of `Rows` with `Columns`.
inline mlir::Value multiplyTiles(KernelBuilder &B, mlir::Value Rows,
                                 mlir::Value Columns, mlir::Value Sums) {
  return mlir::amx::TileMulFOp::create(B, Sums.getType(), Rows, Columns, Sums);
}

/// i32 sums of the products of s8 `Rows`, all 16, with s8 `Columns`, in fours.
inline mlir::Value multiplyByteTiles(KernelBuilder &B, mlir::Value Rows,
                                     mlir::Value Columns) {
  auto Type = mlir::amx::TileType::get({TileRows, Lanes}, B.getI32Type());
  return mlir::amx::TileMulIOp::create(B, Type, Rows, Columns,
                                       mlir::amx::TileZeroOp::create(B, Type));
}

} // namespace tenon

#endif // TENON_PASSES_CODEGEN_TILES_H

//===- Tiles.h - Tile registers of bf16 -------------------------*- C++ -*-===//
//
// A tile register holds 16 rows of 64 bytes. One instruction adds to 16 rows of
// 16 f32 sums the products of 16 rows of 32 bf16 with 16 columns of as many,
// which lie in pairs: row i of their tile has elements 2 i and 2 i + 1 of each
// column side by side.
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

} // namespace tenon

#endif // TENON_PASSES_CODEGEN_TILES_H

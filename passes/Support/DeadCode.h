//===- DeadCode.h - What nothing uses ---------------------------*- C++ -*-===//

#ifndef TENON_PASSES_SUPPORT_DEADCODE_H
#define TENON_PASSES_SUPPORT_DEADCODE_H

#include "mlir/IR/Iterators.h"
#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tenon {

/// Erases the operations in `Root` that have no effect and no uses.
inline void eraseDeadOperations(mlir::Operation *Root) {
  Root->walk<mlir::WalkOrder::PostOrder, mlir::ReverseIterator>(
      [&](mlir::Operation *Op) {
        if (Op != Root && mlir::isOpTriviallyDead(Op))
          Op->erase();
      });
}

} // namespace tenon

#endif // TENON_PASSES_SUPPORT_DEADCODE_H

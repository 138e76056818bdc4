//===- Remarks.h - Why something was done, or was not -----------*- C++ -*-===//
//
// Every remark says, beside what happened, which operation it happened to, with
// shapes, formats and weights, and the layers whose function that is in.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_SUPPORT_REMARKS_H
#define TENON_PASSES_SUPPORT_REMARKS_H

#include "mlir/IR/Operation.h"

namespace tenon {

/// Says that `Op` was changed as `Name` describes.
void remarkPassed(mlir::Operation *Op, llvm::StringRef Category,
                  llvm::StringRef Name, const llvm::Twine &What);

/// Says why `Name` did not happen to `Op`, which it would have been good for.
void remarkMissed(mlir::Operation *Op, llvm::StringRef Category,
                  llvm::StringRef Name, const llvm::Twine &Why);

/// Says what was chosen for `Op`, and why.
void remarkChosen(mlir::Operation *Op, llvm::StringRef Category,
                  llvm::StringRef Name, const llvm::Twine &What);

} // namespace tenon

#endif // TENON_PASSES_SUPPORT_REMARKS_H

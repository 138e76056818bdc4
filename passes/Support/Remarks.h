//===- Remarks.h - Why something was done, or was not -----------*- C++ -*-===//

#ifndef TENON_PASSES_SUPPORT_REMARKS_H
#define TENON_PASSES_SUPPORT_REMARKS_H

#include "mlir/IR/Operation.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace tenon {

/// Options of a remark of category `Category` called `Name` about `Op`.
inline mlir::remark::RemarkOpts remarkAbout(mlir::Operation *Op,
                                            llvm::StringRef Category,
                                            llvm::StringRef Name) {
  llvm::StringRef Function;
  if (auto Parent = Op->getParentOfType<mlir::FunctionOpInterface>())
    Function = Parent.getName();
  return mlir::remark::RemarkOpts::name(Name).category(Category).function(
      Function);
}

/// Says that `Op` was changed as `Name` describes.
inline void remarkPassed(mlir::Operation *Op, llvm::StringRef Category,
                         llvm::StringRef Name, const llvm::Twine &What) {
  mlir::remark::passed(Op->getLoc(), remarkAbout(Op, Category, Name))
      << What.str();
}

/// Says why `Name` did not happen to `Op`.
inline void remarkMissed(mlir::Operation *Op, llvm::StringRef Category,
                         llvm::StringRef Name, const llvm::Twine &Why) {
  mlir::remark::missed(Op->getLoc(), remarkAbout(Op, Category, Name))
      << mlir::remark::reason("{0}", Why.str());
}

} // namespace tenon

#endif // TENON_PASSES_SUPPORT_REMARKS_H

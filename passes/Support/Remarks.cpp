//===- Remarks.cpp - Why something was done, or was not -------------------===//

#include "passes/Support/Remarks.h"

#include "dialects/Dnn/Dnn.h"
#include "passes/Support/Describe.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace tenon;

static remark::RemarkOpts about(Operation *Op, StringRef Category,
                                StringRef Name) {
  StringRef Function;
  if (auto Parent = Op->getParentOfType<FunctionOpInterface>())
    Function = Parent.getName();
  return remark::RemarkOpts::name(Name).category(Category).function(Function);
}

/// Adds where and what `Op` is.
static void finish(remark::detail::InFlightRemark Remark, Operation *Op) {
  if (!Remark)
    return;
  Remark << remark::detail::Remark::Arg("Operation", describeOperation(Op));
  if (std::string Layers = layersOf(Op); !Layers.empty())
    Remark << remark::detail::Remark::Arg("Layers", Layers);
  // The same layer is placed once for each level.
  if (auto Module = Op->getParentOfType<ModuleOp>())
    if (auto Target = Module->getAttrOfType<dnn::TargetAttr>(dnn::attr::Target))
      Remark << remark::detail::Remark::Arg("Level", Target.getLevel());
}

void tenon::remarkPassed(Operation *Op, StringRef Category, StringRef Name,
                         const Twine &What) {
  auto Remark = remark::passed(Op->getLoc(), about(Op, Category, Name));
  Remark << What.str();
  finish(std::move(Remark), Op);
}

void tenon::remarkMissed(Operation *Op, StringRef Category, StringRef Name,
                         const Twine &Why) {
  auto Remark = remark::missed(Op->getLoc(), about(Op, Category, Name));
  Remark << remark::reason("{0}", Why.str());
  finish(std::move(Remark), Op);
}

void tenon::remarkChosen(Operation *Op, StringRef Category, StringRef Name,
                         const Twine &What) {
  auto Remark = remark::analysis(Op->getLoc(), about(Op, Category, Name));
  Remark << What.str();
  finish(std::move(Remark), Op);
}

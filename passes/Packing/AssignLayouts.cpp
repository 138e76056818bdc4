//===- AssignLayouts.cpp - The layout of each parameter -------------------===//

#include "passes/Packing/Passes.h"

#include "passes/Support/Remarks.h"
#include "passes/Support/Scopes.h"

#include "llvm/ADT/StringSet.h"

namespace tenon {
#define GEN_PASS_DEF_ASSIGNLAYOUTS
#include "passes/Packing/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

namespace {

struct AssignLayouts : public tenon::impl::AssignLayoutsBase<AssignLayouts> {
  void runOnOperation() override {
    ScopeNames Scopes(getOperation());
    SmallVector<ParameterOp> Parameters;
    WalkResult Walked = getOperation().walk([&](Operation *Op) {
      if (auto Parameter = dyn_cast<ParameterOp>(Op))
        Parameters.push_back(Parameter);
      FailureOr<SmallVector<WeightUse>> Uses = weightUsesOf(Op);
      if (failed(Uses))
        return WalkResult::interrupt();
      // Quantised weights come in panels only, whoever reads them.
      for (const WeightUse &Use : *Uses)
        if (Use.Layout == LayoutKind::Panels ||
            isa<QuantType>(getElementTypeOrSelf(Use.Operand->get())))
          if (auto Parameter = Use.Operand->get().getDefiningOp<ParameterOp>())
            InPanels.insert(Parameter);
      return WalkResult::advance();
    });
    if (Walked.wasInterrupted())
      return signalPassFailure();

    // A name is stored in panels when any op of any layer reads it so. Ops that
    // share a name must agree, hence the fixpoint.
    llvm::StringSet<> PanelNames;
    bool Changed = true;
    while (Changed) {
      Changed = false;
      for (ParameterOp Op : Parameters) {
        std::vector<std::string> Names =
            Scopes.namesOf(Op.getScope(), Op.getKey());
        if (!InPanels.contains(Op) && llvm::none_of(Names, [&](StringRef Name) {
              return PanelNames.contains(Name);
            }))
          continue;
        InPanels.insert(Op);
        for (StringRef Name : Names)
          Changed |= PanelNames.insert(Name).second;
      }
    }

    for (ParameterOp Op : Parameters) {
      LayoutKind Layout = LayoutKind::RowMajor;
      if (cast<RankedTensorType>(Op.getType()).getRank() == 1)
        Layout = LayoutKind::Vector;
      else if (InPanels.contains(Op))
        Layout = LayoutKind::Panels;
      Op->setAttr(dnn::attr::Layout,
                  dnn::LayoutKindAttr::get(&getContext(), Layout));
      if (Layout != LayoutKind::Vector)
        remarkChosen(Op, "packing", "AssignLayouts",
                     Twine(Op.getKey()) + " is stored as " +
                         infoOf(Layout).Name);
    }
  }

  llvm::SmallPtrSet<Operation *, 16> InPanels;
};

} // namespace

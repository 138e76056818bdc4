//===- ChoosePacking.cpp - The layout of each parameter -------------------===//

#include "passes/Packing/Passes.h"

#include "passes/Support/Remarks.h"
#include "passes/Support/Scopes.h"

#include "llvm/ADT/StringSet.h"

namespace tenon {
#define GEN_PASS_DEF_CHOOSEPACKING
#include "passes/Packing/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

namespace {

struct ChoosePacking : public tenon::impl::ChoosePackingBase<ChoosePacking> {
  void runOnOperation() override {
    ScopeNames Scopes(getOperation());
    SmallVector<ParameterOp> Parameters;
    getOperation().walk([&](ParameterOp Op) { Parameters.push_back(Op); });

    // A name is multiplied with when any op of any layer multiplies with it.
    // Ops that share a name must agree, hence the fixpoint.
    llvm::StringSet<> Multiplied;
    bool Changed = true;
    while (Changed) {
      Changed = false;
      for (ParameterOp Op : Parameters) {
        std::vector<std::string> Names = namesOf(Scopes, Op);
        if (!isMultiplied(Op) && llvm::none_of(Names, [&](StringRef Name) {
              return Multiplied.contains(Name);
            }))
          continue;
        for (StringRef Name : Names)
          Changed |= Multiplied.insert(Name).second;
      }
    }

    for (ParameterOp Op : Parameters) {
      auto Type = cast<RankedTensorType>(Op.getType());
      dnn::LayoutKind Layout = dnn::LayoutKind::Rows;
      if (Type.getRank() == 1)
        Layout = dnn::LayoutKind::Vector;
      else if (Type.getRank() == 3)
        Layout = dnn::LayoutKind::Panels;
      else if (isMultiplied(Op) ||
               llvm::any_of(namesOf(Scopes, Op), [&](StringRef Name) {
                 return Multiplied.contains(Name);
               }))
        Layout = dnn::LayoutKind::Panels;
      count(Layout);
      Op->setAttr(
          LayoutAttrName,
          StringAttr::get(&getContext(), dnn::stringifyLayoutKind(Layout)));
      if (Type.getRank() != 1)
        remarkPassed(Op, "packing", "ChoosePacking",
                     Twine(Op.getKey()) + " is stored as " +
                         dnn::stringifyLayoutKind(Layout));
    }
  }

  static std::vector<std::string> namesOf(const ScopeNames &Scopes,
                                          ParameterOp Op) {
    std::vector<std::string> Names;
    for (StringAttr Scope : Scopes.of(Op.getScope()))
      Names.push_back(ScopeNames::fullName(Scope, Op.getKey()));
    return Names;
  }

  /// Whether anything multiplies the matrix with rows. Others gather rows of
  /// it (tables, biases of experts) or read them one by one (latent attention).
  static bool isMultiplied(ParameterOp Op) {
    return cast<RankedTensorType>(Op.getType()).getRank() == 2 &&
           llvm::any_of(Op->getUsers(), [](Operation *User) {
             return !isa<EmbeddingOp, MixtureOp, LatentAttentionOp,
                         OnlineAttentionOp>(User);
           });
  }

  void count(dnn::LayoutKind Layout) {
    switch (Layout) {
    case dnn::LayoutKind::Panels:
      ++NumPanels;
      break;
    case dnn::LayoutKind::Rows:
      ++NumRows;
      break;
    case dnn::LayoutKind::Vector:
      ++NumVectors;
      break;
    }
  }
};

} // namespace

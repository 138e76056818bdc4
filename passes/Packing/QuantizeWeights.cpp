//===- QuantizeWeights.cpp - The formats that the user asks for -----------===//

#include "passes/Packing/Passes.h"

#include "passes/Support/Remarks.h"
#include "passes/Support/Scopes.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/GlobPattern.h"

namespace tenon {
#define GEN_PASS_DEF_QUANTIZEWEIGHTS
#include "passes/Packing/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

/// Fewer output features than this fill too little of a panel.
static constexpr int64_t LeastOutFeatures = PanelWidth;

namespace {

/// What one choice of the user stands for.
struct Quantization {
  StringRef Name;
  StorageFormat Body;
  /// Of heads and token embeddings, whose errors go straight into the logits.
  StorageFormat Head;
};

constexpr Quantization Choices[] = {
    {"int8", StorageFormat::Q8_0, StorageFormat::Q8_0},
    {"int4", StorageFormat::IQ4_NL, StorageFormat::Q6_0},
};

struct QuantizeWeights
    : public tenon::impl::QuantizeWeightsBase<QuantizeWeights> {
  using QuantizeWeightsBase::QuantizeWeightsBase;

  void runOnOperation() override {
    if (Format == "none")
      return;
    const auto *Choice = llvm::find_if(
        Choices, [&](const Quantization &C) { return C.Name == Format; });
    if (Choice == std::end(Choices)) {
      getOperation().emitError()
          << "format: expected none, int8 or int4, got '" << Format << "'";
      return signalPassFailure();
    }
    SmallVector<llvm::GlobPattern> Patterns;
    for (const std::string &Text : Exclude) {
      llvm::Expected<llvm::GlobPattern> Pattern =
          llvm::GlobPattern::create(Text);
      if (!Pattern) {
        getOperation().emitError()
            << "exclude: '" << Text
            << "': " << llvm::toString(Pattern.takeError());
        return signalPassFailure();
      }
      Patterns.push_back(std::move(*Pattern));
    }
    if (failed(collectUses()))
      return signalPassFailure();
    ScopeNames Scopes(getOperation());
    SmallVector<std::pair<ParameterOp, std::vector<std::string>>> Parameters;
    getOperation().walk([&](ParameterOp Op) {
      std::vector<std::string> Names;
      for (StringAttr Scope : Scopes.of(Op.getScope()))
        Names.push_back(ScopeNames::fullName(Scope, Op.getKey()));
      Parameters.emplace_back(Op, std::move(Names));
    });

    // A tensor has one format, whatever names it: what one operation or the
    // user keeps stays everywhere.
    llvm::StringSet<> Kept, Heads;
    for (auto &[Op, Names] : Parameters)
      for (StringRef Name : Names) {
        if (!Quantized.contains(Op) ||
            llvm::any_of(Patterns, [&](const llvm::GlobPattern &P) {
              return P.match(Name);
            }))
          Kept.insert(Name);
        if (OfHeads.contains(Op))
          Heads.insert(Name);
      }
    for (bool Changed = true; Changed;) {
      Changed = false;
      for (auto &[Op, Names] : Parameters) {
        auto IsIn = [](const llvm::StringSet<> &Set) {
          return [&](StringRef Name) { return Set.contains(Name); };
        };
        bool Keep = llvm::any_of(Names, IsIn(Kept));
        bool IsHead = llvm::any_of(Names, IsIn(Heads));
        for (StringRef Name : Names) {
          Changed |= Keep && Kept.insert(Name).second;
          Changed |= IsHead && Heads.insert(Name).second;
        }
      }
    }
    for (auto &[Op, Names] : Parameters) {
      if (Names.empty() || Kept.contains(Names.front()))
        continue;
      auto Type = cast<RankedTensorType>(Op.getType());
      StorageFormat Chosen =
          Heads.contains(Names.front()) ? Choice->Head : Choice->Body;
      Op.getResult().setType(Type.clone(storedType(&getContext(), Chosen)));
      remarkChosen(Op, "packing", "QuantizeWeights",
                   Twine(Op.getKey()) + " is quantised to " +
                       infoOf(Chosen).Name);
    }
  }

private:
  /// Finds the matrices of plain numbers that can be read in panels by all that
  /// use them, and those of heads.
  LogicalResult collectUses() {
    llvm::SmallPtrSet<Operation *, 16> Refused;
    WalkResult Walked = getOperation().walk([&](Operation *Op) {
      FailureOr<SmallVector<WeightUse>> Uses = weightUsesOf(Op);
      if (failed(Uses))
        return WalkResult::interrupt();
      for (const WeightUse &Use : *Uses) {
        auto Parameter = Use.Operand->get().getDefiningOp<ParameterOp>();
        if (!Parameter)
          continue;
        auto Type = cast<RankedTensorType>(Parameter.getType());
        bool IsTokens = isTokenTable(Op);
        bool CanBe = (Use.Layout == LayoutKind::Panels || IsTokens) &&
                     isa<FloatType>(Type.getElementType()) &&
                     Type.getShape()[Type.getRank() - 2] >= LeastOutFeatures &&
                     !isRouter(Op);
        if (!CanBe)
          Refused.insert(Parameter);
        Quantized.insert(Parameter);
        if (IsTokens || Use.OfOutputRows)
          OfHeads.insert(Parameter);
      }
      return WalkResult::advance();
    });
    for (Operation *Op : Refused)
      Quantized.erase(Op);
    return failure(Walked.wasInterrupted());
  }

  static bool isTokenTable(Operation *Op) {
    auto Embedding = dyn_cast<EmbeddingOp>(Op);
    return Embedding && Embedding.getIndex() == IndexKind::Token;
  }

  /// Whether experts are chosen by what `Op` computes.
  static bool isRouter(Operation *Op) {
    return isa<LinearOp>(Op) &&
           llvm::any_of(Op->getUsers(), [&](Operation *User) {
             auto Moe = dyn_cast<MoeOp>(User);
             return Moe && Moe.getLogits() == Op->getResult(0);
           });
  }

  llvm::SmallPtrSet<Operation *, 16> Quantized, OfHeads;
};

} // namespace

//===- QuantizeWeights.cpp - The formats that the user asks for -----------===//

#include "passes/Packing/Passes.h"

#include "passes/Support/Remarks.h"
#include "passes/Support/Scopes.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/GlobPattern.h"

#include <map>

namespace tenon {
#define GEN_PASS_DEF_QUANTIZEWEIGHTS
#include "passes/Packing/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

/// Fewer output features than this fill too little of a panel.
static constexpr int64_t LeastOutFeatures = PanelWidth;

/// Of each parameter, all in the scopes that its function is called with.
using ParameterNames = llvm::MapVector<ParameterOp, std::vector<std::string>>;

static ParameterNames namesOfParameters(ModuleOp Module) {
  ScopeNames Scopes(Module);
  ParameterNames Result;
  Module.walk([&](ParameterOp Op) {
    Result[Op] = Scopes.namesOf(Op.getScope(), Op.getKey());
  });
  return Result;
}

/// Whether `Pattern` names a parameter: its key, or the tensor that the key
/// takes a slice or a transpose of.
static bool matches(const llvm::GlobPattern &Pattern, StringRef Name) {
  return Pattern.match(Name) || Pattern.match(Name.take_until([](char C) {
    return C == '[' || C == '^';
  }));
}

/// Whether a matrix, or each one of a stack, fills its panels.
static bool isLargeMatrix(ArrayRef<int64_t> Shape) {
  return Shape.size() > 1 && Shape[Shape.size() - 2] >= LeastOutFeatures;
}

bool tenon::mayQuantize(ArrayRef<std::string> Exclude, StringRef Name,
                        ArrayRef<int64_t> Shape) {
  return isLargeMatrix(Shape) &&
         llvm::none_of(Exclude, [&](const std::string &Text) {
           return matches(llvm::cantFail(llvm::GlobPattern::create(Text)),
                          Name);
         });
}

std::optional<UnusedPattern>
tenon::findUnusedPattern(ModuleOp Module, ArrayRef<std::string> Patterns) {
  ParameterNames Parameters = namesOfParameters(Module);
  for (const std::string &Text : Patterns) {
    auto Pattern = llvm::cantFail(llvm::GlobPattern::create(Text));
    auto Matches = [&](StringRef Name) { return matches(Pattern, Name); };
    std::string Matrix;
    bool IsUsed = false;
    for (auto &[Op, Names] : Parameters) {
      if (cast<RankedTensorType>(ParameterOp(Op).getType()).getRank() < 2)
        continue;
      IsUsed |= llvm::any_of(Names, Matches);
      if (Matrix.empty() && !Names.empty())
        Matrix = Names.front();
    }
    if (!IsUsed)
      return UnusedPattern{Text, Matrix};
  }
  return std::nullopt;
}

namespace {

/// What a matrix is to the model. A tensor has one format, whatever names it
/// and whatever uses it: the last of its roles counts.
enum class Role {
  Body,
  /// Projections to the values of attention: small, and their errors weigh
  /// most.
  Values,
  /// Heads and token embeddings, whose errors go straight into the logits.
  Head,
  /// What stays.
  Kept,
};

/// What one choice of the user stands for.
struct Quantization {
  StringRef Name;
  StorageFormat Body, Values, Head;

  StorageFormat formatOf(Role Of) const {
    switch (Of) {
    case Role::Body:
      return Body;
    case Role::Values:
      return Values;
    case Role::Head:
      return Head;
    case Role::Kept:
      break;
    }
    llvm_unreachable("what is kept is not quantised");
  }
};

constexpr Quantization Quantizations[] = {
    {"int8", StorageFormat::Q8_0, StorageFormat::Q8_0, StorageFormat::Q8_0},
    {"int4", StorageFormat::IQ4_NL, StorageFormat::Q6_0, StorageFormat::Q6_0},
};

struct QuantizeWeights
    : public tenon::impl::QuantizeWeightsBase<QuantizeWeights> {
  using QuantizeWeightsBase::QuantizeWeightsBase;

  void runOnOperation() override {
    if (Format == "none")
      return;
    const auto *Choice = llvm::find_if(
        Quantizations, [&](const Quantization &C) { return C.Name == Format; });
    if (Choice == std::end(Quantizations)) {
      emitError(getOperation().getLoc())
          << "format: expected none, int8 or int4, got '" << Format << "'";
      return signalPassFailure();
    }
    FailureOr<SmallVector<llvm::GlobPattern>> Patterns = parseExclude();
    if (failed(Patterns))
      return signalPassFailure();
    separateCallees(*Patterns);
    if (failed(collectUses()))
      return signalPassFailure();
    ParameterNames Parameters = namesOfParameters(getOperation());

    llvm::StringMap<Role> RoleOf;
    auto Raise = [&](StringRef Name, Role To) {
      Role &Now = RoleOf.try_emplace(Name, Role::Body).first->second;
      bool Changed = Now < To;
      Now = std::max(Now, To);
      return Changed;
    };
    // Names that have one format.
    SmallVector<SmallVector<StringRef>> Together;
    for (auto &[Op, Names] : Parameters) {
      for (StringRef Name : Names) {
        Raise(Name, Roles.lookup_or(Op, Role::Kept));
        if (isNamed(*Patterns, Name))
          Raise(Name, Role::Kept);
      }
      Together.emplace_back(Names.begin(), Names.end());
    }
    for (auto [First, Second] : Alike) {
      SmallVector<StringRef> Both;
      for (ParameterOp Op : {First, Second})
        Both.append(Parameters[Op].begin(), Parameters[Op].end());
      Together.push_back(std::move(Both));
    }
    for (bool Changed = true; Changed;) {
      Changed = false;
      for (ArrayRef<StringRef> Names : Together) {
        Role Last = Role::Body;
        for (StringRef Name : Names)
          Last = std::max(Last, RoleOf[Name]);
        for (StringRef Name : Names)
          Changed |= Raise(Name, Last);
      }
    }
    for (auto &[Op, Names] : Parameters) {
      if (Names.empty() || RoleOf[Names.front()] == Role::Kept)
        continue;
      auto Type = cast<RankedTensorType>(Op.getType());
      StorageFormat Chosen = Choice->formatOf(RoleOf[Names.front()]);
      ParameterOp(Op).getResult().setType(
          Type.clone(storedType(&getContext(), Chosen)));
      remarkChosen(Op, "packing", "QuantizeWeights",
                   Twine(ParameterOp(Op).getKey()) + " is quantised to " +
                       infoOf(Chosen).Name);
    }
  }

private:
  FailureOr<SmallVector<llvm::GlobPattern>> parseExclude() {
    SmallVector<llvm::GlobPattern> Patterns;
    for (const std::string &Text : Exclude) {
      llvm::Expected<llvm::GlobPattern> Pattern =
          llvm::GlobPattern::create(Text);
      if (!Pattern)
        return getOperation().emitError()
               << "exclude: '" << Text
               << "': " << llvm::toString(Pattern.takeError());
      Patterns.push_back(std::move(*Pattern));
    }
    return Patterns;
  }

  static bool isNamed(ArrayRef<llvm::GlobPattern> Patterns, StringRef Name) {
    return llvm::any_of(Patterns, [&](const llvm::GlobPattern &Pattern) {
      return matches(Pattern, Name);
    });
  }

  /// Gives calls of one function whose matrices are not excluded alike, as of
  /// layers, functions of their own: a parameter has one type for all scopes.
  void separateCallees(ArrayRef<llvm::GlobPattern> Exclude) {
    ModuleOp Module = getOperation();
    ScopeNames Scopes(Module);
    SymbolTable Symbols(Module);
    SmallVector<func::CallOp> Calls;
    Module.walk([&](func::CallOp Call) { Calls.push_back(Call); });
    // By callee, and which of its parameters are excluded.
    std::map<std::pair<Operation *, std::vector<bool>>, func::FuncOp> Versions;
    llvm::DenseMap<Operation *, int64_t> Counts;
    for (func::CallOp Call : Calls) {
      auto Callee = Symbols.lookup<func::FuncOp>(Call.getCallee());
      std::vector<bool> Excluded;
      Callee.walk([&](ParameterOp Op) {
        auto Argument = dyn_cast<BlockArgument>(Op.getScope());
        Excluded.push_back(
            Argument &&
            isLargeMatrix(cast<ShapedType>(Op.getType()).getShape()) &&
            llvm::any_of(
                Scopes.namesOf(Call.getOperand(Argument.getArgNumber()),
                               Op.getKey()),
                [&](StringRef Name) { return isNamed(Exclude, Name); }));
      });
      auto [Version, IsNew] =
          Versions.try_emplace({Callee, std::move(Excluded)}, Callee);
      if (IsNew && Counts[Callee]++ > 0) {
        Version->second = Callee.clone();
        Version->second.setName(
            (Callee.getName() + "_" + Twine(Counts[Callee] - 1)).str());
        Symbols.insert(Version->second, std::next(Callee->getIterator()));
      }
      Call.setCallee(Version->second.getName());
    }
  }

  /// Finds the roles of matrices, and those that must be of one format.
  LogicalResult collectUses() {
    WalkResult Walked = getOperation().walk([&](Operation *Op) {
      FailureOr<SmallVector<WeightUse>> Uses = weightUsesOf(Op);
      if (failed(Uses))
        return WalkResult::interrupt();
      for (const WeightUse &Use : *Uses)
        if (auto Parameter = Use.Operand->get().getDefiningOp<ParameterOp>()) {
          Role &Now = Roles.try_emplace(Parameter, Role::Body).first->second;
          Now = std::max(Now, roleOf(Op, Use, Parameter));
        }
      if (auto Moe = dyn_cast<MoeOp>(Op))
        if (auto Gate = Moe.getGate().getDefiningOp<ParameterOp>())
          if (auto Up = Moe.getUp().getDefiningOp<ParameterOp>())
            Alike.emplace_back(Gate, Up);
      return WalkResult::advance();
    });
    return failure(Walked.wasInterrupted());
  }

  /// What stays are matrices that are not of plain numbers, or that something
  /// does not read in panels.
  static Role roleOf(Operation *Op, const WeightUse &Use,
                     ParameterOp Parameter) {
    auto Type = cast<RankedTensorType>(Parameter.getType());
    bool IsTokens = isTokenTable(Op);
    if ((Use.Layout != LayoutKind::Panels && !IsTokens) ||
        !isa<FloatType>(Type.getElementType()) ||
        !isLargeMatrix(Type.getShape()) || isRouter(Op))
      return Role::Kept;
    if (IsTokens || Use.OfOutputRows)
      return Role::Head;
    return makesValues(Op) ? Role::Values : Role::Body;
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

  /// Whether attention takes what `Op` computes as its values.
  static bool makesValues(Operation *Op) {
    return isa<LinearOp>(Op) &&
           llvm::any_of(Op->getUsers(), [&](Operation *User) {
             Value Result = Op->getResult(0);
             if (auto Append = dyn_cast<CacheAppendOp>(User))
               return Append.getValues() == Result;
             auto Attention = dyn_cast<AttentionOp>(User);
             return Attention && Attention.getValues() == Result;
           });
  }

  llvm::DenseMap<Operation *, Role> Roles;
  /// Gates and ups of experts.
  SmallVector<std::pair<ParameterOp, ParameterOp>> Alike;
};

} // namespace

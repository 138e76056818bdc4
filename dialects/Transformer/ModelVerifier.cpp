//===- ModelVerifier.cpp - What a valid model is --------------------------===//
//
// The section "Modules" of SPEC.md, one function per group of constraints.
// Every message begins with the number of its constraint.
//
//===----------------------------------------------------------------------===//

#include "dialects/Transformer/CacheNumbering.h"
#include "dialects/Transformer/RowCounts.h"
#include "runtime/Abi/Limits.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

#include <set>

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

namespace {

class ModelVerifier {
public:
  explicit ModelVerifier(ModuleOp Module) : Module(Module) {}

  LogicalResult verify() {
    if (failed(verifySizes()) || failed(verifyOperations()) ||
        failed(verifyTypes()) || failed(verifyAttributes()) ||
        failed(verifyCalls()) || failed(verifyWeights()) ||
        failed(verifySignatures()) || failed(verifyEntries()) ||
        failed(verifyReturns()) || failed(verifyCacheLinearity(Module)) ||
        failed(verifyScopes()) || failed(verifyLayers()) ||
        failed(verifyTables()) || failed(verifyParameters()) ||
        failed(verifyConcatenation()) || failed(verifyLayouts()) ||
        failed(verifyRows()) || failed(verifyRoles()))
      return failure();
    return failure(failed(verifyHandles()) || failed(verifyAppends()));
  }

private:
  /// module_c1: the sizes that requests are checked against. module_c24: sizes
  /// that artifacts hold.
  LogicalResult verifySizes() {
    for (auto [Name, Most] :
         {std::pair(StringRef(attr::Vocabulary), MaxVocabulary),
          {StringRef(attr::MaxSequence), MaxContext},
          {StringRef(attr::MaxSource), MaxContext},
          {StringRef(attr::TokenTypes), MaxVocabulary}}) {
      bool IsRequired = Name == attr::Vocabulary || Name == attr::MaxSequence;
      if (IsRequired && !Module->hasAttr(Name))
        return Module.emitError()
               << "module_c1: expected the module attribute " << Name;
      if (sizeOr(Name, 1) > Most)
        return Module.emitError()
               << "module_c24: " << Name << ": expected at most " << Most
               << ", got " << sizeOr(Name, 1);
    }
    return success();
  }

  /// module_c24: activations and parameters have columns, and not too many.
  /// module_c26: parameters are of a type that is packed as it is.
  LogicalResult verifyTypes() {
    for (auto &[Function, Calls] : Functions)
      for (Operation &Op : Function.getBody().front()) {
        if (auto Parameter = dyn_cast<ParameterOp>(Op);
            Parameter && getElementTypeOrSelf(Parameter.getType()).isF16())
          return Parameter.emitOpError()
                 << "module_c26: parameter of type " << Parameter.getType()
                 << ": expected f32, which f16 is widened to, or bf16";
        for (Type T : Op.getResultTypes()) {
          auto Tensor = dyn_cast<RankedTensorType>(T);
          if (!Tensor)
            continue;
          int64_t Elements = 1;
          for (int64_t Size : Tensor.getShape())
            if (!ShapedType::isDynamic(Size) &&
                (Size < 1 || Size > MaxSide ||
                 __builtin_mul_overflow(Elements, Size, &Elements)))
              return Op.emitOpError() << "module_c24: result of type " << T
                                      << ": expected sizes of 1 to " << MaxSide;
        }
      }
    return success();
  }

  /// module_c2: what there may be.
  LogicalResult verifyOperations() {
    for (Operation &Op : *Module.getBody()) {
      auto Function = dyn_cast<func::FuncOp>(Op);
      if (!Function)
        return Op.emitOpError() << "module_c2: expected functions only";
      if (Function.isExternal() || !llvm::hasSingleElement(Function.getBody()))
        return Function.emitOpError() << "module_c2: expected one block";
      for (Operation &Inner : Function.getBody().front()) {
        if (isa<DispatchOp>(Inner) || Inner.getNumRegions() != 0 ||
            !(isa<func::CallOp, func::ReturnOp>(Inner) ||
              isa_and_nonnull<TransformerDialect>(Inner.getDialect())))
          return Inner.emitOpError()
                 << "module_c2: expected an operation of the transformer "
                    "dialect, a call or a return";
      }
      Functions[Function];
    }
    return success();
  }

  /// module_c19: what passes write down is not there yet.
  LogicalResult verifyAttributes() {
    WalkResult Walked = Module.walk([](Operation *Op) -> WalkResult {
      for (NamedAttribute Attribute : Op->getDiscardableAttrs())
        if (Attribute.getName().strref().contains('.') &&
            !isModelAttribute(Attribute.getName()))
          return Op->emitOpError()
                 << "module_c19: attribute " << Attribute.getName()
                 << ": expected those of a model only";
      return WalkResult::advance();
    });
    return failure(Walked.wasInterrupted());
  }

  /// module_c3: entries call layer functions, and every function is called.
  LogicalResult verifyCalls() {
    for (auto &[Function, Calls] : Functions)
      for (auto Call : Function.getOps<func::CallOp>()) {
        auto Callee = Module.lookupSymbol<func::FuncOp>(Call.getCallee());
        if (!isEntry(Function) || isEntry(Callee))
          return Call.emitOpError()
                 << "module_c3: expected calls from entries to functions that "
                    "are none";
        Functions[Callee].push_back(Call);
      }
    for (auto &[Function, Calls] : Functions)
      if (!isEntry(Function) && Calls.empty())
        return Function.emitOpError() << "module_c3: expected a call of it";
    return success();
  }

  /// module_c4: stored tensors are parameters of the function that uses them.
  /// Uses of matrices are known.
  LogicalResult verifyWeights() {
    for (auto &[Function, Calls] : Functions)
      for (Operation &Op : Function.getBody().front()) {
        for (OpOperand &Operand : Op.getOpOperands())
          if (isWeight(Operand.get().getType()) &&
              !Operand.get().getDefiningOp<ParameterOp>())
            return Op.emitOpError()
                   << "module_c4: operand " << Operand.getOperandNumber()
                   << ": expected a transformer.parameter, got another value "
                      "of type "
                   << Operand.get().getType();
        if (failed(weightUsesOf(&Op)))
          return failure();
      }
    return success();
  }

  /// module_c5: types of arguments and results, one batch.
  LogicalResult verifySignatures() {
    for (auto &[Function, Calls] : Functions) {
      for (Type T : Function.getArgumentTypes())
        if (!isa<BatchType, ScopeType, CacheType>(T) && !isActivations(T))
          return Function.emitOpError()
                 << "module_c5: argument of type " << T
                 << ": expected batch, scopes, caches and activations";
      for (Type T : Function.getResultTypes())
        if (!isa<CacheType>(T) && !isActivations(T))
          return Function.emitOpError() << "module_c5: result of type " << T
                                        << ": expected activations and caches";
      int64_t Batches =
          llvm::count_if(Function.getArgumentTypes(), llvm::IsaPred<BatchType>);
      if (Batches != 1)
        return Function.emitOpError()
               << "module_c5: expected one argument of type "
                  "!transformer.batch, got "
               << Batches;
    }
    return success();
  }

  /// module_c6, c7 and c23: roles, arguments and results of entries.
  LogicalResult verifyEntries() {
    llvm::StringSet<> Roles;
    for (auto &[Function, Calls] : Functions) {
      if (!isEntry(Function))
        continue;
      StringRef Role = roleOf(Function);
      if (!Roles.insert(Role).second)
        return Function.emitOpError() << "module_c6: expected one entry of "
                                         "role '"
                                      << Role << "', got a second one";
      if (Function.isPrivate())
        return Function.emitOpError() << "module_c6: expected a public entry";
      for (Type T : Function.getArgumentTypes())
        if (!isa<BatchType, CacheType>(T))
          return Function.emitOpError()
                 << "module_c7: argument of type " << T
                 << ": expected the batch and caches of an entry";
      int64_t Results =
          llvm::count_if(Function.getResultTypes(), isActivations);
      if (Results != 1)
        return Function.emitOpError()
               << "module_c7: expected one result of activations, got "
               << Results;
      if (!isActivations(Function.getResultTypes().front()))
        return Function.emitOpError()
               << "module_c7: expected activations as the first result";
      if (!Function->hasAttr(attr::Output))
        return Function.emitOpError()
               << "module_c7: expected the attribute " << attr::Output;
      OutputKind Output = *outputOf(Function);
      if ((Role == "step" && isPerSequence(Output)) ||
          (Role == "embed" && Output != OutputKind::Pooled))
        return Function.emitOpError()
               << "module_c23: output of '" << Role << "': expected "
               << (Role == "step" ? "logits or hidden" : "pooled") << ", got "
               << infoOf(Output).Name;
      int64_t Width =
          cast<ShapedType>(Function.getResultTypes().front()).getDimSize(1);
      if (Output == OutputKind::Logits && Width > vocabularyOf(Function))
        return Function.emitOpError()
               << "module_c23: logits: expected at most "
               << vocabularyOf(Function) << ", one per token, got " << Width;
    }
    if (Roles.empty())
      return Module.emitError() << "module_c6: expected a function with the "
                                   "attribute "
                                << attr::Role;
    return success();
  }

  /// The argument that a cache handle began as; null when it is none of the
  /// function's.
  static BlockArgument originOf(Value Handle) {
    auto IsCache = [](Value V) { return isa<CacheType>(V.getType()); };
    while (Operation *Op = Handle.getDefiningOp()) {
      // Of an append or a call: the operand in the same place among its caches.
      auto Place = llvm::count_if(
          Op->getResults().take_front(cast<OpResult>(Handle).getResultNumber()),
          IsCache);
      SmallVector<Value> Operands =
          llvm::filter_to_vector(Op->getOperands(), IsCache);
      if (Place >= static_cast<int64_t>(Operands.size()))
        return {};
      Handle = Operands[Place];
    }
    return cast<BlockArgument>(Handle);
  }

  /// module_c8: no cache is lost.
  LogicalResult verifyHandles() {
    for (auto &[Function, Calls] : Functions)
      for (Operation &Op : Function.getBody().front())
        for (Value Result : Op.getResults())
          if (isa<CacheType>(Result.getType()) && !isPassedOn(Result))
            return Op.emitOpError()
                   << "module_c8: expected the cache that it gives to be "
                      "taken or returned";
    return success();
  }

  /// Whether `Handle` is taken by another operation or returned.
  static bool isPassedOn(Value Handle) {
    return llvm::any_of(Handle.getUsers(), [](Operation *User) {
      return isa<func::ReturnOp>(User) ||
             llvm::any_of(User->getResultTypes(), llvm::IsaPred<CacheType>);
    });
  }

  /// module_c8: caches come out in the order they go in.
  /// module_c9: each returned activation is computed by the function, and once.
  LogicalResult verifyReturns() {
    for (auto &[Function, Calls] : Functions) {
      SmallVector<BlockArgument> Caches =
          llvm::filter_to_vector(Function.getArguments(), [](Value V) {
            return isa<CacheType>(V.getType());
          });
      unsigned Next = 0;
      llvm::SmallPtrSet<Value, 4> Returned;
      Operation *Return = Function.getBody().front().getTerminator();
      for (Value Result : Return->getOperands()) {
        if (isa<CacheType>(Result.getType())) {
          if (Next == Caches.size() || originOf(Result) != Caches[Next])
            return Return->emitOpError()
                   << "module_c8: expected caches in the order of the "
                      "function's arguments";
          ++Next;
        } else if (isa<BlockArgument>(Result)) {
          return Return->emitOpError()
                 << "module_c9: expected a value that the function computes, "
                    "got one of its arguments";
        } else if (!Returned.insert(Result).second) {
          return Return->emitOpError()
                 << "module_c9: expected each value once, got one twice";
        }
      }
    }
    return success();
  }

  /// The scopes that `Scope` stands for: itself, or what calls pass.
  SmallVector<ScopeOp> scopesOf(Value Scope) {
    if (auto Op = Scope.getDefiningOp<ScopeOp>())
      return {Op};
    auto Argument = cast<BlockArgument>(Scope);
    auto Function = cast<func::FuncOp>(Argument.getOwner()->getParentOp());
    SmallVector<ScopeOp> Scopes;
    for (func::CallOp Call : Functions[Function])
      if (auto Op =
              Call.getOperand(Argument.getArgNumber()).getDefiningOp<ScopeOp>())
        Scopes.push_back(Op);
    return Scopes;
  }

  /// module_c10: one layer per name, and one for every scope that a cache is
  /// used with.
  LogicalResult verifyScopes() {
    llvm::StringMap<std::optional<uint64_t>> Layers;
    for (auto &[Function, Calls] : Functions)
      for (auto Scope : Function.getOps<ScopeOp>()) {
        auto [Known, IsNew] =
            Layers.try_emplace(Scope.getName(), Scope.getLayer());
        if (!IsNew && Known->second != Scope.getLayer())
          return Scope.emitOpError()
                 << "module_c10: scope '" << Scope.getName()
                 << "': expected the same layer wherever it is named";
      }
    for (auto &[Function, Calls] : Functions)
      for (Operation &Op : Function.getBody().front()) {
        if (isa<func::CallOp, func::ReturnOp>(Op) || !cacheOperandOf(&Op))
          continue;
        for (Value Operand : Op.getOperands())
          if (isa<ScopeType>(Operand.getType()))
            for (ScopeOp Scope : scopesOf(Operand))
              if (!Scope.getLayer())
                return Op.emitOpError()
                       << "module_c10: scope '" << Scope.getName()
                       << "': expected one with a layer, for a cache";
      }
    return success();
  }

  /// module_c20: layers are numbered from 0 without gaps, and one scope has
  /// the cache of a layer.
  LogicalResult verifyLayers() {
    llvm::SmallSetVector<uint64_t, 8> Numbers;
    for (auto &[Function, Calls] : Functions)
      for (auto Scope : Function.getOps<ScopeOp>())
        if (Scope.getLayer())
          Numbers.insert(*Scope.getLayer());
    llvm::DenseMap<uint64_t, StringRef> Names;
    for (auto &[Function, Calls] : Functions)
      for (Operation &Op : Function.getBody().front()) {
        if (auto Scope = dyn_cast<ScopeOp>(Op);
            Scope && Scope.getLayer() && *Scope.getLayer() >= Numbers.size())
          return Op.emitOpError()
                 << "module_c20: layer " << *Scope.getLayer() << " of "
                 << Numbers.size() << ": expected numbers from 0 without gaps";
        if (isa<func::CallOp, func::ReturnOp>(Op) || !cacheOperandOf(&Op))
          continue;
        for (Value Operand : Op.getOperands())
          if (isa<ScopeType>(Operand.getType()))
            for (ScopeOp Scope : scopesOf(Operand)) {
              StringRef Known =
                  Names.try_emplace(*Scope.getLayer(), Scope.getName())
                      .first->second;
              if (Known != Scope.getName())
                return Op.emitOpError()
                       << "module_c20: cache of layer " << *Scope.getLayer()
                       << ": expected one scope, got '" << Known << "' and '"
                       << Scope.getName() << "'";
            }
      }
    return success();
  }

  int64_t sizeOr(StringRef Name, int64_t Default) {
    auto Size = Module->getAttrOfType<IntegerAttr>(Name);
    return Size ? Size.getInt() : Default;
  }

  /// Tokens that `Entry` looks up and answers are below this.
  int64_t vocabularyOf(func::FuncOp Entry) {
    auto Own = Entry->getAttrOfType<IntegerAttr>(attr::Vocabulary);
    return Own ? Own.getInt() : sizeOr(attr::Vocabulary, 0);
  }

  /// The least rows that a table may have which `Embedding` looks up for
  /// `Entry`.
  int64_t leastRows(EmbeddingOp Embedding, func::FuncOp Entry) {
    auto Offset = static_cast<int64_t>(Embedding.getOffset());
    int64_t Sequence = sizeOr(attr::MaxSequence, 0);
    switch (Embedding.getIndex()) {
    case IndexKind::Token:
      return Offset + vocabularyOf(Entry);
    case IndexKind::Position:
      // Only the decoder of an encoder-decoder goes by its own length.
      return Offset + (roleOf(Entry) == "step"
                           ? Sequence
                           : sizeOr(attr::MaxSource, Sequence));
    case IndexKind::TokenType:
      return Offset + sizeOr(attr::TokenTypes, 0);
    }
    llvm_unreachable("all indices are covered");
  }

  /// module_c11: a table has a row for every index that requests may hold.
  LogicalResult verifyTables() {
    for (auto &[Function, Calls] : Functions) {
      for (auto Embedding : Function.getOps<EmbeddingOp>()) {
        if (Embedding.getIndex() == IndexKind::TokenType &&
            !Module->hasAttr(attr::TokenTypes))
          return Embedding.emitOpError()
                 << "module_c11: expected the module attribute "
                 << attr::TokenTypes << " with embeddings of token types";
        for (func::FuncOp Entry : entriesOf(Function)) {
          int64_t Least = leastRows(Embedding, Entry);
          int64_t Rows = Embedding.getTable().getType().getDimSize(0);
          if (Rows < Least)
            return Embedding.emitOpError()
                   << "module_c11: table of "
                   << stringifyIndexKind(Embedding.getIndex())
                   << " embeddings: expected at least " << Least
                   << " rows, got " << Rows;
        }
      }
    }
    return success();
  }

  /// module_c22: a parameter has one type wherever it is named.
  LogicalResult verifyParameters() {
    llvm::StringMap<Type> Types;
    for (auto &[Function, Calls] : Functions)
      for (auto Parameter : Function.getOps<ParameterOp>())
        for (ScopeOp Scope : scopesOf(Parameter.getScope())) {
          std::string Name = (Scope.getName() + "." + Parameter.getKey()).str();
          Type Known =
              Types.try_emplace(Name, Parameter.getType()).first->second;
          if (Known != Parameter.getType())
            return Parameter.emitOpError()
                   << "module_c22: parameter '" << Name << "': expected "
                   << Known << " as elsewhere, got " << Parameter.getType();
        }
    return success();
  }

  /// Known since module_c4.
  static SmallVector<WeightUse> usesOf(Operation *Op) {
    FailureOr<SmallVector<WeightUse>> Uses = weightUsesOf(Op);
    return succeeded(Uses) ? *Uses : SmallVector<WeightUse>();
  }

  /// module_c25: what one matmul reads as one matrix lies in one scope.
  LogicalResult verifyConcatenation() {
    for (auto &[Function, Calls] : Functions)
      for (auto Matmul : Function.getOps<MatmulOp>())
        for (OperandRange Parts : {Matmul.getWeights(), Matmul.getBiases()})
          for (Value Part : Parts) {
            auto First = Parts.front().getDefiningOp<ParameterOp>();
            auto Parameter = Part.getDefiningOp<ParameterOp>();
            if (Parameter.getScope() != First.getScope() ||
                getElementTypeOrSelf(Part) != getElementTypeOrSelf(First))
              return Matmul.emitOpError()
                     << "module_c25: expected weights of one scope and one "
                        "element type";
          }
    return success();
  }

  /// module_c12: a parameter is stored once, so all that use it must read one
  /// layout.
  LogicalResult verifyLayouts() {
    llvm::StringSet<> Multiplied;
    SmallVector<std::pair<std::string, WeightUse>> Uses;
    for (auto &[Function, Calls] : Functions)
      for (Operation &Op : Function.getBody().front())
        for (WeightUse Use : usesOf(&Op)) {
          auto Parameter = Use.Operand->get().getDefiningOp<ParameterOp>();
          for (ScopeOp Scope : scopesOf(Parameter.getScope()))
            Uses.emplace_back(
                (Scope.getName() + "." + Parameter.getKey()).str(), Use);
        }
    for (auto &[Name, Use] : Uses)
      if (Use.Layout == LayoutKind::Panels)
        Multiplied.insert(Name);
    for (auto &[Name, Use] : Uses)
      if (!Use.ReadsPanels && Multiplied.contains(Name))
        return Use.Operand->getOwner()->emitOpError()
               << "module_c12: parameter '" << Name
               << "': expected one that no matmul uses too, for this reads it "
                  "row by row";
    return success();
  }

  /// module_c13 and c14, see RowCounts. module_c15: an entry answers the rows
  /// that its output stands for.
  LogicalResult verifyRows() {
    FailureOr<RowCounts> Rows = RowCounts::compute(Module);
    if (failed(Rows))
      return failure();
    for (auto &[Function, Calls] : Functions) {
      if (!isEntry(Function))
        continue;
      OutputKind Output = *outputOf(Function);
      CountKind Expected =
          isPerSequence(Output) ? CountKind::Sequences : CountKind::OutputRows;
      Operation *Return = Function.getBody().front().getTerminator();
      for (Value Result : Return->getOperands())
        if (isActivations(Result.getType()) && Rows->of(Result) != Expected)
          return Return->emitOpError()
                 << "module_c15: rows of the output '" << infoOf(Output).Name
                 << "': expected " << stringifyCountKind(Expected) << ", got "
                 << stringifyCountKind(Rows->of(Result));
    }
    return success();
  }

  /// What a runtime gives an entry of each role. module_c16: caches.
  /// module_c17: the length of source texts. module_c18: input features.
  LogicalResult verifyRoles() {
    bool HasCross = false;
    llvm::StringSet<> TakeFeatures;
    std::optional<int64_t> FeatureWidth;
    for (auto &[Function, Calls] : Functions) {
      SmallVector<func::FuncOp> Entries = entriesOf(Function);
      if (isEntry(Function))
        for (Type T : Function.getArgumentTypes())
          if (auto Cache = dyn_cast<CacheType>(T)) {
            HasCross |= Cache.isCross();
            if (roleOf(Function) != "step" &&
                !(roleOf(Function) == "encode" && Cache.isCross()))
              return Function.emitOpError()
                     << "module_c16: argument of type " << T << ": expected "
                     << "caches of the entry 'step', or cross-attention caches "
                     << "of 'encode'";
          }
      for (Operation &Op : Function.getBody().front()) {
        if (Op.hasTrait<trait::AppendsToCache>() &&
            cast<CacheType>(cacheOperandOf(&Op)->get().getType()).isCross())
          for (func::FuncOp Entry : Entries)
            if (roleOf(Entry) != "encode")
              return Op.emitOpError() << "module_c16: a cross-attention cache: "
                                         "expected the entry 'encode' to fill "
                                         "it, got '"
                                      << roleOf(Entry) << "'";
        auto Input = dyn_cast<InputFeaturesOp>(Op);
        if (!Input)
          continue;
        int64_t Width = Input.getType().getDimSize(1);
        if (Width != FeatureWidth.value_or(Width))
          return Op.emitOpError()
                 << "module_c18: width of input features: "
                    "expected "
                 << *FeatureWidth << " as elsewhere, got " << Width;
        FeatureWidth = Width;
        for (func::FuncOp Entry : Entries) {
          TakeFeatures.insert(roleOf(Entry));
          if (roleOf(Entry) != "encode_image")
            return Op.emitOpError() << "module_c18: input features: expected "
                                       "the entry 'encode_image', got '"
                                    << roleOf(Entry) << "'";
        }
      }
    }
    if (HasCross != Module->hasAttr(attr::MaxSource))
      return Module.emitError()
             << "module_c17: expected the module attribute " << attr::MaxSource
             << (HasCross ? " with" : " only with")
             << " cross-attention caches";
    for (auto &[Function, Calls] : Functions)
      if (isEntry(Function) && roleOf(Function) == "encode_image" &&
          TakeFeatures.empty())
        return Function.emitOpError()
               << "module_c18: expected input features in 'encode_image'";
    return success();
  }

  /// A cache, numbered over the module, and the scope that it is used with.
  using CacheLayer = std::pair<size_t, StringRef>;

  /// The number of the cache that `Argument` of an entry is.
  size_t numberOf(BlockArgument Argument) {
    CacheNumbering Numbers(Module);
    CacheNumbering::Entry Entry = Numbers.entry();
    size_t Number = 0;
    for (BlockArgument Each : Argument.getOwner()->getArguments().take_front(
             Argument.getArgNumber() + 1))
      if (auto Cache = dyn_cast<CacheType>(Each.getType()))
        Number = Entry.number(Cache);
    return Number;
  }

  /// What `Op` uses its cache with: `Op` is of an entry, or of the callee of
  /// `Call`.
  SmallVector<CacheLayer> layersOf(Operation *Op, func::CallOp Call) {
    auto Passed = [&](Value V) {
      auto Argument = dyn_cast<BlockArgument>(V);
      return Call && Argument ? Call.getOperand(Argument.getArgNumber()) : V;
    };
    Value Handle = Passed(originOf(cacheOperandOf(Op)->get()));
    SmallVector<CacheLayer> Layers;
    for (Value Operand : Op->getOperands())
      if (isa<ScopeType>(Operand.getType()))
        Layers.emplace_back(numberOf(originOf(Handle)),
                            Passed(Operand).getDefiningOp<ScopeOp>().getName());
    return Layers;
  }

  /// module_c21: a cache that is read holds something: by then the step, or
  /// the encoder for cross-attention, has appended to it.
  LogicalResult verifyAppends() {
    SmallVector<func::FuncOp> Entries;
    for (auto &[Function, Calls] : Functions)
      if (isEntry(Function))
        Entries.push_back(Function);
    // Source texts are encoded before steps.
    llvm::stable_sort(Entries, [](func::FuncOp A, func::FuncOp B) {
      return (roleOf(A) == "step") < (roleOf(B) == "step");
    });
    std::set<CacheLayer> Appended;
    auto Visit = [&](Operation *Op, func::CallOp Call) -> LogicalResult {
      if (isa<func::CallOp, func::ReturnOp>(Op) || !cacheOperandOf(Op))
        return success();
      for (CacheLayer Layer : layersOf(Op, Call))
        if (Op->hasTrait<trait::AppendsToCache>())
          Appended.insert(Layer);
        else if (!Appended.count(Layer))
          return Op->emitOpError()
                 << "module_c21: cache of scope '" << Layer.second
                 << "': expected an append to it before";
      return success();
    };
    for (func::FuncOp Entry : Entries)
      for (Operation &Op : Entry.getBody().front()) {
        if (failed(Visit(&Op, {})))
          return failure();
        if (auto Call = dyn_cast<func::CallOp>(Op))
          for (Operation &Inner :
               Module.lookupSymbol<func::FuncOp>(Call.getCallee())
                   .getBody()
                   .front())
            if (failed(Visit(&Inner, Call)))
              return failure();
      }
    return success();
  }

  /// The entries that run `Function`.
  SmallVector<func::FuncOp> entriesOf(func::FuncOp Function) {
    if (isEntry(Function))
      return {Function};
    return llvm::map_to_vector(Functions[Function], [](func::CallOp Call) {
      return Call->getParentOfType<func::FuncOp>();
    });
  }

  static bool isEntry(func::FuncOp Function) {
    return Function && Function->hasAttr(attr::Role);
  }
  static StringRef roleOf(func::FuncOp Entry) {
    return Entry->getAttrOfType<StringAttr>(attr::Role).getValue();
  }

  ModuleOp Module;
  /// Every function, in order, and its calls.
  llvm::MapVector<func::FuncOp, SmallVector<func::CallOp>> Functions;
};

} // namespace

LogicalResult tenon::transformer::verifyModel(ModuleOp Module) {
  return ModelVerifier(Module).verify();
}

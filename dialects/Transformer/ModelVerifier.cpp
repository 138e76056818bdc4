//===- ModelVerifier.cpp - Functions of a valid model ---------------------===//

#include "dialects/Transformer/ModelVerifier.h"

#include "dialects/Transformer/Checks.h"
#include "dialects/Transformer/RowCounts.h"
#include "runtime/Abi/Limits.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

LogicalResult ModelVerifier::verify() {
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

LogicalResult ModelVerifier::verifyInterface() {
  for (auto Function : Module.getOps<func::FuncOp>())
    Functions[Function];
  return failure(failed(verifySizes()) || failed(verifyEntries()));
}

LogicalResult ModelVerifier::verifyFused(Variant Of) {
  for (auto Function : Module.getOps<func::FuncOp>())
    if (!Function.isExternal() && variantOf(Function).value_or(Of) == Of)
      Functions[Function];
  for (auto &[Function, Calls] : Functions)
    if (isEntry(Function))
      for (auto Dispatch : Function.getOps<DispatchOp>())
        for (FunctionOpInterface Callee : calleesOf(Dispatch))
          if (auto *Found = Functions.find(cast<func::FuncOp>(*Callee));
              Found != Functions.end())
            Found->second.push_back(Dispatch);
  return failure(failed(verifySizes()) || failed(verifyEntries()) ||
                 failed(verifyRoles()) || failed(verifyAppends()));
}

LogicalResult ModelVerifier::verifySizes() {
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
  for (auto Function : Module.getOps<func::FuncOp>())
    if (auto Own = Function->getAttrOfType<IntegerAttr>(attr::MaxSequence);
        Own && Own.getInt() > MaxContext)
      return Function.emitOpError()
             << "module_c24: " << attr::MaxSequence << ": expected at most "
             << MaxContext << ", got " << Own.getInt();
  return success();
}

LogicalResult ModelVerifier::verifyTypes() {
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

LogicalResult ModelVerifier::verifyOperations() {
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

LogicalResult ModelVerifier::verifyAttributes() {
  WalkResult Walked = Module.walk([](Operation *Op) -> WalkResult {
    for (NamedAttribute Attribute : Op->getDiscardableAttrs())
      if (Attribute.getName().strref().contains('.') &&
          !isModelAttribute(Attribute.getName()))
        return Op->emitOpError()
               << "module_c19: attribute " << Attribute.getName()
               << ": expected those of a model only";
    return WalkResult::advance();
  });
  if (Walked.wasInterrupted())
    return failure();
  for (auto &[Function, Calls] : Functions) {
    auto Own = Function->getAttrOfType<IntegerAttr>(attr::MaxSequence);
    if (!Own)
      continue;
    if (!isEntry(Function) || roleOf(Function) != "encode_image")
      return Function.emitOpError()
             << "module_c27: " << attr::MaxSequence
             << ": expected it on the module or the entry 'encode_image'";
  }
  return success();
}

LogicalResult ModelVerifier::verifyCalls() {
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

LogicalResult ModelVerifier::verifySignatures() {
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

LogicalResult ModelVerifier::verifyEntries() {
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
    int64_t Results = llvm::count_if(Function.getResultTypes(), isActivations);
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

LogicalResult ModelVerifier::verifyReturns() {
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

LogicalResult ModelVerifier::verifyScopes() {
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

SmallVector<ScopeOp> ModelVerifier::scopesOf(Value Scope) {
  if (auto Op = Scope.getDefiningOp<ScopeOp>())
    return {Op};
  auto Argument = cast<BlockArgument>(Scope);
  auto Function = cast<func::FuncOp>(Argument.getOwner()->getParentOp());
  SmallVector<ScopeOp> Scopes;
  for (Operation *Call : Functions[Function])
    if (auto Op =
            Call->getOperand(Argument.getArgNumber()).getDefiningOp<ScopeOp>())
      Scopes.push_back(Op);
  return Scopes;
}

LogicalResult ModelVerifier::verifyRows() {
  FailureOr<RowCounts> Rows = RowCounts::compute(Module);
  if (failed(Rows))
    return failure();
  for (auto &[Function, Calls] : Functions) {
    if (!isEntry(Function))
      continue;
    OutputKind Output = *outputOf(Function);
    CountKind Expected = rowsOf(Output);
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

LogicalResult ModelVerifier::verifyRoles() {
  bool HasCross = false;
  llvm::StringSet<> TakeFeatures;
  std::optional<int64_t> FeatureWidth;
  MergeFeaturesOp Merge;
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
      if (auto Merges = dyn_cast<MergeFeaturesOp>(Op)) {
        for (func::FuncOp Entry : Entries) {
          if (roleOf(Entry) != "step")
            return Merges.emitOpError() << "module_c18: merged features: "
                                           "expected the entry 'step', got '"
                                        << roleOf(Entry) << "'";
          if (Merge)
            return Merges.emitOpError()
                   << "module_c18: expected features to be merged once";
          Merge = Merges;
          if (static_cast<int64_t>(Merges.getToken()) >= vocabularyOf(Entry))
            return Merges.emitOpError()
                   << "module_c18: token: expected one below the vocabulary of "
                   << vocabularyOf(Entry) << ", got " << Merges.getToken();
        }
        continue;
      }
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
           << (HasCross ? " with" : " only with") << " cross-attention caches";
  for (auto &[Function, Calls] : Functions)
    if (isEntry(Function) && roleOf(Function) == "encode_image" &&
        TakeFeatures.empty())
      return Function.emitOpError()
             << "module_c18: expected input features in 'encode_image'";
  return Merge ? verifyMerge(Merge) : success();
}

LogicalResult ModelVerifier::verifyMerge(MergeFeaturesOp Merge) {
  for (auto &[Function, Calls] : Functions) {
    if (!isEntry(Function) || roleOf(Function) != "encode_image")
      continue;
    OutputKind Output = *outputOf(Function);
    if (Output != OutputKind::Hidden)
      return Function.emitOpError()
             << "module_c18: output: expected hidden, for rows that 'step' "
                "merges, got "
             << infoOf(Output).Name;
    int64_t Width =
        cast<ShapedType>(Function.getResultTypes().front()).getDimSize(1);
    return checkEqual(Merge, "module_c18",
                      "width of merged features, rows of 'encode_image'", Width,
                      Merge.getType().getDimSize(1));
  }
  return Merge.emitOpError()
         << "module_c18: expected an entry 'encode_image' with merged features";
}

int64_t ModelVerifier::sizeOr(StringRef Name, int64_t Default) {
  auto Size = Module->getAttrOfType<IntegerAttr>(Name);
  return Size ? Size.getInt() : Default;
}

SmallVector<func::FuncOp> ModelVerifier::entriesOf(func::FuncOp Function) {
  if (isEntry(Function))
    return {Function};
  return llvm::map_to_vector(Functions[Function], [](Operation *Call) {
    return Call->getParentOfType<func::FuncOp>();
  });
}

bool ModelVerifier::isEntry(func::FuncOp Function) {
  return Function && Function->hasAttr(attr::Role);
}

StringRef ModelVerifier::roleOf(func::FuncOp Entry) {
  return Entry->getAttrOfType<StringAttr>(attr::Role).getValue();
}

LogicalResult tenon::transformer::verifyInterface(ModuleOp Module) {
  return ModelVerifier(Module).verifyInterface();
}

LogicalResult tenon::transformer::verifyFusedModel(ModuleOp Module) {
  return failure(failed(ModelVerifier(Module).verifyFused(Variant::Few)) ||
                 failed(ModelVerifier(Module).verifyFused(Variant::Many)));
}

LogicalResult tenon::transformer::verifyModel(ModuleOp Module) {
  return ModelVerifier(Module).verify();
}

//===- ModelCaches.cpp - Caches of a valid model --------------------------===//

#include "dialects/Transformer/ModelVerifier.h"

#include "dialects/Transformer/CacheNumbering.h"
#include "dialects/Transformer/RowCounts.h"

#include "llvm/ADT/SetVector.h"

#include <set>

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

BlockArgument ModelVerifier::originOf(Value Handle) {
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

LogicalResult ModelVerifier::verifyHandles() {
  for (auto &[Function, Calls] : Functions)
    for (Operation &Op : Function.getBody().front())
      for (Value Result : Op.getResults())
        if (isa<CacheType>(Result.getType()) && !isPassedOn(Result))
          return Op.emitOpError()
                 << "module_c8: expected the cache that it gives to be "
                    "taken or returned";
  return success();
}

bool ModelVerifier::isPassedOn(Value Handle) {
  return llvm::any_of(Handle.getUsers(), [](Operation *User) {
    return isa<func::ReturnOp>(User) ||
           llvm::any_of(User->getResultTypes(), llvm::IsaPred<CacheType>);
  });
}

LogicalResult ModelVerifier::verifyLayers() {
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

size_t ModelVerifier::numberOf(BlockArgument Argument) {
  CacheNumbering Numbers(Module);
  CacheNumbering::Entry Entry = Numbers.entry();
  size_t Number = 0;
  for (BlockArgument Each : Argument.getOwner()->getArguments().take_front(
           Argument.getArgNumber() + 1))
    if (auto Cache = dyn_cast<CacheType>(Each.getType()))
      Number = Entry.number(Cache);
  return Number;
}

SmallVector<ModelVerifier::CacheLayer>
ModelVerifier::layersOf(Operation *Op, Operation *Call) {
  auto Passed = [&](Value V) {
    auto Argument = dyn_cast<BlockArgument>(V);
    return Call && Argument ? Call->getOperand(Argument.getArgNumber()) : V;
  };
  SmallVector<CacheLayer> Layers;
  Value Handle = originOf(cacheOperandOf(Op)->get());
  BlockArgument Cache = Handle ? originOf(Passed(Handle)) : BlockArgument();
  // Of a dump that somebody wrote, caches and scopes may come from anywhere.
  if (!Cache)
    return Layers;
  for (Value Operand : Op->getOperands())
    if (isa<ScopeType>(Operand.getType()))
      if (auto Scope = Passed(Operand).getDefiningOp<ScopeOp>())
        Layers.emplace_back(numberOf(Cache), Scope.getName());
  return Layers;
}

LogicalResult ModelVerifier::verifyAppends() {
  SmallVector<func::FuncOp> Entries;
  for (auto &[Function, Calls] : Functions)
    if (isEntry(Function))
      Entries.push_back(Function);
  // Source texts are encoded before steps.
  llvm::stable_sort(Entries, [](func::FuncOp A, func::FuncOp B) {
    return (roleOf(A) == "step") < (roleOf(B) == "step");
  });
  std::set<CacheLayer> Appended;
  auto Visit = [&](Operation *Op, Operation *Call) -> LogicalResult {
    if (isa<func::CallOp, DispatchOp, func::ReturnOp>(Op) ||
        !cacheOperandOf(Op))
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
      for (FunctionOpInterface Callee : calleesOf(&Op))
        if (Functions.contains(cast<func::FuncOp>(*Callee)))
          for (Operation &Inner : Callee.getFunctionBody().front())
            if (failed(Visit(&Inner, &Op)))
              return failure();
    }
  return success();
}

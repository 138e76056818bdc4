//===- PlacedModule.cpp - What holds of all of a placed module ------------===//
//
// The section "Placed modules" of the dnn dialect's SPEC.md, in its order; what
// it says of rows is in PlacedRows.cpp.
//
//===----------------------------------------------------------------------===//

#include "passes/Verify/Passes.h"

#include "dialects/Transformer/ModelVerifier.h"
#include "passes/Packing/WeightTables.h"
#include "passes/Placement/LibraryMatmuls.h"
#include "passes/Support/Scopes.h"

#include "llvm/ADT/TypeSwitch.h"

#include <map>

using namespace mlir;
using namespace tenon;
namespace tr = tenon::transformer;

/// "CONSTRAINT: WHAT: expected a number of its own, 0 to COUNT - 1, got GOT".
static LogicalResult failNumber(Operation *Op, StringRef Constraint,
                                StringRef What, size_t Count, uint64_t Got) {
  return Op->emitOpError() << Constraint << ": " << What
                           << ": expected one of its own, 0 to " << Count - 1
                           << ", got " << static_cast<int64_t>(Got);
}

/// dnn_module_c1.
static LogicalResult verifyScopes(ModuleOp Module) {
  llvm::MapVector<StringAttr, SmallVector<dnn::ScopeOp>> Named;
  Module.walk(
      [&](dnn::ScopeOp Scope) { Named[Scope.getNameAttr()].push_back(Scope); });
  llvm::BitVector Taken(Named.size());
  for (auto &[Name, Scopes] : Named) {
    dnn::ScopeOp First = Scopes.front();
    uint64_t Number = First.getNumber();
    if (Number >= Named.size() || Taken.test(Number))
      return failNumber(First, "dnn_module_c1", "number", Named.size(), Number);
    Taken.set(Number);
    for (dnn::ScopeOp Scope : Scopes)
      if (Scope.getNumber() != Number || Scope.getLayer() != First.getLayer())
        return Scope.emitOpError()
               << "dnn_module_c1: scope " << Name
               << ": expected one number and layer wherever it is named";
  }
  return success();
}

/// dnn_module_c2.
static LogicalResult verifyIndices(ModuleOp Module) {
  for (const SharedIndices &Table : sharedIndices(Module)) {
    llvm::BitVector Taken(Table.size());
    for (const auto &[Identity, Ops] : Table) {
      auto IndexOf = [](Operation *Op) {
        return Op->getAttrOfType<IntegerAttr>("index");
      };
      for (Operation *Op : Ops)
        if (!IndexOf(Op))
          return Op->emitOpError() << "expected an index";
      IntegerAttr Index = IndexOf(Ops.front());
      uint64_t Number = Index.getValue().getZExtValue();
      if (Number >= Table.size() || Taken.test(Number))
        return failNumber(Ops.front(), "dnn_module_c2", "index", Table.size(),
                          Number);
      Taken.set(Number);
      for (Operation *Op : Ops)
        if (IndexOf(Op) != Index)
          return Op->emitOpError()
                 << "dnn_module_c2: index: expected " << Index.getInt()
                 << ", that of the same weight elsewhere, got "
                 << IndexOf(Op).getInt();
    }
  }
  return success();
}

/// dnn_module_c3.
static LogicalResult verifyCacheLayers(ModuleOp Module) {
  llvm::MapVector<StringAttr, dnn::ScopeOp> Named;
  Module.walk(
      [&](dnn::ScopeOp Scope) { Named.insert({Scope.getNameAttr(), Scope}); });
  llvm::SmallDenseSet<uint64_t> Numbers;
  for (auto &[Name, Scope] : Named)
    if (Scope.getLayer())
      Numbers.insert(*Scope.getLayer());
  for (auto &[Name, Scope] : Named)
    if (Scope.getLayer() && *Scope.getLayer() >= Numbers.size())
      return Scope.emitOpError()
             << "dnn_module_c3: layer: expected numbers from 0 without gaps, "
                "got "
             << *Scope.getLayer() << " of " << Numbers.size();
  ScopeNames Scopes(Module);
  llvm::DenseMap<uint64_t, StringAttr> OfLayer;
  WalkResult Walked = Module.walk([&](Operation *Op) -> WalkResult {
    if (isa<dnn::DispatchOp, dnn::KernelOp>(Op) ||
        llvm::none_of(Op->getOperandTypes(), llvm::IsaPred<tr::CacheType>))
      return WalkResult::advance();
    for (Value Operand : Op->getOperands())
      for (StringAttr Name : Scopes.of(Operand)) {
        std::optional<uint64_t> Layer = Named.lookup(Name).getLayer();
        if (!Layer)
          return Op->emitOpError() << "dnn_module_c3: scope " << Name
                                   << ": expected a layer, for a cache";
        StringAttr Known = OfLayer.try_emplace(*Layer, Name).first->second;
        if (Known != Name)
          return Op->emitOpError()
                 << "dnn_module_c3: cache of layer " << *Layer
                 << ": expected one scope, got " << Known << " and " << Name;
      }
    return WalkResult::advance();
  });
  return failure(Walked.wasInterrupted());
}

/// The entries that run each function, one level deep.
static llvm::DenseMap<Operation *, SmallVector<func::FuncOp>>
entriesOfFunctions(ModuleOp Module) {
  llvm::DenseMap<Operation *, SmallVector<func::FuncOp>> Entries;
  for (auto Entry : Module.getOps<func::FuncOp>()) {
    if (!Entry->hasAttr(tr::attr::Role))
      continue;
    Entries[Entry].push_back(Entry);
    Entry.walk([&](dnn::DispatchOp Dispatch) {
      for (StringRef Callee : {Dispatch.getFew(), Dispatch.getMany()})
        if (auto Function = Module.lookupSymbol<func::FuncOp>(Callee))
          Entries[Function].push_back(Entry);
    });
  }
  return Entries;
}

/// dnn_module_c4.
static LogicalResult verifyTableRows(ModuleOp Module) {
  int64_t Positions = 1;
  auto Count = [&](Operation *Op, StringRef Name) {
    if (auto Size = Op->getAttrOfType<IntegerAttr>(Name))
      Positions = std::max(Positions, Size.getInt());
  };
  Count(Module, tr::attr::MaxSequence);
  Count(Module, tr::attr::MaxSource);
  for (auto Function : Module.getOps<func::FuncOp>())
    Count(Function, tr::attr::MaxSequence);
  llvm::DenseMap<Operation *, SmallVector<func::FuncOp>> Entries =
      entriesOfFunctions(Module);
  WalkResult Walked = Module.walk([&](Operation *Op) -> WalkResult {
    auto Fail = [&](const Twine &Expected, int64_t Got) {
      return Op->emitOpError() << "dnn_module_c4: rows of the table: expected "
                               << Expected << ", got " << Got;
    };
    if (auto Table = dyn_cast<dnn::TableOp>(Op)) {
      int64_t Rows = Table.getType().getOutFeatures();
      if (Table.getContent().isByPosition() && Rows != Positions)
        return Fail(Twine(Positions) + ", one per position", Rows);
    } else if (auto Embedding = dyn_cast<dnn::EmbeddingOp>(Op)) {
      int64_t Rows = Embedding.getTable().getType().getOutFeatures();
      for (func::FuncOp Entry :
           Entries.lookup(Op->getParentOfType<func::FuncOp>()))
        if (int64_t Least = tr::leastTableRows(Embedding.getIndex(),
                                               Embedding.getOffset(), Entry);
            Rows < Least)
          return Fail("at least " + Twine(Least), Rows);
    }
    return WalkResult::advance();
  });
  return failure(Walked.wasInterrupted());
}

/// dnn_module_c5.
static LogicalResult verifyContents(ModuleOp Module) {
  WalkResult Walked = Module.walk([&](Operation *Op) -> WalkResult {
    auto Said = llvm::TypeSwitch<Operation *, Attribute>(Op)
                    .Case<dnn::RopeOp, dnn::SplitAppendOp, dnn::SplitStageOp>(
                        [](auto Rotates) { return Rotates.getRopeAttr(); })
                    .Case<dnn::AttentionOp>([](auto Attention) {
                      return Attention.getContentAttr();
                    })
                    .Default([](Operation *) { return Attribute(); });
    if (!Said)
      return WalkResult::advance();
    for (Value Operand : Op->getOperands())
      if (auto Table = Operand.getDefiningOp<dnn::TableOp>();
          Table && Table.getContent() != Said)
        return Op->emitOpError() << "dnn_module_c5: table: expected " << Said
                                 << ", got " << Table.getContent();
    return WalkResult::advance();
  });
  return failure(Walked.wasInterrupted());
}

/// dnn_module_c6.
static LogicalResult verifyPrimitives(ModuleOp Module) {
  llvm::MapVector<uint64_t, dnn::MatmulOp> Primitives;
  WalkResult Walked = Module.walk([&](dnn::MatmulOp Matmul) -> WalkResult {
    if (!Matmul.getPrimitive())
      return WalkResult::advance();
    dnn::MatmulOp First =
        Primitives.insert({*Matmul.getPrimitive(), Matmul}).first->second;
    if (!sharePrimitive(First, Matmul))
      return Matmul.emitOpError()
             << "dnn_module_c6: primitive " << *Matmul.getPrimitive()
             << ": expected equal matmuls to have it";
    return WalkResult::advance();
  });
  if (Walked.wasInterrupted())
    return failure();
  for (auto &[Number, Matmul] : Primitives)
    if (Number >= Primitives.size())
      return failNumber(Matmul, "dnn_module_c6", "primitive", Primitives.size(),
                        Number);
  return success();
}

/// dnn_module_c7.
static LogicalResult verifyBounds(ModuleOp Module) {
  auto BoundOf = [](Operation *Op, StringRef Name) {
    auto Bound = Op->getAttrOfType<IntegerAttr>(Name);
    return Bound ? Bound.getInt() : 0;
  };
  int64_t Few = BoundOf(Module, tr::attr::FewTokens);
  auto Check = [&](StringRef Callee, int64_t Tokens, int64_t OutputRows) {
    auto Function = Module.lookupSymbol<func::FuncOp>(Callee);
    for (auto [Name, Least] : {std::pair(tr::attr::MaxTokens, Tokens),
                               {tr::attr::MaxOutputRows, OutputRows}})
      if (BoundOf(Function, Name) < Least)
        return LogicalResult(
            Function.emitOpError()
            << "dnn_module_c7: " << Name << ": expected at least " << Least
            << ", as it is called with, got " << BoundOf(Function, Name));
    return LogicalResult(success());
  };
  WalkResult Walked = Module.walk([&](dnn::DispatchOp Dispatch) -> WalkResult {
    auto Entry = Dispatch->getParentOfType<func::FuncOp>();
    int64_t Tokens = BoundOf(Entry, tr::attr::MaxTokens);
    int64_t Rows = BoundOf(Entry, tr::attr::MaxOutputRows);
    bool ByTokens = Dispatch.getCount() == tr::CountKind::Tokens;
    if (failed(Check(Dispatch.getFew(),
                     ByTokens ? std::min(Few, Tokens) : Tokens,
                     std::min(Few, Rows))) ||
        failed(Check(Dispatch.getMany(), Tokens, Rows)))
      return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(Walked.wasInterrupted());
}

LogicalResult tenon::verifyHandles(ModuleOp Module) {
  return failure(failed(verifyScopes(Module)) ||
                 failed(verifyIndices(Module)) ||
                 failed(verifyCacheLayers(Module)));
}

/// dnn_module_c10.
LogicalResult tenon::verifyKernelNumbers(ModuleOp Module) {
  std::map<uint64_t, dnn::KernelOp> Numbered;
  WalkResult Walked = Module.walk([&](dnn::KernelOp Kernel) -> WalkResult {
    if (Numbered.insert({Kernel.getNumber(), Kernel}).second)
      return WalkResult::advance();
    return Kernel.emitOpError() << "dnn_module_c10: number: expected one of "
                                   "its own, got "
                                << Kernel.getNumber() << " again";
  });
  if (Walked.wasInterrupted())
    return failure();
  uint64_t Next = 0;
  for (auto &[Number, Kernel] : Numbered) {
    if (Number != Next)
      return Kernel.emitOpError() << "dnn_module_c10: number: expected " << Next
                                  << ", which no kernel has, got " << Number;
    ++Next;
  }
  return success();
}

/// dnn_module_c9 of buffers.
LogicalResult tenon::verifyOutputRows(ModuleOp Module) {
  WalkResult Walked = Module.walk([&](dnn::OutputOp Out) -> WalkResult {
    std::optional<OutputKind> Output =
        tr::outputOf(Out->getParentOfType<func::FuncOp>());
    auto Rows = Out.getRows().getDefiningOp<dnn::CountOp>();
    if (!Output || (Rows && Rows.getKind() == tr::rowsOf(*Output)))
      return WalkResult::advance();
    return Out.emitOpError()
           << "dnn_module_c9: rows of the output '" << infoOf(*Output).Name
           << "': expected " << tr::stringifyCountKind(tr::rowsOf(*Output));
  });
  return failure(Walked.wasInterrupted());
}

LogicalResult tenon::verifyPlacedModule(ModuleOp Module) {
  return failure(
      failed(verifyHandles(Module)) || failed(verifyTableRows(Module)) ||
      failed(verifyContents(Module)) || failed(verifyPrimitives(Module)) ||
      failed(verifyBounds(Module)) || failed(verifyPlacedRows(Module)));
}

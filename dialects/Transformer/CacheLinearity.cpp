//===- CacheLinearity.cpp - Cache handles are linear values ---------------===//

#include "dialects/Transformer/Transformer.h"

#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

namespace {

/// Finds who takes each handle. Functions are looked at on demand, callees
/// before their callers.
class Linearity {
public:
  explicit Linearity(ModuleOp Module) : Module(Module) {}

  LogicalResult verify() {
    for (auto Function : Module.getOps<FunctionOpInterface>())
      for (Block &Block : Function.getFunctionBody()) {
        for (BlockArgument Argument : Block.getArguments())
          if (failed(verifyHandle(Argument)))
            return failure();
        for (Operation &Op : Block)
          for (Value Result : Op.getResults())
            if (failed(verifyHandle(Result)))
              return failure();
      }
    return success();
  }

private:
  /// The functions `Op` may call, empty when it is no call.
  SmallVector<FunctionOpInterface> calleesOf(Operation *Op) {
    SmallVector<FlatSymbolRefAttr> Names;
    if (auto Dispatch = dyn_cast<DispatchOp>(Op)) {
      Names = {Dispatch.getFewAttr(), Dispatch.getManyAttr()};
    } else if (auto Call = dyn_cast<CallOpInterface>(Op)) {
      if (auto Symbol = dyn_cast<SymbolRefAttr>(Call.getCallableForCallee()))
        Names = {FlatSymbolRefAttr::get(Symbol.getLeafReference())};
    }
    SmallVector<FunctionOpInterface> Callees;
    for (FlatSymbolRefAttr Name : Names)
      if (auto Callee =
              Module.lookupSymbol<FunctionOpInterface>(Name.getAttr()))
        Callees.push_back(Callee);
    return Callees;
  }

  /// Whether an operation says what it does to a handle, or calls what does.
  static bool isKnown(Operation *Op) {
    return Op->hasTrait<trait::AppendsToCache>() ||
           Op->hasTrait<trait::ReadsCache>() ||
           Op->hasTrait<OpTrait::ReturnLike>() ||
           isa<DispatchOp, CallOpInterface>(Op);
  }

  /// Whether the use makes the handle an old one.
  bool takes(OpOperand &Use) {
    Operation *Op = Use.getOwner();
    if (Op->hasTrait<trait::AppendsToCache>() ||
        Op->hasTrait<OpTrait::ReturnLike>())
      return true;
    for (FunctionOpInterface Callee : calleesOf(Op))
      if (Use.getOperandNumber() < Callee.getNumArguments() &&
          isTaken(Callee, Use.getOperandNumber()))
        return true;
    return false;
  }

  /// Whether a call of `Function` takes its argument `Index`.
  bool isTaken(FunctionOpInterface Function, unsigned Index) {
    if (Function.isExternal())
      return true;
    BlockArgument Argument = Function.getArgument(Index);
    auto [Entry, IsNew] = Taken.try_emplace(Argument, true);
    if (!IsNew)
      return Entry->second; // Recursion counts as taking.
    bool Result = llvm::any_of(Argument.getUses(),
                               [&](OpOperand &Use) { return takes(Use); });
    Taken[Argument] = Result;
    return Result;
  }

  LogicalResult verifyHandle(Value Handle) {
    if (!isa<CacheType>(Handle.getType()))
      return success();
    Operation *Taker = nullptr;
    for (OpOperand &Use : Handle.getUses()) {
      if (!isKnown(Use.getOwner()))
        return Use.getOwner()->emitOpError()
               << "cache_c3: a cache handle: expected an operation that "
                  "appends to a cache or reads one";
      if (!takes(Use))
        continue;
      if (Taker)
        return Use.getOwner()->emitOpError()
               << "cache_c1: a cache handle: expected one op that takes it, "
                  "got a second one"
               << noteAt(Taker);
      Taker = Use.getOwner();
    }
    if (!Taker)
      return success();
    for (Operation *User : Handle.getUsers())
      if (User != Taker && !User->isBeforeInBlock(Taker))
        return User->emitOpError()
               << "cache_c2: a cache handle: expected the newest one, got one "
                  "that an earlier op has taken"
               << noteAt(Taker);
    return success();
  }

  static std::string noteAt(Operation *Taker) {
    return " (" + Taker->getName().getStringRef().str() + ")";
  }

  ModuleOp Module;
  DenseMap<Value, bool> Taken;
};

} // namespace

LogicalResult tenon::transformer::verifyCacheLinearity(ModuleOp Module) {
  return Linearity(Module).verify();
}

//===- ExportEntries.cpp - Entries under the names that the runtime calls -===//

#include "passes/Lowering/Passes.h"

#include "dialects/Transformer/CacheNumbering.h"
#include "runtime/Abi/TenonRt.h"

namespace tenon {
#define GEN_PASS_DEF_EXPORTENTRIES
#include "passes/Lowering/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

namespace {

struct ExportEntries : public tenon::impl::ExportEntriesBase<ExportEntries> {
  /// Entries take the step and nothing else; the rest of the module is
  /// internal.
  void runOnOperation() override {
    ModuleOp Module = getOperation();
    CacheNumbering Numbers(Module);
    auto Internal =
        LLVM::LinkageAttr::get(Module.getContext(), LLVM::Linkage::Internal);
    for (auto Function : Module.getOps<func::FuncOp>()) {
      auto Role = Function->getAttrOfType<StringAttr>(transformer::attr::Role);
      dropModelAttributes(Function);
      if (!Role) {
        Function->setAttr("llvm.linkage", Internal);
        continue;
      }
      if (Function.isExternal()) {
        Function.emitOpError("is an entry: expected it to have a body");
        return signalPassFailure();
      }
      Function.setName((TENON_RT_ENTRY_PREFIX + Role.getValue()).str());
      Block &Body = Function.getBody().front();
      auto B = OpBuilder::atBlockBegin(&Body);
      CacheNumbering::Entry Next = Numbers.entry();
      for (BlockArgument Argument : Body.getArguments()) {
        auto Cache = dyn_cast<transformer::CacheType>(Argument.getType());
        if (!Cache)
          continue;
        Value Number = arith::ConstantOp::create(
            B, Function.getLoc(),
            B.getI64IntegerAttr(static_cast<int64_t>(Next.number(Cache))));
        Value Handle = UnrealizedConversionCastOp::create(
                           B, Function.getLoc(), Argument.getType(), Number)
                           .getResult(0);
        Argument.replaceAllUsesWith(Handle);
      }
      Body.eraseArguments([](BlockArgument Argument) {
        return isa<transformer::CacheType>(Argument.getType());
      });
      Function.setFunctionType(B.getFunctionType(Body.getArgumentTypes(), {}));
    }
    dropModelAttributes(Module);
  }

  /// What described the model has no meaning in LLVM. The target has until its
  /// instructions are chosen.
  static void dropModelAttributes(Operation *Op) {
    for (NamedAttribute Named : llvm::to_vector(Op->getDiscardableAttrs()))
      if (isa_and_nonnull<transformer::TransformerDialect, dnn::DnnDialect>(
              Named.getNameDialect()) &&
          Named.getName() != dnn::attr::Target)
        Op->removeDiscardableAttr(Named.getName());
  }
};

} // namespace

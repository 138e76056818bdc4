//===- ModelWeights.cpp - Parameters of a valid model ---------------------===//

#include "dialects/Transformer/ModelVerifier.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

LogicalResult ModelVerifier::verifyWeights() {
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

/// The size that `Entry` has of its own, or its module has.
static int64_t sizeFor(Operation *Entry, StringRef Name, int64_t Default) {
  for (Operation *Op : {Entry, Entry->getParentOp()})
    if (auto Size = Op->getAttrOfType<IntegerAttr>(Name))
      return Size.getInt();
  return Default;
}

int64_t ModelVerifier::vocabularyOf(func::FuncOp Entry) {
  return sizeFor(Entry, attr::Vocabulary, 0);
}

int64_t tenon::transformer::leastTableRows(IndexKind Index, uint64_t Offset,
                                           Operation *Entry) {
  auto Before = static_cast<int64_t>(Offset);
  int64_t Sequence = sizeFor(Entry, attr::MaxSequence, 0);
  switch (Index) {
  case IndexKind::Token:
    return Before + sizeFor(Entry, attr::Vocabulary, 0);
  case IndexKind::Position: {
    // Only the decoder of an encoder-decoder goes by its own length.
    bool IsOwn = Entry->hasAttr(attr::MaxSequence) ||
                 Entry->getAttrOfType<StringAttr>(attr::Role) == "step";
    return Before +
           (IsOwn ? Sequence : sizeFor(Entry, attr::MaxSource, Sequence));
  }
  case IndexKind::TokenType:
    return Before + sizeFor(Entry, attr::TokenTypes, 0);
  }
  llvm_unreachable("all indices are covered");
}

LogicalResult ModelVerifier::verifyTables() {
  for (auto &[Function, Calls] : Functions) {
    for (auto Embedding : Function.getOps<EmbeddingOp>()) {
      if (Embedding.getIndex() == IndexKind::TokenType &&
          !Module->hasAttr(attr::TokenTypes))
        return Embedding.emitOpError()
               << "module_c11: expected the module attribute "
               << attr::TokenTypes << " with embeddings of token types";
      for (func::FuncOp Entry : entriesOf(Function)) {
        int64_t Least =
            leastTableRows(Embedding.getIndex(), Embedding.getOffset(), Entry);
        int64_t Rows = Embedding.getTable().getType().getDimSize(0);
        if (Rows < Least)
          return Embedding.emitOpError()
                 << "module_c11: table of "
                 << stringifyIndexKind(Embedding.getIndex())
                 << " embeddings: expected at least " << Least << " rows, got "
                 << Rows;
      }
    }
  }
  return success();
}

LogicalResult ModelVerifier::verifyParameters() {
  llvm::StringMap<Type> Types;
  for (auto &[Function, Calls] : Functions)
    for (auto Parameter : Function.getOps<ParameterOp>())
      for (ScopeOp Scope : scopesOf(Parameter.getScope())) {
        std::string Name = (Scope.getName() + "." + Parameter.getKey()).str();
        Type Known = Types.try_emplace(Name, Parameter.getType()).first->second;
        if (Known != Parameter.getType())
          return Parameter.emitOpError()
                 << "module_c22: parameter '" << Name << "': expected " << Known
                 << " as elsewhere, got " << Parameter.getType();
      }
  return success();
}

SmallVector<WeightUse> ModelVerifier::usesOf(Operation *Op) {
  FailureOr<SmallVector<WeightUse>> Uses = weightUsesOf(Op);
  return succeeded(Uses) ? *Uses : SmallVector<WeightUse>();
}

LogicalResult ModelVerifier::verifyConcatenation() {
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

LogicalResult ModelVerifier::verifyLayouts() {
  llvm::StringSet<> Multiplied;
  SmallVector<std::pair<std::string, WeightUse>> Uses;
  for (auto &[Function, Calls] : Functions)
    for (Operation &Op : Function.getBody().front())
      for (WeightUse Use : usesOf(&Op)) {
        auto Parameter = Use.Operand->get().getDefiningOp<ParameterOp>();
        for (ScopeOp Scope : scopesOf(Parameter.getScope()))
          Uses.emplace_back((Scope.getName() + "." + Parameter.getKey()).str(),
                            Use);
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

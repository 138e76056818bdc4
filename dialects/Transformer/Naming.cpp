//===- Naming.cpp - Names of printed results ------------------------------===//

#include "dialects/Transformer/Transformer.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tenon::transformer;

/// A key without what follows a tensor's name in an expression.
static StringRef tensorOf(StringRef Key) {
  return Key.take_until([](char C) { return C == '^' || C == '['; });
}

/// Word `Back` of a dotted name, counted from its end.
static StringRef wordFromEnd(StringRef Name, unsigned Back) {
  for (; Back > 0; --Back)
    Name = Name.contains('.') ? Name.rsplit('.').first : StringRef();
  return Name.contains('.') ? Name.rsplit('.').second : Name;
}

/// The words without repetition: those of q_proj, k_proj and v_proj are
/// q_k_v_proj.
static std::string joined(ArrayRef<StringRef> Words) {
  StringRef Suffix = Words.front().contains('_')
                         ? Words.front().drop_front(Words.front().rfind('_'))
                         : StringRef();
  if (Words.size() == 1 || llvm::any_of(Words, [&](StringRef W) {
        return W.size() <= Suffix.size() || !W.ends_with(Suffix);
      }))
    Suffix = "";
  SmallVector<StringRef> Starts = llvm::map_to_vector(
      Words, [&](StringRef W) { return W.drop_back(Suffix.size()); });
  return llvm::join(Starts, "_") + Suffix.str();
}

/// No name begins with a digit, and `*` is none of its letters.
static std::string asName(std::string Name) {
  llvm::erase(Name, '*');
  if (!Name.empty() && llvm::isDigit(Name.front()))
    Name.insert(0, "n");
  return Name;
}

std::string tenon::transformer::nameOfWeight(ArrayRef<StringRef> Keys) {
  if (Keys.empty())
    return ""; // What is printed may be wrong.
  std::string Module = nameOfMatmul(Keys);
  StringRef Tensor = wordFromEnd(tensorOf(Keys.front()), 0);
  return asName(Module.empty() ? Tensor.str() : (Module + "_" + Tensor).str());
}

std::string tenon::transformer::nameOfMatmul(ArrayRef<StringRef> Keys) {
  if (Keys.empty())
    return "";
  SmallVector<StringRef> Modules = llvm::map_to_vector(
      Keys, [](StringRef Key) { return wordFromEnd(tensorOf(Key), 1); });
  return asName(joined(Modules));
}

std::string tenon::transformer::nameOfScope(StringRef Name,
                                            std::optional<uint64_t> Layer) {
  if (Layer)
    return "l" + std::to_string(*Layer);
  return Name.empty() ? "root" : asName(wordFromEnd(Name, 0).str());
}

void tenon::transformer::nameResults(Operation *Op, StringRef Names,
                                     OpAsmSetValueNameFn SetName) {
  if (Op->getNumResults() == 0)
    return;
  if (Names == AfterWeight) {
    SmallVector<StringRef> Keys;
    for (Value Operand : Op->getOperands())
      if (auto Parameter = Operand.getDefiningOp<ParameterOp>();
          Parameter && isWeight(Operand.getType()) &&
          cast<ShapedType>(Operand.getType()).getRank() == 2)
        Keys.push_back(Parameter.getKey());
    // A part of a tensor says little of what is made with it.
    if (!Keys.empty() && !Keys.front().contains('['))
      if (std::string Name = nameOfMatmul(Keys); !Name.empty())
        return SetName(Op->getResult(0), Name);
    Names = Op->getName().stripDialect();
  }
  for (Value Result : Op->getResults()) {
    auto [First, Rest] = Names.split(',');
    SetName(Result, First);
    Names = Rest;
  }
}

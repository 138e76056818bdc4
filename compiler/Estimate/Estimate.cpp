//===- Estimate.cpp - What a model costs ----------------------------------===//

#include "compiler/Estimate/Estimate.h"

#include "compiler/Builder/ModelWalk.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

namespace {

/// No count may exceed this, so that a small multiple of it fits 64 bits.
constexpr int64_t MaxCount = int64_t(1) << 58;

ElementType elementTypeOf(Type T) {
  return T.isF32() ? ElementType::F32
                   : (T.isBF16() ? ElementType::BF16 : ElementType::F16);
}

/// Sums counts and remembers that one was too large.
class Counter {
public:
  void add(int64_t &Sum, int64_t Value) {
    if (Value > MaxCount - Sum)
      Overflowed = true;
    else
      Sum += Value;
  }
  int64_t product(int64_t Left, int64_t Right) {
    int64_t Value;
    if (!__builtin_mul_overflow(Left, Right, &Value) && Value <= MaxCount)
      return Value;
    Overflowed = true;
    return 0;
  }
  bool overflowed() const { return Overflowed; }

private:
  bool Overflowed = false;
};

class Estimator {
public:
  explicit Estimator(ModelEstimate &E) : E(E) {
    for (Component Part :
         {Component::Embedding, Component::Attention, Component::FeedForward,
          Component::Norm, Component::Head})
      E.Components.emplace_back(nameOf(Part).str(), 0);
  }

  /// Counts the parameters of all entries, each name once.
  Status countParameters(func::FuncOp Entry) {
    return walkModel(Entry, [&](Operation *Op, const CallFrame &Frame) {
      if (auto Parameter = dyn_cast<ParameterOp>(Op))
        if (Seen.insert(Frame.nameOf(Parameter)).second)
          countParameter(Parameter);
      return check();
    });
  }

  /// Counts the operations of one entry.
  Status countWork(func::FuncOp Entry) {
    return walkModel(Entry, [&](Operation *Op, const CallFrame &) {
      countProducts(Op);
      if (auto Attention = dyn_cast<AttentionOp>(Op))
        countAttention(Attention);
      if (auto Append = dyn_cast<CacheAppendOp>(Op)) {
        CacheType Cache = Append.getCache().getType();
        E.CacheType = elementTypeOf(Cache.getElementType());
        Sum.add(E.CacheElements,
                Sum.product(
                    2, Sum.product(Cache.getKvHeads(), Cache.getHeadDim())));
      }
      return check();
    });
  }

  Status finish() {
    int64_t Body = Sum.product(2, E.MatmulParameters - E.HeadParameters);
    int64_t Head = Sum.product(2, E.HeadParameters);
    bool IsDecoder = E.Role == "step";
    if (IsDecoder) {
      int64_t Decode = Body;
      Sum.add(Decode, Head);
      Sum.add(Decode, LastAttention);
      E.DecodeFlops = Decode;
    }
    E.PrefillFlops = Body;
    Sum.add(E.PrefillFlops, MeanAttention);
    Sum.add(E.PrefillFlops, IsDecoder ? Head / E.Context : Head);
    E.TrainingFlops = Sum.product(6, E.MatmulParameters);
    Sum.product(Sum.product(E.CacheElements, 4), E.MaxSequence);
    return check();
  }

private:
  void countParameter(ParameterOp Parameter) {
    int64_t Elements = elementsOf(Parameter.getType());
    Sum.add(E.Parameters, Elements);
    for (auto &[Name, Count] : E.Components)
      if (Name == Parameter.getComponent())
        Sum.add(Count, Elements);
    Sum.add(E.WeightBytes, bytesOf(Parameter.getType()));
  }

  /// Every matrix that a product takes. Tables are looked up instead.
  void countProducts(Operation *Op) {
    if (!isa<LinearOp, FeedForwardOp, GatedFeedForwardOp, LmHeadOp>(Op))
      return;
    for (Type T : Op->getOperandTypes()) {
      auto Tensor = dyn_cast<RankedTensorType>(T);
      if (!Tensor || !Tensor.hasStaticShape() || Tensor.getRank() != 2)
        continue;
      Sum.add(E.MatmulParameters, elementsOf(Tensor));
      Sum.add(E.ProductBytes, bytesOf(Tensor));
      if (isa<LmHeadOp>(Op))
        Sum.add(E.HeadParameters, elementsOf(Tensor));
    }
  }

  /// Scores and their weighted sum: 2 + 2 operations per query element and
  /// key.
  void countAttention(AttentionOp Attention) {
    int64_t Width =
        cast<RankedTensorType>(Attention.getQuery().getType()).getDimSize(1);
    int64_t Tokens = E.Context;
    if (Attention.getMask() == MaskKind::Bidirectional) {
      int64_t Flops = Sum.product(Sum.product(4, Width), Tokens);
      Sum.add(LastAttention, Flops);
      Sum.add(MeanAttention, Flops);
      return;
    }
    int64_t Window =
        std::min<int64_t>(Attention.getWindow().value_or(Tokens), Tokens);
    // Token t sees min(t, Window) keys, t from 1.
    int64_t Seen = Sum.product(Window, Window + 1) / 2;
    Sum.add(Seen, Sum.product(Tokens - Window, Window));
    Sum.add(LastAttention, Sum.product(Sum.product(4, Width), Window));
    Sum.add(MeanAttention,
            Sum.product(Sum.product(2, Width), Sum.product(2, Seen) / Tokens));
  }

  int64_t elementsOf(Type T) {
    int64_t Elements = 1;
    for (int64_t Size : cast<RankedTensorType>(T).getShape())
      Elements = Sum.product(Elements, Size);
    return Elements;
  }

  int64_t bytesOf(Type T) {
    Type Element = cast<RankedTensorType>(T).getElementType();
    return Sum.product(elementsOf(T),
                       static_cast<int64_t>(sizeOf(elementTypeOf(Element))));
  }

  Status check() const {
    if (Sum.overflowed())
      return Error("estimate: a count exceeds " + std::to_string(MaxCount) +
                   ": expected a smaller model");
    return {};
  }

  ModelEstimate &E;
  Counter Sum;
  llvm::StringSet<> Seen;
  int64_t LastAttention = 0;
  int64_t MeanAttention = 0;
};

/// 1234567 as "1,234,567".
std::string grouped(int64_t Value) {
  std::string Digits = std::to_string(Value);
  for (int64_t At = static_cast<int64_t>(Digits.size()) - 3; At > 0; At -= 3)
    Digits.insert(static_cast<size_t>(At), 1, ',');
  return Digits;
}

} // namespace

Result<ModelEstimate> tenon::estimateModel(ModuleOp Module,
                                           std::optional<int64_t> Context) {
  SmallVector<func::FuncOp> Entries = entriesOf(Module);
  if (Entries.empty())
    return Error("estimate: the model graph has no entry: expected one");
  ModelEstimate E;
  if (auto Family = Module->getAttrOfType<StringAttr>(attr::Family))
    E.Family = Family.str();
  auto MaxSequence = Module->getAttrOfType<IntegerAttr>(attr::MaxSequence);
  if (!MaxSequence)
    return Error("estimate: the module has no '" + attr::MaxSequence.str() +
                 "': expected the longest sequence");
  E.MaxSequence = MaxSequence.getInt();
  E.Context = Context.value_or(E.MaxSequence);
  if (E.Context < 1 || E.Context > E.MaxSequence)
    return Error("estimate: a context of " + std::to_string(E.Context) +
                 ": expected 1 to " + std::to_string(E.MaxSequence));

  // Pooling adds no product: the first entry stands for an encoder's others.
  func::FuncOp Main = Entries.front();
  for (func::FuncOp Entry : Entries)
    if (Entry->getAttrOfType<StringAttr>(attr::Role).getValue() != "embed")
      Main = Entry;
  E.Role = Main->getAttrOfType<StringAttr>(attr::Role).str();
  Estimator Estimate(E);
  for (func::FuncOp Entry : Entries)
    if (Status S = Estimate.countParameters(Entry); !S)
      return S.error();
  if (Status S = Estimate.countWork(Main); !S)
    return S.error();
  if (Status S = Estimate.finish(); !S)
    return S.error();
  return E;
}

Json tenon::toJson(const ModelEstimate &E) {
  Json Parameters = {{"total", E.Parameters}};
  for (const auto &[Name, Count] : E.Components)
    Parameters[Name] = Count;
  Json Flops = {{"context", E.Context}};
  if (E.DecodeFlops)
    Flops["decode"] = *E.DecodeFlops;
  Flops["prefill"] = E.PrefillFlops;
  Flops["training"] = E.TrainingFlops;
  Json Result = {{"family", E.Family},
                 {"role", E.Role},
                 {"parameters", Parameters},
                 {"matmul_parameters", E.MatmulParameters},
                 {"weight_bytes", E.WeightBytes},
                 {"product_weight_bytes", E.ProductBytes},
                 {"flops_per_token", Flops}};
  if (E.CacheType)
    Result["kv_cache"] = {
        {"type", nameOf(*E.CacheType)},
        {"bytes_per_token", E.cacheBytesPerToken()},
        {"bytes_per_token_16_bit", E.CacheElements * 2},
        {"max_sequence", E.MaxSequence},
        {"bytes_full_context", E.cacheBytesPerToken() * E.MaxSequence}};
  return Result;
}

std::string tenon::toText(const ModelEstimate &E) {
  std::vector<std::pair<std::string, std::string>> Lines;
  auto Add = [&](std::string Label, int64_t Value, const std::string &Unit) {
    Lines.emplace_back(std::move(Label), grouped(Value) + Unit);
  };
  Lines.emplace_back("family", E.Family);
  Add("parameters", E.Parameters, "");
  for (const auto &[Name, Count] : E.Components)
    Add("  " + Name, Count, "");
  Add("in products (N)", E.MatmulParameters, "");
  Add("weights", E.WeightBytes, " bytes");
  Add("  read by products", E.ProductBytes, " bytes");
  std::string At = " at " + grouped(E.Context) + " tokens";
  if (E.DecodeFlops)
    Add("decode", *E.DecodeFlops, " FLOPs per token" + At);
  Add(E.DecodeFlops ? "prefill" : E.Role, E.PrefillFlops,
      " FLOPs per token" + At);
  Add("training (6N)", E.TrainingFlops, " FLOPs per token");
  if (E.CacheType) {
    std::string Type(nameOf(*E.CacheType));
    Add("key-value cache, " + Type, E.cacheBytesPerToken(), " bytes per token");
    Add("  full context", E.cacheBytesPerToken() * E.MaxSequence,
        " bytes for " + grouped(E.MaxSequence) + " tokens");
  }
  size_t Width = 0;
  for (const auto &[Label, Value] : Lines)
    Width = std::max(Width, Label.size());
  std::string Text;
  for (const auto &[Label, Value] : Lines)
    Text += Label + std::string(Width + 2 - Label.size(), ' ') + Value + "\n";
  return Text;
}

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

/// Sums counts and remembers that one was too large.
class Counter {
public:
  void add(int64_t &Sum, int64_t Value) {
    if (Value > MaxCount - Sum)
      Overflowed = true;
    else
      Sum += Value;
  }
  int64_t multiply(int64_t Left, int64_t Right) {
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

/// What one token costs in one entry.
struct Work {
  int64_t MatmulParameters = 0;
  int64_t HeadParameters = 0;
  int64_t MatmulBytes = 0;
  /// Of the last of the entry's tokens, and on average.
  int64_t LastAttention = 0;
  int64_t MeanAttention = 0;
  /// Per source token.
  int64_t CrossAttention = 0;
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
      // What a token does not use of a weight is idle: experts not chosen.
      if (auto Weights = dyn_cast<WeightOpInterface>(Op))
        for (const WeightUse &Use : Weights.getWeightUses())
          if (auto Parameter = Use.Operand->get().getDefiningOp<ParameterOp>();
              Parameter && Use.Used != Use.Parts &&
              Idle.insert(Frame.nameOf(Parameter)).second)
            Sum.add(IdleParameters,
                    elementsOf(Parameter.getType()) - usedOf(Use));
      return check();
    });
  }

  /// Counts the operations of one entry for `Tokens` tokens at once.
  Result<Work> countWork(func::FuncOp Entry, int64_t Tokens) {
    Work W;
    Status S = walkModel(Entry, [&](Operation *Op, const CallFrame &) {
      countMatmuls(Op, W);
      if (auto Attention = dyn_cast<AttentionOpInterface>(Op))
        countAttention(Attention.getAttentionCost(), Tokens, W);
      if (Op->hasTrait<trait::AppendsToCache>())
        countCache(cast<CacheType>(cacheOperandOf(Op)->get().getType()));
      return check();
    });
    if (!S)
      return S.error();
    return W;
  }

  /// Fills in what follows from the counts of the main entry and, of an
  /// encoder-decoder, of the encoder.
  Status finish(const Work &Main, const std::optional<Work> &Encoder) {
    E.ActiveParameters = E.Parameters - IdleParameters;
    E.MatmulParameters = Main.MatmulParameters;
    E.HeadParameters = Main.HeadParameters;
    E.MatmulBytes = Main.MatmulBytes;
    int64_t Body = Sum.multiply(2, E.MatmulParameters - E.HeadParameters);
    int64_t Head = Sum.multiply(2, E.HeadParameters);
    int64_t Cross = 0;
    if (E.SourceText) {
      ModelEstimate::Source &Source = *E.SourceText;
      Source.CrossFlops = Main.CrossAttention;
      Cross = Sum.multiply(Main.CrossAttention, Source.Tokens);
      if (Encoder) {
        Source.MatmulParameters = Encoder->MatmulParameters;
        Source.EncodeFlops = Sum.multiply(2, Encoder->MatmulParameters);
        Sum.add(Source.EncodeFlops, Encoder->MeanAttention);
      }
      Sum.multiply(Sum.multiply(Source.CacheElements, 4), Source.Tokens);
    }
    bool IsDecoder = E.Role == "step";
    if (IsDecoder) {
      int64_t Decode = Body;
      Sum.add(Decode, Head);
      Sum.add(Decode, Main.LastAttention);
      Sum.add(Decode, Cross);
      E.DecodeFlops = Decode;
    }
    E.PrefillFlops = Body;
    Sum.add(E.PrefillFlops, Main.MeanAttention);
    Sum.add(E.PrefillFlops, Cross);
    Sum.add(E.PrefillFlops, IsDecoder ? Head / E.Context : Head);
    E.TrainingFlops = Sum.multiply(6, E.MatmulParameters);
    Sum.multiply(Sum.multiply(E.CacheElements, 4), E.MaxSequence);
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

  /// Elements of a weight that one token uses.
  int64_t usedOf(const WeightUse &Use) {
    return Sum.multiply(elementsOf(Use.Operand->get().getType()) / Use.Parts,
                        Use.Used);
  }

  /// Every matrix that activations are multiplied with. Tables are looked up
  /// instead.
  void countMatmuls(Operation *Op, Work &W) {
    auto Weights = dyn_cast<WeightOpInterface>(Op);
    if (!Weights)
      return;
    for (const WeightUse &Use : Weights.getWeightUses()) {
      if (!Use.IsMatmul)
        continue;
      int64_t Used = usedOf(Use);
      Sum.add(W.MatmulParameters, Used);
      Sum.add(W.MatmulBytes, bytesOf(Use.Operand->get().getType(), Used));
      if (Use.OfOutputRows)
        Sum.add(W.HeadParameters, Used);
    }
  }

  /// Operations of `PerKey` per key for the last token, and on average, when
  /// token t of `Tokens` sees min(t, Window) keys, t from 1.
  void countCausal(int64_t LastPerKey, int64_t MeanPerKey, int64_t Window,
                   int64_t Tokens, Work &W) {
    int64_t Seen = Sum.multiply(Window, Window + 1) / 2;
    Sum.add(Seen, Sum.multiply(Tokens - Window, Window));
    Sum.add(W.LastAttention, Sum.multiply(LastPerKey, Window));
    // Halved and doubled again: the mean of 1 to t is no integer.
    Sum.add(W.MeanAttention,
            Sum.multiply(MeanPerKey / 2, Sum.multiply(2, Seen) / Tokens));
  }

  void countAttention(const AttentionCost &Cost, int64_t Tokens, Work &W) {
    if (Cost.IsCross)
      return Sum.add(W.CrossAttention, Cost.PrefillFlopsPerKey);
    int64_t Window = std::min(Cost.Window.value_or(Tokens), Tokens);
    if (Cost.IsCausal)
      return countCausal(Cost.DecodeFlopsPerKey, Cost.PrefillFlopsPerKey,
                         Window, Tokens, W);
    // A window has its keys on both sides; ends of the sequence are left out.
    int64_t Flops =
        Sum.multiply(Cost.PrefillFlopsPerKey, std::min(2 * Window - 1, Tokens));
    Sum.add(W.LastAttention, Flops);
    Sum.add(W.MeanAttention, Flops);
  }

  void countCache(CacheType Cache) {
    int64_t Elements =
        Sum.multiply(Cache.isLatent() ? 1 : 2,
                     Sum.multiply(Cache.getKvHeads(), Cache.getHeadDim()));
    if (Cache.isCross()) {
      E.SourceText->CachedAs = Cache.getFormat();
      Sum.add(E.SourceText->CacheElements, Elements);
      Sum.add(E.SourceText->CacheScaleBytes, Cache.getScaleBytes());
      return;
    }
    E.CachedAs = Cache.getFormat();
    E.IsLatent = Cache.isLatent();
    Sum.add(E.CacheElements, Elements);
    Sum.add(E.CacheScaleBytes, Cache.getScaleBytes());
  }

  int64_t elementsOf(Type T) {
    int64_t Elements = 1;
    for (int64_t Size : cast<RankedTensorType>(T).getShape())
      Elements = Sum.multiply(Elements, Size);
    return Elements;
  }

  int64_t bytesOf(Type T) { return bytesOf(T, elementsOf(T)); }

  /// Bytes of some elements of a weight of type `T`.
  int64_t bytesOf(Type T, int64_t Elements) {
    // Blocks of quantised formats are whole numbers of bytes, values are not.
    const StorageFormatInfo &Info = infoOf(storageFormatOf(T));
    return Sum.multiply(Elements, Info.BlockBytes) / Info.BlockValues;
  }

  Status check() const {
    if (Sum.overflowed())
      return Error("estimate: a count exceeds " + std::to_string(MaxCount) +
                   ": expected a smaller model");
    return {};
  }

  ModelEstimate &E;
  Counter Sum;
  llvm::StringSet<> Seen, Idle;
  /// Of experts that are not chosen for a token.
  int64_t IdleParameters = 0;
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
    return Error("a context of " + std::to_string(E.Context) +
                 ": expected 1 to " + std::to_string(E.MaxSequence) +
                 ", the longest sequence");

  // Pooling adds no matmul: the first entry stands for an encoder's others.
  // Of an encoder-decoder the decoder is the main entry.
  auto RoleOf = [](func::FuncOp Entry) {
    return Entry->getAttrOfType<StringAttr>(attr::Role).getValue();
  };
  func::FuncOp Main = Entries.front(), Encoder;
  for (func::FuncOp Entry : Entries)
    if (RoleOf(Entry) != "embed" && RoleOf(Main) != "step")
      Main = Entry;
  bool HasCrossCache = llvm::any_of(Main.getArgumentTypes(), [](Type T) {
    auto Cache = dyn_cast<CacheType>(T);
    return Cache && Cache.isCross();
  });
  if (HasCrossCache) {
    auto MaxSource = Module->getAttrOfType<IntegerAttr>(attr::MaxSource);
    E.SourceText.emplace();
    E.SourceText->Tokens = MaxSource ? MaxSource.getInt() : E.MaxSequence;
    for (func::FuncOp Entry : Entries)
      if (RoleOf(Entry) == "encode" && Entry != Main)
        Encoder = Entry;
  }
  E.Role = RoleOf(Main).str();
  Estimator Estimate(E);
  for (func::FuncOp Entry : Entries)
    if (Status S = Estimate.countParameters(Entry); !S)
      return S.error();
  Result<Work> MainWork = Estimate.countWork(Main, E.Context);
  if (!MainWork)
    return MainWork.error();
  std::optional<Work> EncoderWork;
  if (Encoder) {
    Result<Work> Counted = Estimate.countWork(Encoder, E.SourceText->Tokens);
    if (!Counted)
      return Counted.error();
    EncoderWork = *Counted;
  }
  if (Status S = Estimate.finish(*MainWork, EncoderWork); !S)
    return S.error();
  return E;
}

int64_t ModelEstimate::embeddingParameters() const {
  int64_t Elements = 0;
  for (const auto &[Name, Count] : Components)
    if (Name == nameOf(Component::Embedding) || Name == nameOf(Component::Head))
      Elements += Count;
  return Elements;
}

Json tenon::toJson(const ModelEstimate &E) {
  Json Parameters = {
      {"total", E.Parameters},
      {"without_embeddings", E.Parameters - E.embeddingParameters()}};
  for (const auto &[Name, Count] : E.Components)
    Parameters[Name] = Count;
  Json Flops = {{"context", E.Context}};
  if (E.DecodeFlops)
    Flops["decode"] = *E.DecodeFlops;
  Flops["prefill"] = E.PrefillFlops;
  Flops["training"] = E.TrainingFlops;
  if (E.SourceText) {
    Flops["source_context"] = E.SourceText->Tokens;
    Flops["encode"] = E.SourceText->EncodeFlops;
    Flops["cross_attention_per_source_token"] = E.SourceText->CrossFlops;
  }
  Json Result = {{"family", E.Family},
                 {"role", E.Role},
                 {"parameters", Parameters},
                 {"parameters_active", E.ActiveParameters},
                 {"parameters_active_without_embeddings",
                  E.ActiveParameters - E.embeddingParameters()},
                 {"matmul_parameters", E.MatmulParameters},
                 {"weight_bytes", E.WeightBytes},
                 {"matmul_weight_bytes", E.MatmulBytes},
                 {"flops_per_token", Flops}};
  if (E.CachedAs)
    Result["kv_cache"] = {
        {"type", infoOf(*E.CachedAs).Name},
        {"kind", E.IsLatent ? "latent" : "keys and values"},
        {"bytes_per_token", E.cacheBytesPerToken()},
        {"bytes_per_token_16_bit", E.CacheElements * 2},
        {"max_sequence", E.MaxSequence},
        {"bytes_full_context", E.cacheBytesPerToken() * E.MaxSequence}};
  if (const auto &Source = E.SourceText) {
    Result["encoder_matmul_parameters"] = Source->MatmulParameters;
    Result["cross_cache"] = {
        {"type", infoOf(Source->CachedAs).Name},
        {"bytes_per_source_token", Source->cacheBytesPerToken()},
        {"max_source", Source->Tokens},
        {"bytes_full_source", Source->cacheBytesPerToken() * Source->Tokens}};
  }
  return Result;
}

std::string tenon::toText(const ModelEstimate &E,
                          const std::string &WeightType) {
  std::vector<std::pair<std::string, std::string>> Lines;
  auto Add = [&](std::string Label, int64_t Value, const std::string &Unit) {
    Lines.emplace_back(std::move(Label), grouped(Value) + Unit);
  };
  Lines.emplace_back("family", E.Family + ", " + WeightType + " weights");
  auto AddParameters = [&](const char *Label, int64_t Count) {
    Add(Label, Count,
        " (" + grouped(Count - E.embeddingParameters()) +
            " without embeddings)");
  };
  AddParameters("parameters", E.Parameters);
  for (const auto &[Name, Count] : E.Components)
    if (Count != 0)
      Add("  " + Name, Count, "");
  if (E.ActiveParameters != E.Parameters)
    AddParameters("  active per token", E.ActiveParameters);
  Add("in matmuls (N)", E.MatmulParameters, "");
  Add("weights", E.WeightBytes, " bytes, without padding");
  Add("  read by matmuls", E.MatmulBytes, " bytes");
  std::string At = " at " + grouped(E.Context) + " tokens";
  if (E.DecodeFlops)
    Add("decode", *E.DecodeFlops, " FLOPs per token" + At);
  Add(E.DecodeFlops ? "prefill" : E.Role, E.PrefillFlops,
      " FLOPs per token" + At);
  Add("training (6N)", E.TrainingFlops, " FLOPs per token");
  if (const auto &Source = E.SourceText) {
    std::string Of = " of " + grouped(Source->Tokens);
    Add("encode", Source->EncodeFlops, " FLOPs per source token" + Of);
    Add("  cross-attention", Source->CrossFlops,
        " FLOPs per token and source token" + Of + ", counted above");
  }
  if (E.CachedAs) {
    std::string Type(infoOf(*E.CachedAs).Name);
    Add((E.IsLatent ? "latent cache, " : "key-value cache, ") + Type,
        E.cacheBytesPerToken(), " bytes per token");
    Add("  full context", E.cacheBytesPerToken() * E.MaxSequence,
        " bytes for " + grouped(E.MaxSequence) + " tokens");
  }
  if (const auto &Source = E.SourceText) {
    Add("source cache, " + std::string(infoOf(Source->CachedAs).Name),
        Source->cacheBytesPerToken(), " bytes per source token");
    Add("  full source", Source->cacheBytesPerToken() * Source->Tokens,
        " bytes for " + grouped(Source->Tokens) + " tokens");
  }
  size_t Width = 0;
  for (const auto &[Label, Value] : Lines)
    Width = std::max(Width, Label.size());
  std::string Text;
  for (const auto &[Label, Value] : Lines)
    Text += Label + std::string(Width + 2 - Label.size(), ' ') + Value + "\n";
  return Text;
}

//===- Sites.cpp - Library products of a step -----------------------------===//

#include "runtime/Engine/Sites.h"

#include "runtime/Abi/TenonRt.h"

#include <dnnl.hpp>
#include <map>
#include <new>
#include <unordered_map>

using namespace tenon;

using Desc = dnnl::memory::desc;
using Tag = dnnl::memory::format_tag;

namespace {

/// A primitive for one site and bucket of rows with its memory objects, whose
/// handles are set before each call.
struct Prepared {
  dnnl::matmul Primitive;
  std::unordered_map<int, dnnl::memory> Arguments;
  /// Keys of Arguments; -1 where the product has no such operand.
  int MultiplierArgument = -1;
  int ResidualArgument = -1;
  size_t ScratchBytes = 0;
};

/// Memory that a primitive works in; grows, is never read across calls.
class Scratch {
public:
  Scratch() = default;
  Scratch(const Scratch &) = delete;
  Scratch &operator=(const Scratch &) = delete;
  ~Scratch() { ::operator delete(Data, std::align_val_t(64)); }

  /// At least `Bytes` bytes, or null when there is no memory.
  void *reserve(size_t Bytes) {
    if (Bytes <= Size)
      return Data;
    ::operator delete(Data, std::align_val_t(64));
    Data = ::operator new(Bytes, std::align_val_t(64), std::nothrow);
    Size = Data ? Bytes : 0;
    return Data;
  }

private:
  void *Data = nullptr;
  size_t Size = 0;
};

} // namespace

static dnnl::memory::data_type typeOf(ElementType Type) {
  switch (Type) {
  case ElementType::F32:
    return dnnl::memory::data_type::f32;
  case ElementType::F16:
    return dnnl::memory::data_type::f16;
  case ElementType::BF16:
    return dnnl::memory::data_type::bf16;
  }
  return dnnl::memory::data_type::undef;
}

/// The library's name of a packed layout of weights seen as [K,N].
static std::optional<Tag> tagOf(PackedLayout Layout) {
  if (Layout.Kind == LayoutKind::Rows)
    return Tag::ba;
  if (Layout.Kind == LayoutKind::Panels)
    return Layout.Type == ElementType::F32 ? Tag::BA16a64b : Tag::BA16a64b2a;
  return std::nullopt;
}

std::string tenon::describe(size_t Index, const SiteInfo &Site) {
  std::string Text = "site " + std::to_string(Index) + " (";
  Text += nameOf(Site.Source);
  Text += " [rows," + std::to_string(Site.K) + "] x " + nameOf(Site.Layout) +
          " [" + std::to_string(Site.K) + "," + std::to_string(Site.N) +
          "] -> ";
  Text += nameOf(Site.Destination);
  if (Site.HasBias)
    Text += ", bias";
  if (Site.Act != Activation::None)
    Text.append(", ").append(nameOf(Site.Act));
  if (Site.Multiplier)
    Text.append(", times ").append(nameOf(*Site.Multiplier));
  if (Site.Residual)
    Text.append(", plus ").append(nameOf(*Site.Residual));
  return Text + ")";
}

struct Sites::Implementation {
  std::vector<SiteInfo> Infos;
  CpuLevel Level;
  dnnl::engine Engine;
  dnnl::stream Stream;
  Scratch Work;
  ProductCounters Counters;
  /// By site; inside by bucket × 2 + whether the residual is accumulated in
  /// place.
  std::vector<std::map<int64_t, Prepared>> Cache;

  Implementation(std::span<const SiteInfo> Infos, CpuLevel Level)
      : Infos(Infos.begin(), Infos.end()), Level(Level),
        Engine(dnnl::engine::kind::cpu, 0), Stream(Engine),
        Cache(Infos.size()) {}

  Error failure(size_t Index, int64_t Bucket, const std::string &What) const {
    return Error(describe(Index, Infos[Index]) + " with " +
                 std::to_string(Bucket) + " rows at level " +
                 std::string(infoOf(Level).Name) + ": " + What);
  }

  Result<Prepared *> get(size_t Index, int64_t Rows, bool InPlace);
  Result<Prepared> build(const SiteInfo &Site, int64_t Rows, bool InPlace,
                         std::string &Kernel);
};

/// May throw dnnl::error. `Kernel` receives the name of the implementation.
Result<Prepared> Sites::Implementation::build(const SiteInfo &Site,
                                              int64_t Rows, bool InPlace,
                                              std::string &Kernel) {
  std::optional<Tag> WeightsTag = tagOf(Site.Layout);
  if (!WeightsTag)
    return Error("layout is " + nameOf(Site.Layout) +
                 ": expected rows or panels");
  Desc Source({Rows, Site.K}, typeOf(Site.Source), Tag::ab);
  Desc Weights({Site.K, Site.N}, typeOf(Site.Layout.Type), *WeightsTag);
  Desc Destination({Rows, Site.N}, typeOf(Site.Destination), Tag::ab);
  Desc Bias = Site.HasBias
                  ? Desc({1, Site.N}, dnnl::memory::data_type::f32, Tag::ab)
                  : Desc();

  Prepared P;
  dnnl::post_ops Epilogue;
  std::optional<Desc> Multiplier, Residual;
  switch (Site.Act) {
  case Activation::None:
    break;
  case Activation::Relu:
    Epilogue.append_eltwise(dnnl::algorithm::eltwise_relu, 0, 0);
    break;
  case Activation::Gelu:
    Epilogue.append_eltwise(dnnl::algorithm::eltwise_gelu_erf, 0, 0);
    break;
  case Activation::GeluTanh:
    Epilogue.append_eltwise(dnnl::algorithm::eltwise_gelu_tanh, 0, 0);
    break;
  case Activation::Silu:
    Epilogue.append_eltwise(dnnl::algorithm::eltwise_swish, 1, 0);
    break;
  case Activation::QuickGelu:
    Epilogue.append_eltwise(dnnl::algorithm::eltwise_swish, 1.702f, 0);
    break;
  case Activation::Tanh:
    Epilogue.append_eltwise(dnnl::algorithm::eltwise_tanh, 0, 0);
    break;
  case Activation::Sigmoid:
    Epilogue.append_eltwise(dnnl::algorithm::eltwise_logistic, 0, 0);
    break;
  }
  auto Binary = [&](dnnl::algorithm Algorithm, ElementType Type,
                    std::optional<Desc> &Operand) {
    Operand.emplace(dnnl::memory::dims{Rows, Site.N}, typeOf(Type), Tag::ab);
    Epilogue.append_binary(Algorithm, *Operand);
    return DNNL_ARG_ATTR_MULTIPLE_POST_OP(Epilogue.len() - 1) | DNNL_ARG_SRC_1;
  };
  if (Site.Multiplier)
    P.MultiplierArgument =
        Binary(dnnl::algorithm::binary_mul, *Site.Multiplier, Multiplier);
  // In place, partial sums over K would overwrite a residual that a binary
  // post-op reads at the end; a sum post-op tells the library to keep it.
  if (Site.Residual && InPlace)
    Epilogue.append_sum(1.0f, 0, typeOf(*Site.Residual));
  else if (Site.Residual)
    P.ResidualArgument =
        Binary(dnnl::algorithm::binary_add, *Site.Residual, Residual);

  dnnl::primitive_attr Attributes;
  Attributes.set_post_ops(Epilogue);
  Attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  // An empty result instead of an exception when there is no implementation.
  dnnl::matmul::primitive_desc Description(Engine, Source, Weights, Bias,
                                           Destination, Attributes, true);
  if (!Description)
    return Error("the library has no implementation");
  Kernel = Description.impl_info_str();
  P.Primitive = dnnl::matmul(Description);
  auto Add = [&](int Argument, const Desc &D) {
    P.Arguments.emplace(Argument, dnnl::memory(D, Engine, nullptr));
  };
  Add(DNNL_ARG_SRC, Source);
  Add(DNNL_ARG_WEIGHTS, Weights);
  Add(DNNL_ARG_DST, Destination);
  if (Site.HasBias)
    Add(DNNL_ARG_BIAS, Bias);
  if (Multiplier)
    Add(P.MultiplierArgument, *Multiplier);
  if (Residual)
    Add(P.ResidualArgument, *Residual);
  Add(DNNL_ARG_SCRATCHPAD, Description.scratchpad_desc());
  P.ScratchBytes = Description.scratchpad_desc().get_size();
  return P;
}

Result<Prepared *> Sites::Implementation::get(size_t Index, int64_t Rows,
                                              bool InPlace) {
  int64_t Bucket = tenon_rt_bucket(Rows);
  auto &Known = Cache[Index];
  int64_t Key = Bucket * 2 + (InPlace ? 1 : 0);
  if (auto Found = Known.find(Key); Found != Known.end())
    return &Found->second;
  std::string Kernel;
  Result<Prepared> Built = Error("");
  try {
    Built = build(Infos[Index], Bucket, InPlace, Kernel);
  } catch (const dnnl::error &Failure) {
    return failure(Index, Bucket, Failure.what());
  }
  if (!Built) {
    ++Counters.Reference;
    return failure(Index, Bucket, Built.error().message());
  }
  if (Kernel.find("ref") != std::string::npos) {
    ++Counters.Reference;
    return failure(Index, Bucket,
                   "the library has only its reference implementation '" +
                       Kernel + "'");
  }
  ++Counters.Primitives;
  return &Known.emplace(Key, std::move(*Built)).first->second;
}

Sites::Sites(std::span<const SiteInfo> Infos, CpuLevel Level)
    : Impl(std::make_unique<Implementation>(Infos, Level)) {}
Sites::Sites(Sites &&) noexcept = default;
Sites &Sites::operator=(Sites &&) noexcept = default;
Sites::~Sites() = default;

const ProductCounters &Sites::counters() const { return Impl->Counters; }

Status Sites::prepare(int64_t Rows) {
  for (size_t I = 0; I < Impl->Infos.size(); ++I)
    if (Result<Prepared *> P = Impl->get(I, Rows, false); !P)
      return P.error();
  return {};
}

Status Sites::run(const Product &P) {
  if (P.Site < 0 || static_cast<size_t>(P.Site) >= Impl->Infos.size())
    return Error("product of site " + std::to_string(P.Site) +
                 ": expected 0 to " + std::to_string(Impl->Infos.size()) +
                 " (exclusive)");
  auto Index = static_cast<size_t>(P.Site);
  const SiteInfo &Site = Impl->Infos[Index];
  auto Fail = [&](const char *What) {
    return Impl->failure(Index, P.Rows, What);
  };
  if (P.Rows < 1)
    return Fail("expected at least one row");
  if (!P.Source || !P.Weights || !P.Destination ||
      (P.Bias != nullptr) != Site.HasBias ||
      (P.Multiplier != nullptr) != Site.Multiplier.has_value() ||
      (P.Residual != nullptr) != Site.Residual.has_value())
    return Fail("the operands passed are not those of the site");
  // Products write partial sums into the destination before they are done.
  if (P.Source == P.Destination || P.Multiplier == P.Destination)
    return Fail("source and multiplier must not be the destination");
  bool InPlace = Site.Residual && P.Residual == P.Destination;
  if (InPlace && *Site.Residual != Site.Destination)
    return Fail("a residual in place must have the destination's type");

  Result<Prepared *> Found = Impl->get(Index, P.Rows, InPlace);
  if (!Found)
    return Found.error();
  Prepared &Ready = **Found;
  void *Work = Impl->Work.reserve(Ready.ScratchBytes);
  if (Ready.ScratchBytes != 0 && !Work)
    return Fail("no memory for the library's scratchpad");
  try {
    auto Set = [&](int Argument, const void *Data) {
      if (auto A = Ready.Arguments.find(Argument); A != Ready.Arguments.end())
        A->second.set_data_handle(const_cast<void *>(Data));
    };
    Set(DNNL_ARG_SRC, P.Source);
    Set(DNNL_ARG_WEIGHTS, P.Weights);
    Set(DNNL_ARG_BIAS, P.Bias);
    Set(DNNL_ARG_DST, P.Destination);
    Set(DNNL_ARG_SCRATCHPAD, Work);
    Set(Ready.MultiplierArgument, P.Multiplier);
    Set(Ready.ResidualArgument, P.Residual);
    Ready.Primitive.execute(Impl->Stream, Ready.Arguments);
  } catch (const dnnl::error &Failure) {
    return Fail(Failure.what());
  }
  ++Impl->Counters.Library;
  return {};
}

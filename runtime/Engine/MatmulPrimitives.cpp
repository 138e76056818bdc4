//===- MatmulPrimitives.cpp - Library matmuls of a step
//-----------------------------===//

#include "runtime/Engine/MatmulPrimitives.h"

#include "runtime/Abi/TenonRt.h"

#include <algorithm>
#include <dnnl.hpp>
#include <map>
#include <new>
#include <unordered_map>

using namespace tenon;
using namespace tenon::artifact;
using namespace tenon::engine;

using Desc = dnnl::memory::desc;
using Tag = dnnl::memory::format_tag;

namespace {

/// A oneDNN primitive for one matmul and bucket of rows with its memory
/// objects, whose handles are set before each call.
struct Prepared {
  dnnl::matmul Primitive;
  std::unordered_map<int, dnnl::memory> Arguments;
  /// Keys of Arguments; -1 where the matmul has no such operand.
  int MultiplierArgument = -1;
  int ResidualArgument = -1;
  size_t ScratchBytes = 0;
  /// The library's name of the implementation.
  std::string Kernel;
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

static dnnl::memory::data_type typeOf(StorageFormat Format) {
  if (infoOf(Format).isQuantised())
    return dnnl::memory::data_type::undef;
  return Format == StorageFormat::F32 ? dnnl::memory::data_type::f32
                                      : dnnl::memory::data_type::bf16;
}

static ErrorKind kindOf(const dnnl::error &Failure) {
  return Failure.status == dnnl_out_of_memory ? ErrorKind::OutOfMemory
                                              : ErrorKind::Internal;
}

/// The library's name of a packed layout of weights seen as [K,N].
static std::optional<Tag> tagOf(PackedLayout Layout) {
  switch (Layout.Kind) {
  case LayoutKind::Vector:
    return std::nullopt;
  case LayoutKind::RowMajor:
    return Tag::ba;
  case LayoutKind::Panels:
    if (infoOf(Layout.Format).isQuantised())
      return std::nullopt;
    return Layout.Format == StorageFormat::F32 ? Tag::BA16a64b
                                               : Tag::BA16a64b2a;
  }
  return std::nullopt;
}

std::string engine::describe(size_t Index, const PrimitiveInfo &Info) {
  std::string Text = "primitive " + std::to_string(Index) + " (";
  Text += infoOf(Info.Source).Name;
  Text += " [rows," + std::to_string(Info.K) + "] x " + nameOf(Info.Layout) +
          " [" + std::to_string(Info.K) + "," + std::to_string(Info.N) +
          "] -> ";
  Text += infoOf(Info.Destination).Name;
  if (Info.HasBias)
    Text += ", bias";
  if (Info.Act != Activation::None)
    Text.append(", ").append(infoOf(Info.Act).Name);
  if (Info.Multiplier)
    Text.append(", times ").append(infoOf(*Info.Multiplier).Name);
  if (Info.Residual)
    Text.append(", plus ").append(infoOf(*Info.Residual).Name);
  return Text + ")";
}

struct MatmulPrimitives::Implementation {
  std::vector<PrimitiveInfo> Infos;
  CpuLevel Level;
  dnnl::engine Engine;
  dnnl::stream Stream;
  Scratch Work;
  MatmulCounters Counters;
  /// By primitive of the manifest; inside by bucket of rows.
  std::vector<std::map<int64_t, Prepared>> Cache;

  Implementation(std::span<const PrimitiveInfo> Infos, CpuLevel Level)
      : Infos(Infos.begin(), Infos.end()), Level(Level),
        Engine(dnnl::engine::kind::cpu, 0), Stream(Engine),
        Cache(Infos.size()) {}

  Error failure(ErrorKind Kind, size_t Index, int64_t Bucket,
                const std::string &What) const {
    return Error(Kind, describe(Index, Infos[Index]) + " with " +
                           std::to_string(Bucket) + " rows at level " +
                           std::string(infoOf(Level).Name) + ": " + What);
  }

  Result<Prepared *> get(size_t Index, int64_t Rows);
  Result<Prepared> build(const PrimitiveInfo &Info, int64_t Rows,
                         std::string &Kernel);
};

/// May throw dnnl::error. `Kernel` receives the name of the implementation.
Result<Prepared>
MatmulPrimitives::Implementation::build(const PrimitiveInfo &Info, int64_t Rows,
                                        std::string &Kernel) {
  std::optional<Tag> WeightsTag = tagOf(Info.Layout);
  if (!WeightsTag)
    return Error("layout is " + nameOf(Info.Layout) +
                 ": expected rows or panels");
  Desc Source({Rows, Info.K}, typeOf(Info.Source), Tag::ab);
  Desc Weights({Info.K, Info.N}, typeOf(Info.Layout.Format), *WeightsTag);
  Desc Destination({Rows, Info.N}, typeOf(Info.Destination), Tag::ab);
  Desc Bias = Info.HasBias
                  ? Desc({1, Info.N}, dnnl::memory::data_type::f32, Tag::ab)
                  : Desc();

  Prepared P;
  dnnl::post_ops Epilogue;
  std::optional<Desc> Multiplier, Residual;
  switch (Info.Act) {
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
  auto Binary = [&](dnnl::algorithm Algorithm, StorageFormat Format,
                    std::optional<Desc> &Operand) {
    Operand.emplace(dnnl::memory::dims{Rows, Info.N}, typeOf(Format), Tag::ab);
    Epilogue.append_binary(Algorithm, *Operand);
    return DNNL_ARG_ATTR_MULTIPLE_POST_OP(Epilogue.len() - 1) | DNNL_ARG_SRC_1;
  };
  if (Info.Multiplier)
    P.MultiplierArgument =
        Binary(dnnl::algorithm::binary_mul, *Info.Multiplier, Multiplier);
  if (Info.Residual)
    P.ResidualArgument =
        Binary(dnnl::algorithm::binary_add, *Info.Residual, Residual);

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
  if (Info.HasBias)
    Add(DNNL_ARG_BIAS, Bias);
  if (Multiplier)
    Add(P.MultiplierArgument, *Multiplier);
  if (Residual)
    Add(P.ResidualArgument, *Residual);
  Add(DNNL_ARG_SCRATCHPAD, Description.scratchpad_desc());
  P.ScratchBytes = Description.scratchpad_desc().get_size();
  return P;
}

Result<Prepared *> MatmulPrimitives::Implementation::get(size_t Index,
                                                         int64_t Rows) {
  int64_t Bucket = tenon_rt_bucket(Rows);
  auto &Known = Cache[Index];
  if (auto Found = Known.find(Bucket); Found != Known.end())
    return &Found->second;
  std::string Kernel;
  Result<Prepared> Built = Error("");
  try {
    Built = build(Infos[Index], Bucket, Kernel);
  } catch (const dnnl::error &Failure) {
    return failure(kindOf(Failure), Index, Bucket, Failure.what());
  }
  if (!Built) {
    ++Counters.Reference;
    return failure(ErrorKind::UnsupportedCpu, Index, Bucket,
                   Built.error().message());
  }
  if (Kernel.find("ref") != std::string::npos) {
    ++Counters.Reference;
    return failure(ErrorKind::UnsupportedCpu, Index, Bucket,
                   "the library has only its reference implementation '" +
                       Kernel + "'");
  }
  ++Counters.Primitives;
  Built->Kernel = std::move(Kernel);
  return &Known.emplace(Bucket, std::move(*Built)).first->second;
}

MatmulPrimitives::MatmulPrimitives(std::span<const PrimitiveInfo> Infos,
                                   CpuLevel Level)
    : Impl(std::make_unique<Implementation>(Infos, Level)) {}
MatmulPrimitives::MatmulPrimitives(MatmulPrimitives &&) noexcept = default;
MatmulPrimitives &
MatmulPrimitives::operator=(MatmulPrimitives &&) noexcept = default;
MatmulPrimitives::~MatmulPrimitives() = default;

const MatmulCounters &MatmulPrimitives::counters() const {
  return Impl->Counters;
}

std::vector<std::string>
MatmulPrimitives::implementations(size_t Primitive) const {
  std::vector<std::string> Names;
  for (const auto &[Bucket, Ready] : Impl->Cache[Primitive])
    if (std::find(Names.begin(), Names.end(), Ready.Kernel) == Names.end())
      Names.push_back(Ready.Kernel);
  return Names;
}

Status MatmulPrimitives::prepare(int64_t Rows) {
  for (size_t I = 0; I < Impl->Infos.size(); ++I)
    if (Result<Prepared *> P = Impl->get(I, Rows); !P)
      return P.error();
  return {};
}

Status MatmulPrimitives::run(const Matmul &P) {
  if (P.Primitive < 0 || static_cast<size_t>(P.Primitive) >= Impl->Infos.size())
    return Error(ErrorKind::Internal,
                 "matmul of primitive " + std::to_string(P.Primitive) +
                     ": expected 0 to " + std::to_string(Impl->Infos.size()) +
                     " (exclusive)");
  auto Index = static_cast<size_t>(P.Primitive);
  const PrimitiveInfo &Info = Impl->Infos[Index];
  auto Fail = [&](const char *What, ErrorKind Kind = ErrorKind::Internal) {
    return Impl->failure(Kind, Index, P.Rows, What);
  };
  if (P.Rows < 1)
    return Fail("expected at least one row");
  if (!P.Source || !P.Weights || !P.Destination ||
      (P.Bias != nullptr) != Info.HasBias ||
      (P.Multiplier != nullptr) != Info.Multiplier.has_value() ||
      (P.Residual != nullptr) != Info.Residual.has_value())
    return Fail("the operands passed are not those of the primitive");
  // Matmuls write partial sums into the destination before they are done.
  if (P.Source == P.Destination || P.Multiplier == P.Destination ||
      P.Residual == P.Destination)
    return Fail("no operand may be the destination");

  Result<Prepared *> Found = Impl->get(Index, P.Rows);
  if (!Found)
    return Found.error();
  Prepared &Ready = **Found;
  void *Work = Impl->Work.reserve(Ready.ScratchBytes);
  if (Ready.ScratchBytes != 0 && !Work)
    return Fail("no memory for the library's scratchpad",
                ErrorKind::OutOfMemory);
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
    return Fail(Failure.what(), kindOf(Failure));
  }
  ++Impl->Counters.Library;
  return {};
}

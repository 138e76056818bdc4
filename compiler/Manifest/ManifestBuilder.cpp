//===- ManifestBuilder.cpp - The manifest, read off the IR ----------------===//

#include "compiler/Manifest/ManifestBuilder.h"

#include "compiler/Builder/ModelBuilder.h"
#include "dialects/Transformer/CacheNumbering.h"
#include "passes/Bufferization/Passes.h"
#include "runtime/Abi/TenonRt.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>

using namespace tenon;
namespace tr = tenon::transformer;

static int64_t integerOf(mlir::Operation *Op, llvm::StringRef Name,
                         int64_t Default) {
  auto Value = Op->getAttrOfType<mlir::IntegerAttr>(Name);
  return Value ? Value.getInt() : Default;
}

Result<Manifest> tenon::describeModel(mlir::ModuleOp Module) {
  if (Status Valid = verifyModel(Module); !Valid)
    return Valid.error();
  Manifest M;
  M.ProducedBy = "tenon " TENON_VERSION;
  M.AbiMajor = TENON_RT_ABI_MAJOR;
  M.AbiMinor = TENON_RT_ABI_MINOR;
  describeSizes(Module, M);
  describeEntries(Module, M);
  return M;
}

void tenon::describeSizes(mlir::ModuleOp Module, Manifest &M) {
  auto Family = Module->getAttrOfType<mlir::StringAttr>(tr::attr::Family);
  M.Family = Family ? Family.str() : "mlir";
  M.Vocabulary = integerOf(Module, tr::attr::Vocabulary, 0);
  M.MaxSequence = integerOf(Module, tr::attr::MaxSequence, 0);
  M.TokenTypes = integerOf(Module, tr::attr::TokenTypes, 0);
  M.MaxSource = integerOf(Module, tr::attr::MaxSource, 0);
  M.Caches = describeCaches(Module);
  // From stage `fused` on.
  M.FewTokens = integerOf(Module, tr::attr::FewTokens, M.FewTokens);
  std::optional<int64_t> Tokens;
  for (auto Function : Module.getOps<mlir::func::FuncOp>())
    if (Function->hasAttr(tr::attr::Role) &&
        Function->hasAttr(tr::attr::MaxTokens))
      Tokens = std::min(Tokens.value_or(INT64_MAX),
                        integerOf(Function, tr::attr::MaxTokens, 0));
  M.MaxTokensPerStep = Tokens.value_or(M.MaxTokensPerStep);
}

/// Columns of what `Op` computes on tensors.
static int64_t resultWidth(mlir::Operation *Op) {
  return widthOf(Op->getResult(0));
}

void tenon::describeEntries(mlir::ModuleOp Module, Manifest &M) {
  bool UsesTypes = false;
  // Of the rows that images are given as, and of those that stand for them.
  int64_t Features = 0, Merged = 0;
  M.HasPrefixMask = false;
  Module.walk([&](mlir::Operation *Op) {
    if (auto Index = Op->getAttrOfType<tr::IndexKindAttr>("index"))
      UsesTypes |= Index.getValue() == tr::IndexKind::TokenType;
    else if (llvm::isa<tr::InputFeaturesOp, dnn::InputFeaturesOp>(Op))
      Features = resultWidth(Op);
    else if (llvm::isa<tr::MergeFeaturesOp, dnn::MergeFeaturesOp>(Op))
      Merged = resultWidth(Op);
    if (auto Mask = Op->getAttrOfType<tr::MaskKindAttr>("mask"))
      M.HasPrefixMask |= Mask.getValue() == tr::MaskKind::Prefix;
  });
  M.Entries.clear();
  for (auto Function : Module.getOps<mlir::func::FuncOp>()) {
    auto Role = Function->getAttrOfType<mlir::StringAttr>(tr::attr::Role);
    if (!Role)
      continue;
    EntryInfo Entry;
    Entry.Role = Role.str();
    // A valid model's entry has an output of the table.
    Entry.Output = *tr::outputOf(Function);
    // A valid model's entry has one result of activations.
    for (mlir::Type Result : Function.getResultTypes())
      if (tr::isActivations(Result))
        Entry.Width = llvm::cast<mlir::ShapedType>(Result).getDimSize(1);
    Entry.UsesTokenTypes = UsesTypes;
    if (auto Own =
            Function->getAttrOfType<mlir::IntegerAttr>(tr::attr::Vocabulary))
      Entry.Vocabulary = Own.getInt();
    if (Entry.Role == "encode_image")
      Entry.Features = Features;
    if (Entry.Role == "step")
      Entry.Features = Merged;
    M.Entries.push_back(Entry);
  }
}

std::vector<CacheInfo> tenon::describeCaches(mlir::ModuleOp Module) {
  int64_t Layers = 0;
  auto Count = [&](auto Scope) {
    if (Scope.getLayer())
      Layers = std::max(Layers, static_cast<int64_t>(*Scope.getLayer()) + 1);
  };
  Module.walk([&](tr::ScopeOp Scope) { Count(Scope); });
  Module.walk([&](dnn::ScopeOp Scope) { Count(Scope); });
  std::vector<CacheInfo> Result;
  CacheNumbering Caches(Module);
  for (tr::CacheType Cache : Caches.types()) {
    CacheInfo Info;
    Info.Layers = Layers;
    Info.KvHeads = Cache.getKvHeads();
    Info.HeadDim = Cache.getHeadDim();
    Info.Format = Cache.getFormat();
    Info.PageTokens = tr::PageTokens;
    Info.PageBytes = Cache.getPageBytes();
    if (Cache.isCross())
      Info.Content = CacheContent::Cross;
    if (Cache.isLatent())
      Info.Form = "latent";
    Result.push_back(Info);
  }
  return Result;
}

int64_t tenon::defaultTokensPerStep(const Manifest &M, mlir::ModuleOp Module) {
  bool OnlyEncodes = llvm::none_of(
      M.Entries, [](const EntryInfo &E) { return E.Role == "step"; });
  int64_t Tokens = OnlyEncodes ? std::max<int64_t>(512, M.MaxSequence)
                               : std::min<int64_t>(512, M.MaxSequence);
  // An image comes in one piece, too.
  for (auto Function : Module.getOps<mlir::func::FuncOp>())
    Tokens =
        std::max(Tokens, integerOf(Function, tr::attr::MaxSequence, Tokens));
  return Tokens;
}

bool tenon::isQuantised(mlir::ModuleOp Module) {
  bool Is = false;
  Module.walk([&](transformer::ParameterOp Op) {
    Is |= mlir::isa<transformer::QuantType>(
        mlir::getElementTypeOrSelf(Op.getType()));
  });
  return Is;
}

int64_t tenon::defaultFewTokens(mlir::ModuleOp Module, bool IsQuantised,
                                llvm::ArrayRef<CpuLevel> Levels) {
  auto AllHave = [&](DotProduct Dot) {
    return llvm::all_of(Levels, [&](CpuLevel Level) {
      return infoOf(Level).Dots.contains(Dot);
    });
  };
  auto AnyHas = [&](DotProduct Dot) {
    return llvm::any_of(Levels, [&](CpuLevel Level) {
      return infoOf(Level).Dots.contains(Dot);
    });
  };
  bool HasTiles = AllHave(DotProduct::BF16Tile);
  if (!IsQuantised) {
    bool IsBF16 = false;
    Module.walk([&](transformer::ParameterOp Op) {
      IsBF16 |= mlir::getElementTypeOrSelf(Op.getType()).isBF16();
    });
    if (IsBF16 && HasTiles)
      return 2;
    bool HasDots = AllHave(DotProduct::BF16) && !AnyHas(DotProduct::BF16Tile);
    return IsBF16 && HasDots ? 24 : 8;
  }
  if (transformer::isExact(Module))
    return 8;
  auto Compute =
      Module->getAttrOfType<mlir::StringAttr>(transformer::attr::ComputeType);
  bool InBF16 = !Compute || Compute.getValue() == "bf16";
  return HasTiles && InBF16 ? 8 : 3;
}

std::vector<PrimitiveInfo> tenon::describePrimitives(mlir::ModuleOp Module) {
  std::vector<PrimitiveInfo> Primitives;
  auto TypeOf = [](mlir::Value Rows) -> std::optional<StorageFormat> {
    if (!Rows)
      return std::nullopt;
    return dnn::formatOf(Rows);
  };
  Module.walk([&](dnn::MatmulOp Matmul) {
    if (!Matmul.getPrimitive())
      return;
    auto Number = static_cast<size_t>(*Matmul.getPrimitive());
    if (Primitives.size() <= Number)
      Primitives.resize(Number + 1);
    dnn::PackedType Weight = Matmul.getWeight().getType();
    PrimitiveInfo &Info = Primitives[Number];
    Info.K = Weight.getInFeatures();
    Info.N = Weight.getOutFeatures();
    Info.Source = *TypeOf(Matmul.getInput());
    Info.Destination = *TypeOf(Matmul.getOuts());
    Info.Layout = {Weight.getLayout(), Weight.getFormat()};
    Info.HasBias = static_cast<bool>(Matmul.getBias());
    Info.Act = Matmul.getActivation();
    Info.Multiplier = TypeOf(Matmul.getMultiplier());
    Info.Residual = TypeOf(Matmul.getResidual());
  });
  return Primitives;
}

std::vector<PlannedBuffer> tenon::describePlan(mlir::ModuleOp Module) {
  std::vector<PlannedBuffer> Plan;
  for (auto Function : Module.getOps<mlir::func::FuncOp>()) {
    int64_t Count = 0;
    Function.walk([&](dnn::BufferOp Buffer) {
      std::optional<dnn::PlanAttr> Planned = Buffer.getPlan();
      if (!Planned)
        return;
      PlannedBuffer Entry;
      Entry.Function = Function.getName().str();
      llvm::raw_string_ostream(Entry.Value)
          << "buffer" << Count++ << " " << Buffer.getType();
      Entry.Offset = Buffer.getOffset();
      Entry.Bytes = static_cast<uint64_t>(Planned->getBytes());
      Entry.FirstUse = Planned->getFirst();
      Entry.LastUse = Planned->getLast();
      Plan.push_back(Entry);
    });
  }
  return Plan;
}

/// `Text` without control characters, cut to what a manifest takes.
static std::string textOf(llvm::StringRef Text) {
  constexpr size_t Most = 1024;
  std::string Name;
  for (char C : Text.take_front(Most))
    Name += llvm::isPrint(C) ? C : '?';
  return Name.empty() ? "?" : Name;
}

std::vector<KernelInfo> tenon::describeKernels(mlir::ModuleOp Module) {
  std::vector<KernelInfo> Kernels;
  Module.walk([&](dnn::KernelOp Kernel) {
    auto Number = static_cast<size_t>(Kernel.getNumber());
    if (Kernels.size() <= Number)
      Kernels.resize(Number + 1);
    KernelInfo &Info = Kernels[Number];
    Info.Text = textOf(Kernel.getText());
    Info.Function = textOf(Kernel.getFunction());
    if (std::optional<uint64_t> Primitive = Kernel.getPrimitive())
      Info.Primitive = static_cast<int64_t>(*Primitive);
    if (std::optional<llvm::StringRef> Reason = Kernel.getReason())
      Info.Reason = textOf(*Reason);
    Info.Cost = Kernel.getCost().getCost();
  });
  return Kernels;
}

uint64_t tenon::arenaBytes(mlir::ModuleOp Module) {
  return static_cast<uint64_t>(integerOf(Module, dnn::attr::ArenaBytes, 0));
}

uint64_t tenon::scratchBytes(mlir::ModuleOp Module) {
  return static_cast<uint64_t>(integerOf(Module, dnn::attr::ScratchBytes, 0));
}

//===- NativeProgram.cpp - A placed module, compiled in memory ------------===//

#include "compiler/Native/NativeProgram.h"

#include "compiler/Manifest/ManifestBuilder.h"
#include "compiler/Native/NativeCode.h"
#include "compiler/Packing/WeightPacking.h"
#include "dialects/Transformer/CacheNumbering.h"
#include "passes/Support/Functions.h"
#include "runtime/Artifact/Artifact.h"
#include "runtime/Cache/PageCache.h"
#include "runtime/Engine/Batch.h"
#include "runtime/Engine/Executor.h"
#include "runtime/Engine/MatmulPrimitives.h"
#include "runtime/Engine/Memory.h"
#include "runtime/Support/Half.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cstring>

using namespace mlir;
using namespace tenon;
namespace tr = tenon::transformer;

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

/// Weights begin at pages in an artifact; code relies on 64 bytes.
static constexpr size_t WeightAlignment = 64;

void PackedWeights::Release::operator()(std::byte *Bytes) const {
  ::operator delete(Bytes, std::align_val_t(WeightAlignment));
}

Result<const void *> PackedWeights::bytesOf(const PackedWeight &Weight) {
  std::string Key = Weight.name();
  llvm::raw_string_ostream(Key) << Weight.Type;
  auto &Bytes = Packed[Key];
  if (Bytes)
    return Bytes.get();
  artifact::WeightInfo Info = infoOf(Weight);
  auto Size =
      static_cast<size_t>(packedBytes(Info.Layout, Info.Rows, Info.Columns));
  // Code may read whole vectors.
  Bytes.reset(static_cast<std::byte *>(
      ::operator new(Size + 4096, std::align_val_t(WeightAlignment))));
  std::memset(Bytes.get() + Size, 0, 4096);
  size_t At = 0;
  Status Done = packWeight(
      Weight, Source, [&](std::span<const std::byte> Part) -> Status {
        std::memcpy(Bytes.get() + At, Part.data(), Part.size());
        At += Part.size();
        return {};
      });
  if (!Done) {
    Bytes.reset();
    return Done.error();
  }
  return Bytes.get();
}

//===----------------------------------------------------------------------===//
// Probes
//===----------------------------------------------------------------------===//

/// Probes are calls of library matmuls that the program does not have: the
/// runtime is told of their input and does nothing else. So they change neither
/// the memory plan nor a kernel. Their weight is none either: its address says
/// which scope is current.
static constexpr int64_t FirstProbe = int64_t(1) << 32;

namespace {
/// What a probe shows.
enum class ProbeKind {
  Result,
  /// Rows that a weight is multiplied with.
  Input,
  /// Of experts, the choices expert by expert and where each begins; the input
  /// comes behind both.
  Order,
  Offsets
};

struct Probe {
  ProbeKind Kind;
  int64_t Width;
  /// Of the rows: f32, bf16 or grouped integers.
  Type Element = {};
  /// The operation and its result.
  size_t Number = 0;
  unsigned Result = 0;
  /// The place of the weight in its scope's table.
  size_t Weight = 0;
};

/// What the last probes of a mixture have shown.
struct Routing {
  const int32_t *Order = nullptr;
  const int32_t *Offsets = nullptr;
  int64_t Choices = 0; ///< Of all tokens.
};
} // namespace

SmallVector<Operation *> tenon::computationsOf(ModuleOp Placed) {
  SmallVector<Operation *> Ops;
  Placed.walk([&](dnn::ComputeOpInterface Op) { Ops.push_back(Op); });
  return Ops;
}

/// Lowering keeps locations: the number becomes part of it.
static void numberComputations(ModuleOp Placed) {
  auto I64 = IntegerType::get(Placed.getContext(), 64);
  for (auto [Number, Op] : llvm::enumerate(computationsOf(Placed)))
    Op->setLoc(FusedLoc::get(Placed.getContext(), {Op->getLoc()},
                             IntegerAttr::get(I64, Number)));
}

/// A scope in `Function`, before `Op`.
static Value scopeBefore(OpBuilder &B, func::FuncOp Function) {
  for (BlockArgument Argument : Function.getArguments())
    if (isa<tr::ScopeType>(Argument.getType()))
      return Argument;
  return dnn::ScopeOp::create(B, Function.getLoc(),
                              tr::ScopeType::get(B.getContext()),
                              *batchOf(Function), "", 0, IntegerAttr());
}

namespace {
/// Inserts probes into a planned module.
class ProbeInserter {
public:
  /// `Marker` is the place in each scope's table of what names the scope.
  ProbeInserter(ModuleOp Planned, int64_t Marker)
      : Planned(Planned), Marker(Marker) {}

  /// After every numbered operation, one per destination of activations.
  std::vector<Probe> afterResults() {
    for (Operation *Op : computationsOf(Planned)) {
      auto Location = dyn_cast<FusedLoc>(Op->getLoc());
      auto Number = Location
                        ? dyn_cast_or_null<IntegerAttr>(Location.getMetadata())
                        : IntegerAttr();
      if (!Number)
        continue;
      OpBuilder B(Op->getContext());
      B.setInsertionPointAfter(Op);
      Value Scope;
      auto Dps = cast<DestinationStyleOpInterface>(Op);
      for (auto [Result, Init] : llvm::enumerate(Dps.getDpsInitsMutable())) {
        auto Grouped = groupsOf(Init.get());
        if (!Grouped && !isProbed(Init.get()))
          continue;
        if (!Scope)
          Scope = scopeBefore(B, Op->getParentOfType<func::FuncOp>());
        Probe New = {ProbeKind::Result, 0};
        New.Number = static_cast<size_t>(Number.getInt());
        New.Result = static_cast<unsigned>(Result);
        New.Element = getElementTypeOrSelf(Init.get());
        insert(B, Op, Scope, Grouped ? asFloats(B, Grouped) : Init.get(), New);
      }
    }
    return std::move(Probes);
  }

  /// Before every matmul, one for each of its weights in panels.
  std::vector<Probe> beforeInputs() {
    for (Operation *Op : computationsOf(Planned)) {
      if (auto Matmul = dyn_cast<dnn::MatmulOp>(Op))
        probeInput(Op, Matmul.getInput(), {Matmul.getWeight()});
      else if (auto Gated = dyn_cast<dnn::GatedMatmulOp>(Op))
        probeInput(Op, Gated.getInput(), {Gated.getGate(), Gated.getUp()});
      else if (auto GateUp = dyn_cast<dnn::MoeGateUpOp>(Op))
        probeRouted(GateUp, {GateUp.getGate(), GateUp.getUp()});
      else if (auto Down = dyn_cast<dnn::MoeDownOp>(Op))
        probeRouted(Down, {Down.getDown()});
    }
    return std::move(Probes);
  }

private:
  static bool isProbed(Value Buffer) {
    auto Type = dyn_cast<MemRefType>(Buffer.getType());
    return Type && Type.getRank() == 2 && !Type.isDynamicDim(1) &&
           isa<FloatType>(Type.getElementType());
  }

  /// A buffer of grouped integers; null for others.
  static dnn::BufferOp groupsOf(Value Buffer) {
    bool IsGrouped = isa<MemRefType>(Buffer.getType()) &&
                     static_cast<bool>(dnn::groupedTypeOf(Buffer));
    return IsGrouped ? Buffer.getDefiningOp<dnn::BufferOp>() : dnn::BufferOp();
  }

  void insert(OpBuilder &B, Operation *Op, Value Scope, Value Buffer,
              Probe New) {
    auto Type = cast<MemRefType>(Buffer.getType());
    New.Width = Type.getDimSize(1);
    if (!New.Element)
      New.Element = Type.getElementType();
    auto Weight = dnn::WeightOp::create(
        B, Op->getLoc(),
        dnn::PackedType::get(B.getContext(), LayoutKind::Panels, 1, New.Width,
                             New.Width, dnn::formatOf(Buffer)),
        Scope, B.getStrArrayAttr({"probe"}), "head",
        B.getI64IntegerAttr(Marker));
    auto Id = FirstProbe + static_cast<int64_t>(Probes.size());
    dnn::CallMatmulOp::create(B, Op->getLoc(), Id, *batchOf(Op), Buffer, Weight,
                              Value(), Value(), Value(), Buffer);
    Probes.push_back(New);
  }

  void probeInput(Operation *Op, Value Input, ArrayRef<Value> Weights) {
    if (!isProbed(Input))
      return;
    OpBuilder B(Op);
    for (Value Weight : Weights) {
      auto Handle = Weight.getDefiningOp<dnn::WeightOp>();
      if (!Handle || !Handle.getIndex())
        continue;
      Probe New = {ProbeKind::Input, 0};
      New.Weight = static_cast<size_t>(*Handle.getIndex());
      insert(B, Op, Handle.getScope(), Input, New);
    }
  }

  /// A mixture's: the runtime must know which rows are whose.
  template <typename OpTy> void probeRouted(OpTy Op, ArrayRef<Value> Weights) {
    auto Handle = Weights.front().getDefiningOp<dnn::WeightOp>();
    auto Order = Op.getOrder().template getDefiningOp<dnn::BufferOp>();
    auto Offsets = Op.getOffsets().template getDefiningOp<dnn::BufferOp>();
    if (!Handle || !Order || !Offsets)
      return;
    OpBuilder B(Op);
    insert(B, Op, Handle.getScope(), asFloats(B, Order), {ProbeKind::Order, 0});
    insert(B, Op, Handle.getScope(), asFloats(B, Offsets),
           {ProbeKind::Offsets, 0});
    probeInput(Op, Op.getInput(), Weights);
  }

  /// The bytes of `Other` as what a library's matmul takes.
  static Value asFloats(OpBuilder &B, dnn::BufferOp Other) {
    OpBuilder::InsertionGuard Guard(B);
    B.setInsertionPointAfter(Other);
    auto Twin = cast<dnn::BufferOp>(B.clone(*Other));
    MemRefType Type = Twin.getType();
    Twin.getResult().setType(
        MemRefType::Builder(Type).setElementType(B.getF32Type()));
    return Twin;
  }

  ModuleOp Planned;
  int64_t Marker;
  std::vector<Probe> Probes;
};
} // namespace

/// Gives every buffer bytes of its own.
static void spreadBuffers(ModuleOp Planned) {
  int64_t End = 0;
  Planned.walk([&](dnn::BufferOp Buffer) {
    auto Plan = Buffer.getPlan();
    if (!Plan)
      return;
    Buffer.setOffset(End);
    End += 2 * Plan->getBytes();
  });
  Planned->setAttr(dnn::attr::ArenaBytes,
                   Builder(Planned.getContext()).getI64IntegerAttr(End));
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

namespace {
/// One kind of cache: pages of all layers, [layer][page][page bytes].
struct Pages {
  tr::CacheType Type;
  int64_t Count = 0;
  engine::WorkingMemory Memory;

  void *layer(int64_t Layer) const {
    return Memory.data() + Layer * Count * Type.getPageBytes();
  }
};
} // namespace

struct NativeProgram::Implementation {
  NativeOptions Options;
  engine::Executor Threads;
  std::vector<artifact::PrimitiveInfo> Primitives;
  engine::MatmulPrimitives Library{Primitives, Options.Settings.Level};
  std::optional<artifact::LoadedCode> Code;
  engine::WorkingMemory Arena, Scratch;
  std::vector<Pages> Caches;
  std::vector<std::vector<const void *>> Weights;
  std::vector<std::vector<void *>> CacheTables;
  std::vector<tenon_rt_scope> Scopes;
  std::vector<ScopeTable> Tables;
  std::vector<Probe> Probes;
  Observer Told;
  InputObserver ToldInputs;
  Routing Choices;
  std::map<std::string, artifact::EntryInfo> Entries;
  /// Batches of at most so many tokens run variants for few.
  int64_t FewTokens = 0;
  std::optional<int64_t> ImageToken;
  /// Places of sequences in the caches, and tokens of their source texts.
  std::map<int64_t, int64_t> Places, SourceLengths;
  std::vector<std::vector<int32_t>> PageTables;
  std::optional<Error> Failure;

  Implementation(const NativeOptions &Options, engine::Executor Threads,
                 std::vector<artifact::PrimitiveInfo> Primitives)
      : Options(Options), Threads(std::move(Threads)),
        Primitives(std::move(Primitives)) {}

  Status allocate(ModuleOp Placed, PackedWeights &Source);
  /// The place behind the weights in every scope's table.
  size_t marker() const;
  void probed(const Probe &P, const engine::Matmul &Call);
  void inputProbed(const Probe &P, const ScopeTable &Scope, Tensor2D Rows);
};

NativeProgram::NativeProgram(std::unique_ptr<Implementation> Impl)
    : Impl(std::move(Impl)) {}
NativeProgram::NativeProgram(NativeProgram &&) noexcept = default;
NativeProgram &NativeProgram::operator=(NativeProgram &&) noexcept = default;
NativeProgram::~NativeProgram() = default;
void NativeProgram::observe(Observer Told) { Impl->Told = std::move(Told); }
void NativeProgram::observeInputs(InputObserver Told) {
  Impl->ToldInputs = std::move(Told);
}

size_t NativeProgram::Implementation::marker() const {
  size_t Most = 0;
  for (const ScopeTable &Table : Tables)
    Most = std::max(Most, Table.Weights.size());
  return Most;
}

Status NativeProgram::Implementation::allocate(ModuleOp Placed,
                                               PackedWeights &Source) {
  int64_t Layers = 1;
  for (const ScopeTable &Table : Tables)
    Layers = std::max(Layers, Table.Layer.value_or(0) + 1);
  int64_t PerSequence =
      (Options.MaxPositions + tr::PageTokens - 1) / tr::PageTokens;
  for (int64_t S = 0; S < Options.MaxSequences; ++S) {
    std::vector<int32_t> &Table = PageTables.emplace_back();
    for (int64_t P = 0; P < PerSequence; ++P)
      Table.push_back(static_cast<int32_t>(S * PerSequence + P));
    Table.resize(Table.size() + cache::PageTablePadding);
  }
  CacheNumbering Numbering(Placed);
  for (tr::CacheType Type : Numbering.types()) {
    Pages &Kind = Caches.emplace_back();
    Kind.Type = Type;
    Kind.Count = Options.MaxSequences * PerSequence;
    auto Memory = engine::WorkingMemory::reserve(
        static_cast<uint64_t>(Layers * Kind.Count * Type.getPageBytes()),
        "caches");
    if (!Memory)
      return Memory.error();
    Kind.Memory = std::move(*Memory);
  }
  for (const ScopeTable &Table : Tables) {
    auto &Addresses = Weights.emplace_back();
    for (const std::optional<PackedWeight> &Weight : Table.Weights) {
      Addresses.push_back(nullptr);
      if (!Weight)
        continue;
      Result<const void *> Bytes = Source.bytesOf(*Weight);
      if (!Bytes)
        return Bytes.error();
      Addresses.back() = *Bytes;
    }
    Addresses.resize(marker() + 1);
    Addresses.back() = &Table;
    auto &Kinds = CacheTables.emplace_back();
    for (const Pages &Kind : Caches)
      Kinds.push_back(Table.Layer ? Kind.layer(*Table.Layer) : nullptr);
  }
  // One more where a module has no scope at all.
  Weights.emplace_back(marker() + 1);
  CacheTables.emplace_back(Caches.size());
  for (auto [Addresses, Kinds] : llvm::zip(Weights, CacheTables))
    Scopes.push_back({Addresses.data(), Kinds.data()});
  return {};
}

/// What the record of a group at `Record` stands for.
static void decodeGroup(dnn::GroupedType Type, const int8_t *Record,
                        std::span<float> Group) {
  float Scale = 0;
  std::memcpy(&Scale, Record + Type.getScaleOffset(), sizeof(Scale));
  for (int64_t Place = 0; Place < GroupValues; ++Place) {
    auto Feature = static_cast<size_t>(Type.getFeature(Place));
    if (Feature >= Group.size())
      continue;
    int32_t Code = Record[Place];
    if (Type.getDigitBits() == 16) {
      int16_t Word = 0;
      std::memcpy(&Word, Record + 2 * Place, sizeof(Word));
      Code = Word;
    } else if (Type.getDigits() == 2) {
      Code = 256 * Code + Record[GroupValues + Place];
    }
    Group[Feature] = static_cast<float>(Code) * Scale;
  }
}

/// `Rows` rows of `Width` elements at `Source`.
static Tensor2D tensorOf(int64_t Rows, int64_t Width, Type Element,
                         const void *Source) {
  Tensor2D Value(Rows, Width);
  if (auto Grouped = dyn_cast<dnn::GroupedType>(Element)) {
    const auto *Record = static_cast<const int8_t *>(Source);
    for (int64_t Row = 0; Row < Rows; ++Row)
      for (int64_t At = 0; At < Width; At += GroupValues) {
        auto Count = static_cast<size_t>(std::min(GroupValues, Width - At));
        decodeGroup(Grouped, Record, {Value.row(Row) + At, Count});
        Record += Grouped.getRecordBytes();
      }
  } else if (Element.isBF16()) {
    for (size_t I = 0; I < Value.Data.size(); ++I)
      Value.Data[I] = bf16ToFloat(static_cast<const uint16_t *>(Source)[I]);
  } else {
    std::memcpy(Value.Data.data(), Source, Value.Data.size() * sizeof(float));
  }
  return Value;
}

void NativeProgram::Implementation::probed(const Probe &P,
                                           const engine::Matmul &Call) {
  switch (P.Kind) {
  case ProbeKind::Result:
    if (Told)
      Told(P.Number, P.Result,
           tensorOf(Call.Rows, P.Width, P.Element, Call.Source));
    return;
  case ProbeKind::Order:
    Choices.Order = static_cast<const int32_t *>(Call.Source);
    Choices.Choices = Call.Rows * P.Width;
    return;
  case ProbeKind::Offsets:
    Choices.Offsets = static_cast<const int32_t *>(Call.Source);
    return;
  case ProbeKind::Input:
    if (ToldInputs && Call.Weights)
      inputProbed(P, *static_cast<const ScopeTable *>(Call.Weights),
                  tensorOf(Call.Rows, P.Width, P.Element, Call.Source));
    return;
  }
}

void NativeProgram::Implementation::inputProbed(const Probe &P,
                                                const ScopeTable &Scope,
                                                Tensor2D Rows) {
  const std::optional<PackedWeight> &Weight = Scope.Weights[P.Weight];
  if (!Weight)
    return;
  int64_t Count = Weight->Type.getCount(), K = Weight->Type.getInFeatures();
  if (Count == 1)
    return ToldInputs(*Weight, 0, Rows);
  // Input has a row for each choice, side by side, or for each token.
  bool IsPerChoice = Rows.Columns != K;
  int64_t PerToken = Choices.Choices / std::max<int64_t>(Rows.Rows, 1);
  for (int64_t Expert = 0; Expert < Count; ++Expert) {
    int64_t First = Choices.Offsets[Expert], End = Choices.Offsets[Expert + 1];
    if (First == End)
      continue;
    Tensor2D Routed(End - First, K);
    for (int64_t I = First; I < End; ++I) {
      int64_t Choice = Choices.Order[I];
      std::copy_n(Rows.Data.data() +
                      (IsPerChoice ? Choice : Choice / PerToken) * K,
                  K, Routed.row(I - First));
    }
    ToldInputs(*Weight, Expert, Routed);
  }
}

static artifact::EntryInfo entryInfo(func::FuncOp Function) {
  artifact::EntryInfo Info;
  auto Text = [&](StringRef Name) {
    auto Value = Function->getAttrOfType<StringAttr>(Name);
    return Value ? Value.str() : std::string();
  };
  Info.Role = Text(tr::attr::Role);
  Info.Output = *tr::outputOf(Function);
  for (Type Result : Function.getResultTypes())
    if (tr::isActivations(Result))
      Info.Width = cast<ShapedType>(Result).getDimSize(1);
  // Handed on to functions. There is one width of either kind, and only "step"
  // merges.
  auto Module = Function->getParentOfType<ModuleOp>();
  auto TakeWidth = [&](auto Op) {
    Info.Features = cast<ShapedType>(Op.getOuts().getType()).getDimSize(1);
  };
  Module.walk([&](dnn::InputFeaturesOp Op) { TakeWidth(Op); });
  if (Info.Role == "step")
    Module.walk([&](dnn::MergeFeaturesOp Op) { TakeWidth(Op); });
  return Info;
}

/// The token that rows of input stand for in "step", if there is one.
static std::optional<int64_t> imageTokenOf(ModuleOp Placed) {
  std::optional<int64_t> Token;
  Placed.walk([&](dnn::MergeFeaturesOp Op) {
    Token = static_cast<int64_t>(Op.getToken());
  });
  return Token;
}

Result<NativeProgram> NativeProgram::compile(ModuleOp Placed,
                                             PackedWeights &Weights,
                                             const NativeOptions &Options) {
  OwningOpRef<ModuleOp> Module = Placed.clone();
  numberComputations(*Module);
  Result<engine::Executor> Threads = engine::Executor::create(Options.Threads);
  if (!Threads)
    return Threads.error();
  std::unique_ptr<Implementation> I(new Implementation(
      Options, std::move(*Threads), describePrimitives(*Module)));
  if (auto Few = Placed->getAttrOfType<IntegerAttr>(tr::attr::FewTokens))
    I->FewTokens = Few.getInt();
  std::vector<std::string> Roles;
  for (auto Function : Placed.getOps<func::FuncOp>())
    if (Function->hasAttr(tr::attr::Role)) {
      artifact::EntryInfo Info = entryInfo(Function);
      Roles.push_back(Info.Role);
      I->Entries[Info.Role] = Info;
    }
  I->ImageToken = imageTokenOf(Placed);
  I->Tables = collectWeights(*Module);
  if (Status Done = I->allocate(Placed, Weights); !Done)
    return Done.error();

  uint64_t ArenaSize = 0, ScratchSize = 0;
  Status Lowered = runStages(
      *Module, Options.Settings, StageId::Buffers, StageId::Llvm,
      [&](const Stage &, StringRef Pass) -> Result<bool> {
        if (Pass == "place-scratch")
          ScratchSize = scratchBytes(*Module);
        if (Pass != "plan-memory")
          return true;
        if (!Options.SharedBuffers)
          spreadBuffers(*Module);
        ArenaSize = arenaBytes(*Module);
        ProbeInserter Inserter(*Module, static_cast<int64_t>(I->marker()));
        if (Options.Shown == Observed::Results)
          I->Probes = Inserter.afterResults();
        else if (Options.Shown == Observed::Inputs)
          I->Probes = Inserter.beforeInputs();
        return true;
      });
  if (!Lowered)
    return Lowered.error();
  Result<std::string> Object = toSharedObject(*Module, Options.Settings.Level);
  if (!Object)
    return Object.error();
  Result<artifact::LoadedCode> Code = artifact::loadObject(
      std::as_bytes(std::span(Object->data(), Object->size())),
      Options.Settings.Level, Roles);
  if (!Code)
    return Code.error();
  I->Code.emplace(std::move(*Code));
  auto Arena = engine::WorkingMemory::reserve(std::max<uint64_t>(ArenaSize, 64),
                                              "arena");
  if (!Arena)
    return Arena.error();
  I->Arena = std::move(*Arena);
  auto Scratch = engine::WorkingMemory::reserve(
      ScratchSize * static_cast<uint64_t>(I->Threads.threads()), "scratch");
  if (!Scratch)
    return Scratch.error();
  I->Scratch = std::move(*Scratch);
  return NativeProgram(std::move(I));
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

extern "C" {

static int64_t runParallel(void *Runtime, tenon_rt_body Body,
                           void *Environment) {
  static_cast<engine::Executor *>(static_cast<void **>(Runtime)[0])
      ->parallel(Body, Environment);
  return 0;
}

static void runBarrier(void *Runtime) {
  static_cast<engine::Executor *>(static_cast<void **>(Runtime)[0])->barrier();
}

static int64_t runMatmul(void *Runtime, int64_t Primitive, int64_t Rows,
                         const void *Source, const void *Weights,
                         const void *Bias, const void *Multiplier,
                         const void *Residual, void *Destination) {
  auto &Call = *static_cast<std::function<int64_t(const engine::Matmul &)> *>(
      static_cast<void **>(Runtime)[1]);
  return Call({Primitive, Rows, Source, Weights, Bias, Multiplier, Residual,
               Destination});
}

static void runClaim(void *Runtime, int64_t Thread, int64_t Threads,
                     int64_t Total, int64_t Grain, tenon_rt_items *Items) {
  *Items = static_cast<engine::Executor *>(static_cast<void **>(Runtime)[0])
               ->claim(Thread, Threads, Total, Grain);
}

static void ignoreMark(void *, int64_t, const tenon_rt_scope *, int64_t,
                       int64_t) {}

} // extern "C"

Result<Tensor2D> NativeProgram::run(StringRef Role,
                                    const EvaluatorBatch &Batch) {
  Implementation &I = *Impl;
  auto Found = I.Entries.find(Role.str());
  if (Found == I.Entries.end())
    return Error("role '" + Role.str() + "': expected an entry that has it");
  const artifact::EntryInfo &Info = Found->second;
  // A step without image tokens needs no rows.
  bool NeedsRows = Role != "step" || !I.ImageToken ||
                   llvm::is_contained(Batch.TokenIds, *I.ImageToken);
  bool HasRows = Batch.Features.Rows != 0;
  if (Info.Features != 0 && (NeedsRows || HasRows) &&
      Batch.Features.Columns != Info.Features)
    return Error("batch: field 'Features' has rows of " +
                 std::to_string(Batch.Features.Columns) + ": expected " +
                 std::to_string(Info.Features));

  engine::BatchBuilder Builder;
  Builder.clear(HasRows ? Info.Features : 0);
  std::vector<int64_t> Starts = Batch.starts();
  std::vector<int32_t> Ids(Batch.TokenIds.begin(), Batch.TokenIds.end());
  std::vector<int32_t> Types(Batch.TokenTypes.begin(), Batch.TokenTypes.end());
  for (size_t S = 0; S + 1 < Starts.size(); ++S) {
    auto First = static_cast<size_t>(Starts[S]);
    auto Count = static_cast<size_t>(Starts[S + 1]) - First;
    int64_t Name = Batch.Sequences[First];
    auto Place =
        I.Places.try_emplace(Name, static_cast<int64_t>(I.Places.size()))
            .first->second;
    if (Place >= I.Options.MaxSequences ||
        Batch.Positions[First + Count - 1] >= I.Options.MaxPositions)
      return Error("batch: expected at most " +
                   std::to_string(I.Options.MaxSequences) + " sequences of " +
                   std::to_string(I.Options.MaxPositions) + " tokens");
    if (Role != "step")
      I.SourceLengths[Name] = static_cast<int64_t>(Count);
    engine::Slice Slice;
    Slice.Tokens = std::span(Ids).subspan(First, Count);
    if (!Types.empty())
      Slice.TokenTypes = std::span(Types).subspan(First, Count);
    if (HasRows && Info.Features != 0)
      Slice.Features = {Batch.Features.row(Starts[S]),
                        Count * static_cast<size_t>(Info.Features)};
    Slice.Position = Batch.Positions[First];
    Slice.Pages = Slice.CrossPages =
        I.PageTables[static_cast<size_t>(Place)].data();
    Slice.SourceLength = I.SourceLengths[Name];
    Slice.Prefix = Batch.Prefixes.empty() ? 0 : Batch.Prefixes[S];
    Builder.add(Slice);
  }
  tenon_rt_batch Built = Builder.finish(I.FewTokens);
  std::vector<int32_t> Rows(Batch.OutputRows.begin(), Batch.OutputRows.end());
  Built.output_row_count = static_cast<int64_t>(Rows.size());
  Rows.resize(Rows.size() + 64);
  Built.output_rows = Rows.data();

  int64_t Answered =
      isPerSequence(Info.Output) ? Built.sequences : Built.output_row_count;
  // Matmuls write whole buckets.
  std::vector<float> Output(static_cast<size_t>((Answered + 256) * Info.Width));
  std::function<int64_t(const engine::Matmul &)> Call =
      [&](const engine::Matmul &P) -> int64_t {
    if (P.Primitive >= FirstProbe) {
      I.probed(I.Probes[static_cast<size_t>(P.Primitive - FirstProbe)], P);
      return 0;
    }
    Status Done = I.Library.run(P);
    if (!Done)
      I.Failure = Done.error();
    return Done ? 0 : 1;
  };
  void *Runtime[] = {&I.Threads, &Call};
  constexpr tenon_rt_functions Functions = {sizeof(tenon_rt_functions),
                                            runParallel,
                                            runBarrier,
                                            runMatmul,
                                            ignoreMark,
                                            runClaim};
  tenon_rt_step Step = {};
  Step.size = sizeof(Step);
  Step.functions = &Functions;
  Step.runtime = Runtime;
  Step.batch = &Built;
  Step.scopes = I.Scopes.data();
  Step.arena = reinterpret_cast<char *>(I.Arena.data());
  Step.output = Output.data();
  Step.scratch = reinterpret_cast<char *>(I.Scratch.data());
  Step.scratch_bytes =
      static_cast<int64_t>(I.Scratch.size()) / I.Threads.threads();
  int64_t Answer = 0;
  I.Failure.reset();
  I.Threads.run([&] { Answer = I.Code->entry(Role.str())(&Step); });
  if (I.Failure)
    return *I.Failure;
  if (Answer != 0)
    return Error("entry '" + Role.str() + "' answered " +
                 std::to_string(Answer) + ": expected 0");
  Tensor2D Result(Answered, Info.Width);
  std::copy_n(Output.begin(), Result.Data.size(), Result.Data.begin());
  return Result;
}

//===- Bisect.cpp - The first pass whose result differs -------------------===//

#include "compiler/Bisect/Bisect.h"

#include "compiler/Builder/Places.h"
#include "compiler/Evaluator/Evaluator.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace tenon;
using namespace tenon::bisect;
namespace tr = tenon::transformer;

double tenon::bisect::differenceOf(const Tensor2D &Got,
                                   const Tensor2D &Expected) {
  constexpr double Infinite = std::numeric_limits<double>::infinity();
  if (Got.Rows != Expected.Rows || Got.Columns != Expected.Columns)
    return Infinite;
  double Largest = 0, Error = 0;
  for (size_t I = 0; I < Expected.Data.size(); ++I) {
    double G = Got.Data[I], W = Expected.Data[I];
    if (G == W || (std::isnan(G) && std::isnan(W)))
      continue;
    if (!std::isfinite(G) || !std::isfinite(W))
      return Infinite;
    Error = std::max(Error, std::abs(G - W));
  }
  if (Error == 0)
    return 0;
  for (float W : Expected.Data)
    if (std::isfinite(W))
      Largest = std::max(Largest, std::abs(static_cast<double>(W)));
  // Zeros may be the noise of larger operands.
  constexpr double Floor = 1e-3;
  return Error / std::max(Largest, Floor);
}

/// Quantised weights are exact on both sides.
static double formatTolerance(StorageFormat Format) {
  return Format == StorageFormat::BF16 ? Tolerance::OneBF16 : Tolerance::F32;
}

static double typeTolerance(Type T) {
  if (auto Packed = dyn_cast<dnn::PackedType>(T))
    return formatTolerance(Packed.getFormat());
  if (auto Cache = dyn_cast<tr::CacheType>(T))
    return Cache.getFormat() == CacheFormat::F32 ? Tolerance::F32
                                                 : Tolerance::OneBF16;
  Type Element = getElementTypeOrSelf(T);
  return isa<FloatType>(Element) ? formatTolerance(dnn::formatOf(Element)) : 0;
}

/// Whether rows are quantised: placement does that, where weights are.
static bool hasGroupedRows(ModuleOp Module) {
  return Module
      .walk([](Operation *Op) {
        return llvm::any_of(Op->getResultTypes(),
                            [](Type T) {
                              return isa<dnn::GroupedType>(
                                  getElementTypeOrSelf(T));
                            })
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// What quantising adds: a code may round to its neighbour. Codes that are read
/// are exact.
static double storedTolerance(Type T) {
  auto Grouped = dyn_cast<dnn::GroupedType>(getElementTypeOrSelf(T));
  return Grouped ? 1 / static_cast<double>(Grouped.getLargest()) : 0;
}

double tenon::bisect::toleranceOf(Operation *Op) {
  double Largest = Tolerance::F32;
  for (TypeRange Types :
       {TypeRange(Op->getOperandTypes()), TypeRange(Op->getResultTypes())})
    for (Type T : Types)
      Largest = std::max(Largest, typeTolerance(T));
  double Stored = 0;
  for (Type T : Op->getResultTypes())
    Stored = std::max(Stored, storedTolerance(T));
  return Largest + Stored;
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

static int64_t countOf(Operation *Op, StringRef Name, int64_t Default) {
  auto Count = Op->getAttrOfType<IntegerAttr>(Name);
  return Count ? Count.getInt() : Default;
}

/// Numbers between -1 and 1 without a pattern.
static Tensor2D featuresOf(int64_t Rows, int64_t Columns) {
  Tensor2D Features(Rows, Columns);
  uint32_t State = 1;
  for (float &Value : Features.Data) {
    State = State * 1664525u + 1013904223u;
    Value = static_cast<float>(State >> 8) / static_cast<float>(1 << 23) - 1;
  }
  return Features;
}

/// Ids of `Count` tokens, the same for every build.
static std::vector<int64_t> someIds(int64_t Count, int64_t Vocabulary,
                                    int64_t Seed) {
  std::vector<int64_t> Ids;
  for (int64_t I = 0; I < Count; ++I)
    Ids.push_back((Seed + I * 7919 + I * I * 31) %
                  std::max<int64_t>(Vocabulary, 1));
  return Ids;
}

Result<std::vector<Run>> tenon::bisect::runsFor(ModuleOp Model,
                                                ArrayRef<int64_t> Ids,
                                                int64_t FewTokens) {
  int64_t Limit = countOf(Model, tr::attr::MaxSequence, 1 << 20);
  if (int64_t Source = countOf(Model, tr::attr::MaxSource, 0))
    Limit = std::min(Limit, Source);
  int64_t Width = 0;
  Model.walk([&](tr::InputFeaturesOp Op) {
    Width = Op.getResult().getType().getShape()[1];
  });
  tr::MergeFeaturesOp Merge;
  Model.walk([&](tr::MergeFeaturesOp Op) { Merge = Op; });
  if (Width != 0 && !Merge && !Ids.empty())
    return Error("token ids: expected none, the model takes images");
  if (static_cast<int64_t>(Ids.size()) > Limit)
    return Error(std::to_string(Ids.size()) + " token ids: expected at most " +
                 std::to_string(Limit) + ", the model's length");
  std::vector<Run> Runs;
  std::vector<func::FuncOp> Entries;
  for (auto Function : Model.getOps<func::FuncOp>())
    if (Function->hasAttr(tr::attr::Role))
      Entries.push_back(Function);
  // What fills caches of source texts comes before what reads them.
  llvm::stable_sort(Entries, [](func::FuncOp A, func::FuncOp B) {
    auto IsStep = [](func::FuncOp F) {
      return F->getAttrOfType<StringAttr>(tr::attr::Role) == "step";
    };
    return IsStep(A) < IsStep(B);
  });
  for (func::FuncOp Entry : Entries) {
    StringRef Role = Entry->getAttrOfType<StringAttr>(tr::attr::Role);
    int64_t Vocabulary = countOf(Entry, tr::attr::Vocabulary,
                                 countOf(Model, tr::attr::Vocabulary, 1));
    for (int64_t Id : Ids)
      if (Id < 0 || Id >= Vocabulary)
        return Error("token id " + std::to_string(Id) + ": expected 0 to " +
                     std::to_string(Vocabulary - 1));
    bool IsStep = Role == "step", TakesIds = Role != "encode_image";
    int64_t Longest = countOf(Entry, tr::attr::MaxSequence, Limit);
    // Rows of the batch: of patches, or of images where a token is one.
    int64_t RowWidth = TakesIds ? 0 : Width;
    if (IsStep && Merge)
      RowWidth = Merge.getType().getDimSize(1);
    std::vector<std::vector<int64_t>> Texts;
    if (!Ids.empty() && TakesIds) {
      Texts.push_back({Ids.begin(), Ids.end()});
    } else {
      Texts.push_back(
          someIds(std::min(FewTokens + 5, Longest - IsStep), Vocabulary, 1));
      Texts.push_back(
          someIds(std::min<int64_t>(3, Longest - IsStep), Vocabulary, 5));
      if (IsStep && Merge)
        Texts.front()[Texts.front().size() / 2] =
            static_cast<int64_t>(Merge.getToken());
    }
    Run &Prompt = Runs.emplace_back();
    Prompt.Role = Role.str();
    for (auto [Sequence, Text] : llvm::enumerate(Texts))
      Prompt.Batch.add(static_cast<int64_t>(Sequence), Text, 0,
                       static_cast<int64_t>(Text.size()));
    if (RowWidth != 0)
      Prompt.Batch.Features = featuresOf(Prompt.Batch.tokens(), RowWidth);
    if (!IsStep || static_cast<int64_t>(Texts.front().size()) >= Limit)
      continue;
    Run &Next = Runs.emplace_back();
    Next.Role = Role.str();
    for (auto [Sequence, Text] : llvm::enumerate(Texts))
      Next.Batch.add(static_cast<int64_t>(Sequence),
                     someIds(1, Vocabulary, static_cast<int64_t>(Sequence) + 2),
                     static_cast<int64_t>(Text.size()), 1);
    if (RowWidth != 0)
      Next.Batch.Features = featuresOf(Next.Batch.tokens(), RowWidth);
  }
  if (Runs.empty())
    return Error("module: expected an entry");
  return Runs;
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

namespace {

/// A result of an operation.
struct Event {
  size_t RunIndex;
  std::string Scope, Operation, Location;
  /// All names in its location.
  SmallVector<StringAttr, 2> Names;
  /// Of operands, where they were computed in this call: indices of events.
  SmallVector<std::optional<size_t>, 4> Operands;
  Tensor2D Value;

  bool hasShapeOf(const Event &Other) const {
    return Value.Rows == Other.Value.Rows &&
           Value.Columns == Other.Value.Columns;
  }
};

/// What a module computes.
struct Evaluation {
  std::vector<Tensor2D> Outputs; ///< One per run.
  std::vector<Event> Events;
};

/// The runs, and what they are compared with.
class Bisection {
public:
  Bisection(ModuleOp Model, const Checkpoint &Weights,
            const BisectOptions &Options)
      : Model(Model), Parameters(checkpointParameters(Weights)),
        Packed(Weights), Options(Options) {}

  Result<BisectReport> run();

private:
  void say(const std::string &Line) const {
    if (Options.Progress)
      Options.Progress(Line);
  }

  Result<Evaluation> evaluate(ModuleOp Module, bool KeepEvents);
  double worst(const Evaluation &Got, const Evaluation &Expected) const;
  void findEvent(const Evaluation &Got, const Evaluation &Before,
                 Difference &Found) const;
  Status checkAgainst(const Evaluation &Expected);
  Status checkPasses(OwningOpRef<ModuleOp> &Placed);
  Status checkNative(ModuleOp Placed);

  /// The first result of the compiled program that differs.
  struct NativeOutcome {
    std::optional<Difference> First;
    Operation *Op = nullptr;
    int64_t Compared = 0;
    /// Of the runs so far.
    std::vector<Tensor2D> Outputs;
  };
  Result<NativeProgram> compileNative(ModuleOp Placed,
                                      const StageSettings &Settings,
                                      bool SharedBuffers, Observed Shown);
  Result<NativeOutcome> observeNative(ModuleOp Placed,
                                      const StageSettings &Settings,
                                      bool SharedBuffers);
  Result<std::optional<Difference>>
  compareUnobserved(ModuleOp Placed, const StageSettings &Settings,
                    ArrayRef<Tensor2D> Right);
  void leaveOut(Difference &Found,
                const std::function<bool(const StageSettings &)> &IsRight);

  ModuleOp Model;
  ParameterProvider Parameters;
  PackedWeights Packed;
  const BisectOptions &Options;
  std::vector<Run> Runs;
  double ModelTolerance = Tolerance::F32;
  Evaluation Expected;
  BisectReport Report;
};

Result<Evaluation> Bisection::evaluate(ModuleOp Module, bool KeepEvents) {
  Evaluator E(Module, Parameters);
  Evaluation Done;
  size_t Index = 0;
  llvm::DenseMap<mlir::Value, size_t> Newest;
  if (KeepEvents)
    E.observe([&](const EvaluatorEvent &Seen, Tensor2D &Value) {
      Event &New = Done.Events.emplace_back();
      New.RunIndex = Index;
      New.Scope = Seen.Scope.Name;
      New.Operation = Seen.Op->getName().getStringRef().str();
      New.Location = placeOf(Seen.Op->getLoc());
      Seen.Op->getLoc()->walk([&](Location Part) {
        if (auto Name = dyn_cast<NameLoc>(Part))
          New.Names.push_back(Name.getName());
        return WalkResult::advance();
      });
      for (mlir::Value Operand : Seen.Op->getOperands()) {
        auto Found = Newest.find(Operand);
        New.Operands.push_back(Found == Newest.end()
                                   ? std::nullopt
                                   : std::optional(Found->second));
      }
      Newest[Seen.Op->getResult(Seen.Result)] = Done.Events.size() - 1;
      New.Value = Value;
    });
  for (; Index < Runs.size(); ++Index) {
    Result<Tensor2D> Output = E.run(Runs[Index].Role, Runs[Index].Batch);
    if (!Output)
      return Output.error();
    Done.Outputs.push_back(std::move(*Output));
  }
  return Done;
}

double Bisection::worst(const Evaluation &Got,
                        const Evaluation &Expected) const {
  double Worst = 0;
  for (auto [G, W] : llvm::zip(Got.Outputs, Expected.Outputs))
    Worst = std::max(Worst, differenceOf(G, W));
  return Worst;
}

/// The first operation whose value none had before the pass, of those with a
/// counterpart: one of the same scope, name and shape. Fusion makes values go,
/// but what a fused operation computes, its last part did. When it read another
/// value than its counterpart, who made that is to blame.
void Bisection::findEvent(const Evaluation &Got, const Evaluation &Before,
                          Difference &Found) const {
  auto Name = [&](const Event &E, double Error) {
    Found.Layer = E.Scope;
    Found.Operation = E.Operation;
    Found.Location = E.Location;
    Found.Error = Error;
  };
  for (const Event &E : Got.Events) {
    double Best = std::numeric_limits<double>::infinity();
    const Event *Counterpart = nullptr;
    for (const Event &B : Before.Events) {
      if (B.RunIndex != E.RunIndex || B.Scope != E.Scope || !B.hasShapeOf(E))
        continue;
      if (llvm::any_of(E.Names, [&](StringAttr Name) {
            return llvm::is_contained(B.Names, Name);
          }))
        Counterpart = &B;
      Best = std::min(Best, differenceOf(E.Value, B.Value));
    }
    if (!Counterpart || Best <= ModelTolerance)
      continue;
    for (auto [Mine, Theirs] : llvm::zip(E.Operands, Counterpart->Operands)) {
      if (!Mine || !Theirs)
        continue;
      const Event &Made = Got.Events[*Mine];
      const Event &Right = Before.Events[*Theirs];
      double Error = differenceOf(Made.Value, Right.Value);
      if (Made.hasShapeOf(Right) && Error > ModelTolerance)
        return Name(Made, Error);
    }
    return Name(E, Best);
  }
  // Nothing inside has a counterpart: the output has.
  if (Got.Events.empty())
    return;
  Name(Got.Events.back(), Found.Error);
  Found.Detail = "no operation has a counterpart that differs: the last one is "
                 "named";
}

/// Tries `IsRight` without each optional pass.
void Bisection::leaveOut(
    Difference &Found,
    const std::function<bool(const StageSettings &)> &IsRight) {
  for (const std::string &Pass : optionalPasses()) {
    if (Options.Settings.disables(Pass))
      continue;
    say("without " + Pass);
    StageSettings Without = Options.Settings;
    Without.Disabled.push_back(Pass);
    if (IsRight(Without))
      Found.RightWithout.push_back(Pass);
  }
}

//===----------------------------------------------------------------------===//
// Import and passes
//===----------------------------------------------------------------------===//

Status Bisection::checkAgainst(const Evaluation &Expected) {
  if (!Options.Against)
    return {};
  const Tensor2D &Reference = *Options.Against;
  const Tensor2D &Got = Expected.Outputs.front();
  // A head may be padded beyond the vocabulary.
  int64_t Columns =
      std::min(Got.Columns, countOf(Model, tr::attr::Vocabulary, Got.Columns));
  if (Reference.Rows != Got.Rows ||
      (Reference.Columns != Columns && Reference.Columns != Got.Columns))
    return Error("the reference is " + std::to_string(Reference.Rows) + " x " +
                 std::to_string(Reference.Columns) + ": expected " +
                 std::to_string(Got.Rows) + " x " + std::to_string(Columns) +
                 ", as the model answers");
  Tensor2D Known(Got.Rows, Reference.Columns);
  for (int64_t Row = 0; Row < Got.Rows; ++Row)
    std::copy_n(Got.row(Row), Reference.Columns, Known.row(Row));
  double Error = differenceOf(Known, Reference);
  if (Error <= ModelTolerance)
    return {};
  Difference &Found = Report.First.emplace();
  Found.Pass = "import";
  Found.Stage = "transformer";
  Found.Error = Error;
  Found.Detail = "the imported graph already differs from the reference";
  return {};
}

Status Bisection::checkPasses(OwningOpRef<ModuleOp> &Placed) {
  OwningOpRef<ModuleOp> Work = Model.clone();
  OwningOpRef<ModuleOp> Before = Model.clone();
  bool Differs = false;
  Status Done = runStages(
      *Work, Options.Settings, StageId::Transformer, StageId::Placed,
      [&](const Stage &S, StringRef Pass) -> Result<bool> {
        say("after " + Pass.str());
        Result<Evaluation> After = evaluate(*Work, /*KeepEvents=*/false);
        ++Report.Passes;
        double Error = After ? worst(*After, Expected)
                             : std::numeric_limits<double>::infinity();
        // What quantises rows is compared loosely, what follows with that.
        bool Quantises = hasGroupedRows(*Work) && !hasGroupedRows(*Before);
        if (Error <= (Quantises ? Tolerance::ModelGrouped : ModelTolerance)) {
          if (Quantises)
            Expected = std::move(*After);
          Before = Work->clone();
          return true;
        }
        Difference &Found = Report.First.emplace();
        Found.Pass = Pass.str();
        Found.Stage = S.Name.str();
        Found.Error = Error;
        Differs = true;
        if (!After) {
          Found.Detail = "cannot be evaluated: " + After.error().message();
          return false;
        }
        Result<Evaluation> Prior = evaluate(*Before, true);
        After = evaluate(*Work, true);
        if (Prior && After)
          findEvent(*After, *Prior, Found);
        return false;
      });
  if (!Done)
    return Done;
  if (!Differs) {
    Placed = std::move(Work);
    return {};
  }
  leaveOut(*Report.First, [&](const StageSettings &Without) {
    OwningOpRef<ModuleOp> Other = Model.clone();
    if (!runStages(*Other, Without, StageId::Transformer, StageId::Placed))
      return false;
    Result<Evaluation> Got = evaluate(*Other, false);
    return Got && worst(*Got, Expected) <= ModelTolerance;
  });
  return {};
}

//===----------------------------------------------------------------------===//
// The compiled program
//===----------------------------------------------------------------------===//

Result<NativeProgram> Bisection::compileNative(ModuleOp Placed,
                                               const StageSettings &Settings,
                                               bool SharedBuffers,
                                               Observed Shown) {
  NativeOptions Native;
  Native.Settings = Settings;
  Native.SharedBuffers = SharedBuffers;
  Native.Shown = Shown;
  Native.MaxPositions = 1;
  for (const Run &R : Runs)
    for (int64_t Position : R.Batch.Positions)
      Native.MaxPositions = std::max(Native.MaxPositions, Position + 1);
  return NativeProgram::compile(Placed, Packed, Native);
}

/// Runs program and evaluator side by side. The evaluator goes on with what the
/// program computed, so that each operation is compared on the same operands.
Result<Bisection::NativeOutcome>
Bisection::observeNative(ModuleOp Placed, const StageSettings &Settings,
                         bool SharedBuffers) {
  Result<NativeProgram> Program =
      compileNative(Placed, Settings, SharedBuffers, Observed::Results);
  if (!Program)
    return Program.error();

  NativeOutcome Outcome;
  SmallVector<Operation *> Ops = computationsOf(Placed);
  llvm::DenseMap<Operation *, size_t> Numbers;
  for (auto [Number, Op] : llvm::enumerate(Ops))
    Numbers[Op] = Number;
  using Key = std::pair<size_t, unsigned>;
  std::map<Key, std::vector<Tensor2D>> Captured;
  std::map<Key, size_t> Taken;
  Program->observe([&](size_t Number, unsigned Result, Tensor2D Value) {
    Captured[{Number, Result}].push_back(std::move(Value));
  });
  Evaluator E(Placed, Parameters);
  E.observe([&](const EvaluatorEvent &Seen, Tensor2D &Value) {
    auto Number = Numbers.find(Seen.Op);
    if (Number == Numbers.end())
      return;
    Key K{Number->second, Seen.Result};
    // Scratch: the evaluator does not know it.
    if (llvm::all_of(Value.Data, [](float X) { return std::isnan(X); }))
      return;
    std::vector<Tensor2D> &Values = Captured[K];
    size_t Index = Taken[K]++;
    if (Index >= Values.size())
      return;
    ++Outcome.Compared;
    double Error = differenceOf(Values[Index], Value);
    if (Error > toleranceOf(Seen.Op) && !Outcome.First) {
      Difference &Found = Outcome.First.emplace();
      Found.Layer = Seen.Scope.Name;
      Found.Operation = Seen.Op->getName().getStringRef().str();
      Found.Location = placeOf(Seen.Op->getLoc());
      Found.Error = Error;
      Outcome.Op = Seen.Op;
    }
    Value = std::move(Values[Index]);
  });
  for (const Run &R : Runs) {
    Captured.clear();
    Taken.clear();
    Result<Tensor2D> Got = Program->run(R.Role, R.Batch);
    if (!Got)
      return Got.error();
    Result<Tensor2D> Evaluated = E.run(R.Role, R.Batch);
    if (!Evaluated)
      return Evaluated.error();
    double Error = differenceOf(*Got, *Evaluated);
    if (!Outcome.First && Error > Tolerance::F32)
      Outcome.First.emplace().Error = Error;
    if (Outcome.First)
      return Outcome;
    Outcome.Outputs.push_back(std::move(*Got));
  }
  return Outcome;
}

/// Runs the program as it is. What it computes when it is observed is right,
/// and comes from the same kernels: an evaluator that goes on with its own
/// numbers would drift away in a deep model, by codes that round to their
/// neighbours.
Result<std::optional<Difference>>
Bisection::compareUnobserved(ModuleOp Placed, const StageSettings &Settings,
                             ArrayRef<Tensor2D> Right) {
  Result<NativeProgram> Program =
      compileNative(Placed, Settings, true, Observed::Nothing);
  if (!Program)
    return Program.error();
  for (auto [R, Expected] : llvm::zip_equal(Runs, Right)) {
    Result<Tensor2D> Got = Program->run(R.Role, R.Batch);
    if (!Got)
      return Got.error();
    double Error = differenceOf(*Got, Expected);
    if (Error <= Tolerance::F32)
      continue;
    Difference Found;
    Found.Error = Error;
    return std::optional(Found);
  }
  return std::optional<Difference>();
}

Status Bisection::checkNative(ModuleOp Placed) {
  say("compiled, every operation observed");
  Result<NativeOutcome> Seen = observeNative(Placed, Options.Settings, true);
  if (!Seen)
    return Seen.error();
  Report.Operations = Seen->Compared;
  if (Seen->First) {
    Difference &Found = Report.First.emplace(*Seen->First);
    Found.Stage = "buffers";
    say("compiled, with buffers apart");
    Result<NativeOutcome> Apart =
        observeNative(Placed, Options.Settings, false);
    bool IsPlan = Apart && !Apart->First;
    auto Compute = dyn_cast_or_null<dnn::ComputeOpInterface>(Seen->Op);
    if (IsPlan) {
      Found.Pass = "plan-memory";
      Found.Detail = "right when no buffers share bytes of the arena: an "
                     "operand or the result is overwritten";
    } else if (!Compute) {
      Found.Pass = "stage llvm";
      Found.Stage = "llvm";
      Found.Detail = "every operation is right, but not the output";
    } else if (Compute.isLibraryCall()) {
      Found.Pass = "library";
      Found.Detail = "the call of the library differs on right operands";
    } else {
      Found.Pass = "generate-kernels";
      Found.Detail = "the kernel differs on right operands";
    }
  } else {
    say("compiled");
    Result<std::optional<Difference>> Plain =
        compareUnobserved(Placed, Options.Settings, Seen->Outputs);
    if (!Plain)
      return Plain.error();
    if (!*Plain)
      return {};
    Difference &Found = Report.First.emplace(**Plain);
    Found.Pass = "stage llvm";
    Found.Stage = "llvm";
    Found.Detail = "every operation is right alone, but not kernels that "
                   "follow each other in one parallel region";
  }
  leaveOut(*Report.First, [&](const StageSettings &Without) {
    OwningOpRef<ModuleOp> Other = Model.clone();
    if (!runStages(*Other, Without, StageId::Transformer, StageId::Placed))
      return false;
    Result<NativeOutcome> Got = observeNative(*Other, Without, true);
    if (!Got || Got->First)
      return false;
    auto Plain = compareUnobserved(*Other, Without, Got->Outputs);
    return Plain && !*Plain;
  });
  return {};
}

Result<BisectReport> Bisection::run() {
  Result<std::vector<Run>> Made =
      runsFor(Model, Options.TokenIds, Options.Settings.FewTokens);
  if (!Made)
    return Made.error();
  Runs = std::move(*Made);
  Model.walk([&](Operation *Op) {
    if (toleranceOf(Op) > Tolerance::F32)
      ModelTolerance = Tolerance::ModelBF16;
  });
  say("the model");
  Result<Evaluation> First = evaluate(Model, false);
  if (!First)
    return First.error();
  Expected = std::move(*First);
  if (Status Done = checkAgainst(Expected); !Done)
    return Done.error();
  if (Report.First)
    return Report;
  OwningOpRef<ModuleOp> Placed;
  if (Status Done = checkPasses(Placed); !Done)
    return Done.error();
  if (Report.First)
    return Report;
  if (Status Done = checkNative(*Placed); !Done)
    return Done.error();
  return Report;
}

} // namespace

Result<BisectReport> tenon::bisect::bisect(ModuleOp Model,
                                           const Checkpoint &Weights,
                                           const BisectOptions &Options) {
  return Bisection(Model, Weights, Options).run();
}

std::string tenon::bisect::toText(const BisectReport &Report) {
  std::string Text;
  llvm::raw_string_ostream Stream(Text);
  if (!Report.First) {
    Stream << "no difference: " << Report.Passes << " passes, "
           << Report.Operations << " results of compiled operations\n";
    return Text;
  }
  const Difference &D = *Report.First;
  Stream << "pass: " << D.Pass << " (stage " << D.Stage << ")\n";
  if (!D.Layer.empty())
    Stream << "layer: " << D.Layer << "\n";
  if (!D.Operation.empty()) {
    Stream << "operation: " << D.Operation;
    if (!D.Location.empty())
      Stream << " at " << D.Location;
    Stream << "\n";
  }
  if (std::isfinite(D.Error))
    Stream << "error: " << llvm::format("%.2g", D.Error)
           << " of the largest magnitude\n";
  if (!D.Detail.empty())
    Stream << "detail: " << D.Detail << "\n";
  if (!D.RightWithout.empty())
    Stream << "right without: " << llvm::join(D.RightWithout, ", ") << "\n";
  return Text;
}

//===- KernelTestSupport.cpp - One operation as native code ---------------===//

#include "KernelTestSupport.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Packing/Passes.h"
#include "passes/Placement/Passes.h"
#include "tests/emulation/CpuEmulator.h"

#include <cstdlib>
#include <tuple>

using namespace mlir;
using namespace tenon;
using namespace tenon::bisect;

/// Sequences have at most this many tokens.
static constexpr int64_t MaxPositions = 384;

/// Whether `Case` has numbers that dot products multiply: code for f32 is the
/// same with and without them.
static bool usesDots(const KernelCase &Case) {
  auto Names = [](llvm::StringRef Text) {
    return llvm::any_of(llvm::ArrayRef{"bf16", "grouped", "i8"},
                        [&](const char *Type) { return Text.contains(Type); });
  };
  return Case.Needs || Names(Case.Body) || Names(Case.Encode) ||
         Names(Case.Cache) || llvm::any_of(Case.Settings, [&](const auto &Of) {
           return Names(Of.second);
         });
}

std::vector<CpuLevel> KernelTest::levels(const KernelCase &Case) {
  std::vector<CpuLevel> Levels;
  bool UsesDots = usesDots(Case);
  for (const CpuLevelInfo &Info : CpuLevels) {
    // Dot products of integers are one code for registers of one size, which
    // of those of 512 bits the highest level has.
    auto Generated = [&](const CpuLevelInfo &Of) {
      return std::tuple(Of.VectorBits, Of.Registers,
                        UsesDots && Of.Dots.contains(DotProduct::BF16),
                        Of.Dots.contains(DotProduct::BF16Tile),
                        Of.VectorBits == 256 && Case.Needs &&
                            Of.Dots.contains(DotProduct::Int8));
    };
    auto IsSame = [&](CpuLevel Other) {
      return Generated(infoOf(Other)) == Generated(Info);
    };
    if (emulation::canRun(Info.Level) && llvm::none_of(Levels, IsSame))
      Levels.push_back(Info.Level);
  }
  llvm::erase_if(Levels, [&](CpuLevel Level) {
    return Case.Needs && !infoOf(Level).Dots.contains(*Case.Needs);
  });
  return Levels;
}

/// `Text` with every {NAME} replaced, also in what replaces.
static std::string filled(std::string Text, const KernelSettings &Settings) {
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (const auto &[Name, Value] : Settings) {
      std::string Key = "{" + Name + "}";
      for (size_t At; (At = Text.find(Key)) != std::string::npos;) {
        Text.replace(At, Key.size(), Value);
        Changed = true;
      }
    }
  }
  return Text;
}

static std::string rowsOf(const std::string &Width) {
  return "tensor<?x" + Width + "xf32>";
}

OwningOpRef<ModuleOp> KernelTest::parse(const KernelCase &Case) {
  std::string Arguments = "%s: !scope, %b: !batch, %c: !cache";
  std::string Values = "%s, %b, %c", Types = "!scope, !batch, !cache", Slices;
  int64_t Width = 0;
  std::vector<std::string> Widths;
  for (const std::string &Input : Case.Inputs)
    Widths.push_back(filled(Input, Case.Settings));
  for (const std::string &W : Widths)
    Width += std::stoll(W);
  int64_t From = 0;
  std::string All = rowsOf(std::to_string(std::max<int64_t>(Width, 1)));
  for (size_t I = 0; I < Widths.size(); ++I) {
    std::string N = std::to_string(I), Type = rowsOf(Widths[I]);
    Arguments += ", %x" + N + ": " + Type;
    Values += ", %x" + N;
    Types += ", " + Type;
    Slices += "%e" + N + " = tensor.empty(%t) : " + Type + "\n%x" + N +
              " = dnn.slice %all from " + std::to_string(From) + " outs(%e" +
              N + ") : (" + All + ", " + Type + ") -> " + Type + "\n";
    From += std::stoll(Widths[I]);
  }
  std::string Out = rowsOf(filled(Case.Output, Case.Settings));
  std::string Bounds = "transformer.max_tokens = 192, "
                       "transformer.max_output_rows = 192";
  std::string Text =
      "!batch = !transformer.batch\n!scope = "
      "!transformer.scope\n!cache = " +
      Case.Cache + "\nmodule attributes {transformer.few_tokens = 8 : i64} {\n";
  auto AddEntry = [&](const std::string &Name, const std::string &Role,
                      const std::string &Body, const std::string &Out,
                      const std::string &Rows) {
    for (const char *Variant : {"few", "many"})
      Text += "func.func private @" + Name + "." + Variant + "(" + Arguments +
              ") -> " + Out + " attributes {" + Bounds +
              ", transformer.variant = #transformer.variant<" + Variant +
              ">} {\n%t = dnn.count tokens %b\n" + Body +
              "\nreturn %r : " + Out + "\n}\n";
    Text += "func.func @" + Role + "(%b: !batch, %c: !cache) -> " + Out +
            " attributes {" + Bounds + ", transformer.role = \"" + Role +
            "\", transformer.output = \"" +
            (Rows == "sequences" ? "pooled" : "hidden") +
            "\"} {\n%s = dnn.scope %b \"l\" number 0 layer 0\n"
            "%t = dnn.count tokens %b\n%ea = tensor.empty(%t) : " +
            All + "\n%all = dnn.input_features %b outs(%ea) : (!batch, " + All +
            ") -> " + All + "\n" + Slices + "%rows = dnn.count " +
            (Rows == "tokens" ? "output_rows" : Rows) +
            " %b\n%er = tensor.empty(%rows) : " + Out +
            "\n%r = dnn.dispatch @" + Name + ".few or @" + Name +
            ".many by tokens of %b (" + Values + ") outs(%er) : (!batch, " +
            Types + ", " + Out + ") -> " + Out + "\nreturn %r : " + Out +
            "\n}\n";
  };
  if (!Case.Encode.empty())
    AddEntry("g", "encode", filled(Case.Encode, Case.Settings),
             rowsOf(Widths.front()), "tokens");
  AddEntry("f", "step", filled(Case.Body, Case.Settings), Out, Case.Rows);
  Text += "}\n";
  auto Module = parseSourceString<ModuleOp>(Text, &Context, Case.Name);
  if (!Module)
    ADD_FAILURE() << Case.Name << ": cannot parse\n" << Text;
  return Module;
}

Result<Checkpoint> KernelTest::parametersOf(ModuleOp Module) {
  std::map<std::string, std::vector<int64_t>> Shapes;
  Module.walk([&](Operation *Op) {
    if (auto Weight = dyn_cast<dnn::WeightOp>(Op)) {
      dnn::PackedType Type = Weight.getType();
      std::vector<int64_t> Shape = {Type.getOutFeatures()};
      if (Type.getCount() > 1)
        Shape.insert(Shape.begin(), Type.getCount());
      if (!Type.isVector())
        Shape.push_back(Type.getInFeatures());
      Shapes["l." + cast<StringAttr>(Weight.getKeys()[0]).str()] = Shape;
    } else if (auto Table = dyn_cast<dnn::TableOp>(Op)) {
      if (Table.getKey())
        Shapes["l." + Table.getKey()->str()] = {
            *Table.getContent().getLearnedRows(),
            Table.getType().getOutFeatures()};
    }
  });
  Shapes["l.unused"] = {1};
  std::string Header = "{", Data;
  uint32_t State = 7;
  for (const auto &[Name, Shape] : Shapes) {
    size_t Count = 1, First = Data.size();
    std::string Sizes;
    for (int64_t Size : Shape) {
      Count *= static_cast<size_t>(Size);
      Sizes += (Sizes.empty() ? "" : ",") + std::to_string(Size);
    }
    for (size_t I = 0; I < Count; ++I) {
      State = State * 1664525u + 1013904223u;
      float Value =
          ParameterScale *
          (static_cast<float>(State >> 8) / static_cast<float>(1 << 23) - 1);
      Data.append(reinterpret_cast<const char *>(&Value), sizeof(Value));
    }
    Header += (Header.size() > 1 ? "," : "") + ("\"" + Name) +
              "\":{\"dtype\":\"F32\",\"shape\":[" + Sizes +
              "],\"data_offsets\":[" + std::to_string(First) + "," +
              std::to_string(Data.size()) + "]}";
  }
  Header += "}";
  write("model.safetensors", safetensors(Header, Data));
  return Checkpoint::open(Directory);
}

void KernelTest::check(const KernelCase &Case) {
  static const bool EmulatesAll = std::getenv("TENON_EMULATE_ALL_KERNELS");
  for (CpuLevel Level : levels(Case))
    if (missingFeatures(Level).empty() || EmulatesAll ||
        Emulated.insert(Level).second)
      check(Case, Level);
}

OwningOpRef<ModuleOp> KernelTest::place(const KernelCase &Case,
                                        CpuLevel Level) {
  OwningOpRef<ModuleOp> Module = parse(Case);
  if (!Module)
    return {};
  (*Module)->setAttr(dnn::attr::Target,
                     dnn::TargetAttr::get(&Context, infoOf(Level)));
  PassManager Passes(&Context);
  if (Case.FoldsCasts)
    Passes.addPass(createFoldCasts());
  Passes.addPass(createSelectLibraryMatmuls());
  Passes.addPass(createAssignWeightIndices());
  if (succeeded(Passes.run(*Module)))
    return Module;
  ADD_FAILURE() << Case.Name << ": cannot place";
  return {};
}

Result<NativeProgram> KernelTest::compile(ModuleOp Placed, CpuLevel Level,
                                          Observed Shown, int64_t Threads) {
  Result<Checkpoint> Written = parametersOf(Placed);
  if (!Written)
    return Written.error();
  Parameters = std::make_unique<Checkpoint>(std::move(*Written));
  Weights = std::make_unique<PackedWeights>(*Parameters);
  NativeOptions Options;
  Options.Settings.Level = Level;
  Options.Shown = Shown;
  Options.Threads = Threads;
  Options.MaxPositions = MaxPositions;
  Options.MaxSequences = 40;
  Result<NativeProgram> Program =
      NativeProgram::compile(Placed, *Weights, Options);
  // Behind the compiler, for LLVM's handlers of crashes take SIGILL too.
  emulation::install();
  return Program;
}

int64_t KernelTest::inputWidthOf(ModuleOp Module) {
  int64_t Width = 0;
  Module.walk([&](dnn::InputFeaturesOp Op) {
    Width = cast<ShapedType>(Op.getOuts().getType()).getDimSize(1);
  });
  return Width;
}

void KernelTest::check(const KernelCase &Case, CpuLevel Level) {
  std::string Where =
      Case.Name + " on " + std::string(infoOf(Level).Name) + ": ";
  OwningOpRef<ModuleOp> Module = place(Case, Level);
  if (!Module)
    return;
  Result<NativeProgram> Program =
      compile(*Module, Level, Observed::Results, /*Threads=*/2);
  ASSERT_TRUE(Program) << Where << Program.error().message();

  using Key = std::pair<size_t, unsigned>;
  std::map<Key, Tensor2D> Captured;
  Program->observe([&](size_t Number, unsigned Result, Tensor2D Value) {
    Captured[{Number, Result}] = std::move(Value);
  });
  llvm::DenseMap<Operation *, size_t> Numbers;
  for (auto [Number, Op] : llvm::enumerate(computationsOf(*Module)))
    Numbers[Op] = Number;
  Evaluator E(*Module, checkpointParameters(*Parameters));
  int64_t Compared = 0;
  std::string Step;
  E.observe([&](const EvaluatorEvent &Seen, Tensor2D &Value) {
    auto Got = Captured.find({Numbers.lookup(Seen.Op), Seen.Result});
    // All but the first result of attention is scratch.
    if (Got == Captured.end() ||
        (isa<dnn::AttentionOp, dnn::LatentAttentionOp>(Seen.Op) &&
         Seen.Result > 0))
      return;
    ++Compared;
    EXPECT_LE(differenceOf(Got->second, Value), toleranceOf(Seen.Op))
        << Where << Step << Seen.Op->getName().getStringRef().str()
        << " result " << Seen.Result << " in @"
        << Seen.Op->getParentOfType<func::FuncOp>().getName().str();
    Value = std::move(Got->second);
  });
  int64_t Next = 0, Width = inputWidthOf(*Module);
  std::vector<std::pair<int64_t, int64_t>> Sequences; // Number, length.
  uint32_t State = 3;
  for (std::vector<int64_t> Lengths : Case.Steps) {
    bool GoesOn = Lengths.front() == 0;
    if (GoesOn)
      Lengths.erase(Lengths.begin());
    else
      Sequences.clear();
    EvaluatorBatch Batch;
    Step = "";
    for (size_t S = 0; S < Lengths.size(); ++S) {
      if (!GoesOn)
        Sequences.emplace_back(Next++, 0);
      auto &[Number, Length] = Sequences[S];
      std::vector<int64_t> Ids(static_cast<size_t>(Lengths[S]));
      for (int64_t &Id : Ids)
        Id = State++ % 7;
      Batch.add(Number, Ids, Length,
                Case.Rows == "tokens" ? Lengths[S]
                                      : std::min<int64_t>(Lengths[S], 2));
      if (Case.HasPrefixes)
        Batch.Prefixes.push_back(GoesOn ? 0 : Lengths[S] / 2);
      Length += Lengths[S];
      Step += std::to_string(Lengths[S]) + " ";
    }
    Step += "tokens: ";
    Batch.Features = Tensor2D(Batch.tokens(), Width);
    for (float &X : Batch.Features.Data) {
      State = State * 1664525u + 1013904223u;
      X = static_cast<float>(State >> 8) / static_cast<float>(1 << 23) - 1;
    }
    for (StringRef Role : {"encode", "step"}) {
      if (Role == "encode" && (Case.Encode.empty() || GoesOn))
        continue;
      Captured.clear();
      Result<Tensor2D> Got = Program->run(Role, Batch);
      ASSERT_TRUE(Got) << Where << Step << Got.error().message();
      Result<Tensor2D> Wanted = E.run(Role, Batch);
      ASSERT_TRUE(Wanted) << Where << Step << Wanted.error().message();
      EXPECT_LE(differenceOf(*Got, *Wanted), Tolerance::F32)
          << Where << Step << "output";
    }
  }
  EXPECT_GE(Compared, static_cast<int64_t>(Case.Steps.size())) << Where;
}

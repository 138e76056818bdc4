//===- CalibrationTest.cpp - What matrices are multiplied with ------------===//

#include "compiler/Calibration/Calibration.h"
#include "compiler/Evaluator/Evaluator.h"
#include "compiler/Families/Import.h"
#include "compiler/Manifest/ManifestBuilder.h"
#include "compiler/Native/NativeCode.h"
#include "compiler/Native/RunStages.h"
#include "dialects/Dnn/Dnn.h"

#include "runtime/Sampling/Sampler.h"

#include "gmock/gmock.h"

#include <set>

using namespace mlir;
using namespace tenon;
using testing::Contains;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pointwise;

namespace {

Tensor2D rowsOf(std::initializer_list<std::initializer_list<float>> Rows) {
  Tensor2D Tensor(static_cast<int64_t>(Rows.size()),
                  static_cast<int64_t>(Rows.begin()->size()));
  float *Next = Tensor.Data.data();
  for (const auto &Row : Rows)
    Next = std::ranges::copy(Row, Next).out;
  return Tensor;
}

using Names = std::vector<std::string>;

TEST(InputStatisticsTest, AddsUpByName) {
  InputStatistics Inputs;
  Inputs.add(Names{"w", "u"}, 1, 0, rowsOf({{1, 2}, {3, 0}}));
  Inputs.add(Names{"w", "u"}, 1, 0, rowsOf({{0, 4}}));
  EXPECT_THAT(Inputs.meanSquares("w", 0), ElementsAre(10. / 3, 20. / 3));
  // One of both is multiplied with more.
  Inputs.add(Names{"u"}, 1, 0, rowsOf({{2, 2}}));
  EXPECT_THAT(Inputs.meanSquares("w", 0), ElementsAre(10. / 3, 20. / 3));
  EXPECT_THAT(Inputs.meanSquares("u", 0), ElementsAre(14. / 4, 24. / 4));
  EXPECT_EQ(Inputs.rows("w", 0), 3);
  EXPECT_EQ(Inputs.rows("u", 0), 4);
  EXPECT_EQ(Inputs.rows("v", 0), 0);
  EXPECT_TRUE(Inputs.contains("w"));
  EXPECT_FALSE(Inputs.contains("v"));
  EXPECT_THAT(Inputs.meanSquares("v", 0), IsEmpty());
  EXPECT_THAT(Inputs.unseen("v"), IsEmpty());
}

/// Of each column those with the columns of its block, from itself on.
TEST(InputStatisticsTest, HasMomentsWithinBlocks) {
  constexpr int64_t K = FeedbackColumns + 3, Rows = 7;
  Tensor2D X(Rows, K);
  uint32_t Next = 1;
  for (float &Each : X.Data)
    Each = static_cast<float>((Next = Next * 1664525 + 1013904223) >> 24) - 100;
  Tensor2D First(4, K), Second(Rows - 4, K);
  std::copy_n(X.row(0), 4 * K, First.row(0));
  std::copy_n(X.row(4), (Rows - 4) * K, Second.row(0));
  InputStatistics Inputs;
  Inputs.add(Names{"w"}, 1, 0, First);
  Inputs.add(Names{"w"}, 1, 0, Second);
  std::vector<double> Moments = Inputs.meanMoments("w");
  ASSERT_EQ(Moments.size(), static_cast<size_t>(K * FeedbackColumns));
  for (int64_t I = 0; I < K; ++I)
    for (int64_t J = I; J < (I < FeedbackColumns ? FeedbackColumns : K); ++J) {
      double Sum = 0;
      for (int64_t Row = 0; Row < Rows; ++Row)
        Sum += static_cast<double>(X.at(Row, I)) * X.at(Row, J);
      // Integers: sums are exact.
      ASSERT_FLOAT_EQ(Moments[static_cast<size_t>(I * FeedbackColumns +
                                                  J % FeedbackColumns)],
                      Sum / Rows)
          << I << " " << J;
    }
}

TEST(InputStatisticsTest, UnseenMatricesHaveTheMeanOfAll) {
  InputStatistics Inputs;
  Inputs.add(Names{"w"}, 3, 0, rowsOf({{1, 1}, {1, 3}}));
  Inputs.add(Names{"w"}, 3, 2, rowsOf({{2, 0}}));
  EXPECT_THAT(Inputs.unseen("w"), ElementsAre(1));
  EXPECT_THAT(Inputs.meanSquares("w", 0), ElementsAre(1, 5));
  EXPECT_THAT(Inputs.meanSquares("w", 2), ElementsAre(4, 0));
  EXPECT_THAT(Inputs.meanSquares("w", 1), ElementsAre(2, 10. / 3));
  EXPECT_THAT(Inputs.meanMoments("w"), IsEmpty());
}

/// A fixture in f32, and windows of a text for it.
class CalibrationTest : public testing::Test {
protected:
  CalibrationTest() {
    DialectRegistry Registry;
    registerDialects(Registry);
    registerNativeTranslations(Registry);
    Context.appendDialectRegistry(Registry);
    Context.loadAllAvailableDialects();
    Context.disableMultithreading();
  }

  void load(const std::string &Fixture) {
    ImportOptions Import;
    Import.MatrixType = ElementType::F32;
    auto Imported = importModel(
        Context, TENON_TEST_DATA "/numerics/fixtures/" + Fixture, Import);
    ASSERT_TRUE(Imported) << Imported.error().message();
    Model = std::move(*Imported);
    auto Manifest = describeModel(*Model.Module);
    ASSERT_TRUE(Manifest) << Manifest.error().message();
    Described = std::move(*Manifest);
    // The last window is decode-sized.
    uint32_t Next = 1;
    for (size_t Length : {23, 17, 2}) {
      std::vector<int32_t> &Window = Text.Windows.emplace_back();
      while (Window.size() < Length)
        Window.push_back(
            static_cast<int32_t>((Next = Next * 7 + 5) %
                                 static_cast<uint32_t>(Described.Vocabulary)));
      Text.Tokens += static_cast<int64_t>(Length);
    }
  }

  Result<Calibrator> compiled() {
    Result<CpuLevel> Level = effectiveLevel();
    if (!Level)
      return Level.error();
    return Calibrator::compile(*Model.Module, Described, *Model.Weights,
                               {*Level, {}, nullptr});
  }

  /// What the evaluator multiplies weights with, nothing being fused.
  InputStatistics expected() {
    StageSettings Settings;
    for (const std::string &Pass : optionalPasses())
      Settings.Disabled.push_back(Pass);
    Settings.MaxTokens = 64;
    OwningOpRef<ModuleOp> Placed = Model.Module->clone();
    Status Lowered =
        runStages(*Placed, Settings, StageId::Transformer, StageId::Placed);
    EXPECT_TRUE(Lowered) << Lowered.error().message();
    InputStatistics Inputs;
    llvm::DenseMap<mlir::Value, Tensor2D> Newest;
    Evaluator E(*Placed, checkpointParameters(*Model.Weights));
    E.observe([&](const EvaluatorEvent &Seen, Tensor2D &Value) {
      Newest[Seen.Op->getResult(Seen.Result)] = Value;
      auto Add = [&](mlir::Value Weight, int64_t Matrix, const Tensor2D &Rows) {
        auto Handle = Weight.getDefiningOp<dnn::WeightOp>();
        ASSERT_EQ(Handle.getKeys().size(), 1u);
        std::string Key = cast<StringAttr>(Handle.getKeys()[0]).str();
        // Of layers all weights are the scope's.
        Inputs.add(
            Names{Seen.Scope.Name.empty() ? Key : Seen.Scope.Name + "." + Key},
            Handle.getType().getCount(), Matrix, Rows);
      };
      if (auto Matmul = dyn_cast<dnn::MatmulOp>(Seen.Op)) {
        ASSERT_TRUE(Newest.contains(Matmul.getInput()));
        Add(Matmul.getWeight(), 0, Newest[Matmul.getInput()]);
      } else if (auto Gated = dyn_cast<dnn::GatedMatmulOp>(Seen.Op)) {
        Add(Gated.getGate(), 0, Newest[Gated.getInput()]);
        Add(Gated.getUp(), 0, Newest[Gated.getInput()]);
      } else if (auto GateUp = dyn_cast<dnn::MoeGateUpOp>(Seen.Op)) {
        forChoices(GateUp, Newest, [&](int64_t Expert, int64_t Token, int64_t) {
          Tensor2D Row = rowOf(Newest[GateUp.getInput()], Token, 0,
                               GateUp.getGate().getType().getInFeatures());
          Add(GateUp.getGate(), Expert, Row);
          Add(GateUp.getUp(), Expert, Row);
        });
      } else if (auto Down = dyn_cast<dnn::MoeDownOp>(Seen.Op)) {
        forChoices(Down, Newest,
                   [&](int64_t Expert, int64_t Token, int64_t Choice) {
                     Add(Down.getDown(), Expert,
                         rowOf(Newest[Down.getInput()], Token, Choice,
                               Down.getDown().getType().getInFeatures()));
                   });
      }
    });
    for (const std::vector<int32_t> &Window : Text.Windows)
      for (const artifact::EntryInfo &Entry : Described.Entries) {
        EvaluatorBatch Batch;
        std::vector<int64_t> Ids(Window.begin(), Window.end());
        Batch.add(0, Ids, 0, 0);
        for (int64_t Row = 0; Row < Batch.tokens(); ++Row)
          if (Entry.Role != "step" || Row % 4 == 3 || Row == Batch.tokens() - 1)
            Batch.OutputRows.push_back(Row);
        E.forget(0);
        auto Ran = E.run(Entry.Role, Batch);
        EXPECT_TRUE(Ran) << Ran.error().message();
      }
    return Inputs;
  }

  static Tensor2D rowOf(const Tensor2D &Rows, int64_t Row, int64_t Part,
                        int64_t Width) {
    Tensor2D One(1, Width);
    std::copy_n(Rows.row(Row) + Part * Width, Width, One.row(0));
    return One;
  }

  /// Calls `Told` with expert, token and place of every choice that the router
  /// made for `Op`.
  template <typename OpTy>
  static void
  forChoices(OpTy Op, llvm::DenseMap<mlir::Value, Tensor2D> &Newest,
             const std::function<void(int64_t, int64_t, int64_t)> &Told) {
    auto Group = Op.getOrder().template getDefiningOp<dnn::MoeGroupOp>();
    const Tensor2D &Choices = Newest[Group.getChoices()];
    for (int64_t Token = 0; Token < Choices.Rows; ++Token)
      for (int64_t I = 0; I < Choices.Columns; ++I)
        Told(static_cast<int64_t>(Choices.at(Token, I)), Token, I);
  }

  /// Compares what the program records with the evaluator's, for tensors that
  /// are called so.
  void compare(const std::vector<std::string> &Tensors, int64_t Matrices = 1) {
    Result<Calibrator> Program = compiled();
    ASSERT_TRUE(Program) << Program.error().message();
    auto Got = Program->record(Text);
    ASSERT_TRUE(Got) << Got.error().message();
    InputStatistics Wanted = expected();
    for (const std::string &Tensor : Tensors) {
      EXPECT_EQ(Got->unseen(Tensor), Wanted.unseen(Tensor)) << Tensor;
      for (int64_t M = 0; M < Matrices; ++M) {
        std::vector<double> Mine = Got->meanSquares(Tensor, M);
        std::vector<double> Theirs = Wanted.meanSquares(Tensor, M);
        ASSERT_FALSE(Mine.empty()) << Tensor;
        ASSERT_EQ(Mine.size(), Theirs.size()) << Tensor;
        double Most = *std::ranges::max_element(Theirs);
        for (size_t K = 0; K < Mine.size(); ++K)
          ASSERT_NEAR(Mine[K], Theirs[K], 1e-5 * Most)
              << Tensor << " matrix " << M << " feature " << K;
      }
      std::vector<double> Moments = Wanted.meanMoments(Tensor);
      double Largest = Moments.empty() ? 0 : *std::ranges::max_element(Moments);
      EXPECT_THAT(Got->meanMoments(Tensor),
                  Pointwise(DoubleNear(1e-5 * Largest), Moments))
          << Tensor;
    }
  }

  MLIRContext Context;
  ImportedModel Model;
  artifact::Manifest Described;
  CalibrationText Text;
};

/// Queries, keys and values are one matmul in the program.
TEST_F(CalibrationTest, RecordsWhatADecoderMultiplies) {
  load("llama-gqa-llama3");
  std::vector<std::string> Tensors;
  for (const char *Layer : {"model.layers.0.", "model.layers.1."})
    for (const char *Name :
         {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj",
          "self_attn.o_proj", "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"})
      Tensors.push_back(std::string(Layer) + Name + ".weight");
  compare(Tensors);
}

TEST_F(CalibrationTest, RecordsWhatEachExpertMultiplies) {
  load("mixtral-two-of-four");
  std::vector<std::string> Tensors;
  for (const char *Layer : {"model.layers.0.", "model.layers.1."})
    for (const char *Name : {"w1", "w2", "w3"})
      Tensors.push_back(std::string(Layer) + "block_sparse_moe.experts.*." +
                        Name + ".weight");
  compare(Tensors, 4);
}

/// Every token is drawn from what the evaluator says may follow, or begins a
/// text behind one that ended.
TEST_F(CalibrationTest, GeneratesWhatTheModelWouldSay) {
  load("llama-gqa-llama3");
  TextEnds Ends{{3, 4}, {}};
  // A third of the vocabulary, so that texts are short.
  for (int32_t Id = 5; Id < Described.Vocabulary; Id += 3)
    Ends.EndOfSequence.push_back(Id);
  Result<Calibrator> Program = compiled();
  ASSERT_TRUE(Program) << Program.error().message();
  constexpr int64_t Wanted = (GeneratedAtOnce + 2) * GeneratedWindow;
  auto Got = Program->generate(Ends, Wanted + 1);
  ASSERT_TRUE(Got) << Got.error().message();
  int64_t Window = std::min(GeneratedWindow, Described.MaxSequence);
  EXPECT_EQ(Got->Tokens, (Wanted + 1) / Window * Window);
  EXPECT_FALSE(Got->Checksum);
  ASSERT_EQ(static_cast<int64_t>(Got->Windows.size()) * Window, Got->Tokens);

  auto Sampler = sampling::Sampler::create({.Temperature = 1});
  ASSERT_TRUE(Sampler);
  Evaluator E(*Model.Module, checkpointParameters(*Model.Weights));
  int64_t Drawn = 0, Ended = 0;
  for (auto [Number, Ids] : llvm::enumerate(Got->Windows)) {
    ASSERT_EQ(static_cast<int64_t>(Ids.size()), Window);
    EvaluatorBatch Batch;
    Batch.add(0, std::vector<int64_t>(Ids.begin(), Ids.end()), 0, Window);
    E.forget(0);
    auto Logits = E.run("step", Batch);
    ASSERT_TRUE(Logits) << Logits.error().message();
    ASSERT_EQ(Ids[0], 3);
    size_t Begun = 1;
    for (int64_t I = 1; I < Window; ++I) {
      int32_t Id = Ids[static_cast<size_t>(I)];
      if (Begun < Ends.Beginning.size()) {
        ASSERT_EQ(Id, Ends.Beginning[Begun++]) << Number << " " << I;
        continue;
      }
      auto Pick = Sampler->pick(
          {Logits->row(I - 1), static_cast<size_t>(Logits->Columns)}, I,
          static_cast<uint32_t>(Number));
      ASSERT_TRUE(Pick);
      ASSERT_EQ(Id, *Pick) << Number << " " << I;
      ++Drawn;
      if (std::ranges::find(Ends.EndOfSequence, Id) !=
          Ends.EndOfSequence.end()) {
        Begun = 0;
        ++Ended;
      }
    }
  }
  EXPECT_GT(Ended, 50);
  EXPECT_GT(Drawn, 2 * Ended);
}

/// Without special tokens, any token begins a text.
TEST_F(CalibrationTest, GeneratesFromAnyToken) {
  load("llama-gqa-llama3");
  Result<Calibrator> Program = compiled();
  ASSERT_TRUE(Program) << Program.error().message();
  auto Got = Program->generate({}, MinCalibrationTokens * GeneratedAtOnce);
  ASSERT_TRUE(Got) << Got.error().message();
  std::set<int32_t> First;
  for (const std::vector<int32_t> &Ids : Got->Windows)
    First.insert(Ids.front());
  EXPECT_GT(First.size(), Got->Windows.size() / 2);
  EXPECT_GE(*First.begin(), 0);
  EXPECT_LT(*First.rbegin(), Described.Vocabulary);
}

/// What stands for an image is in no text.
TEST_F(CalibrationTest, GeneratesNoImages) {
  load("llava-gqa");
  Result<Calibrator> Program = compiled();
  ASSERT_TRUE(Program) << Program.error().message();
  auto Got = Program->generate({}, 16 * GeneratedWindow);
  ASSERT_TRUE(Got) << Got.error().message();
  std::optional<int32_t> Image;
  Model.Module->walk([&](transformer::MergeFeaturesOp Op) {
    Image = static_cast<int32_t>(Op.getToken());
  });
  ASSERT_TRUE(Image);
  for (const std::vector<int32_t> &Ids : Got->Windows)
    EXPECT_THAT(Ids, Not(Contains(*Image)));
}

TEST_F(CalibrationTest, RefusesOtherModels) {
  load("t5-gated");
  Status Can = checkCalibrated(Described);
  ASSERT_FALSE(Can);
  EXPECT_THAT(Can.error().message(), HasSubstr("an encoder-decoder: expected"));
  EXPECT_FALSE(checkGenerates(Described));
}

TEST_F(CalibrationTest, RefusesImages) {
  auto Imported = importModel(
      Context, TENON_TEST_DATA "/numerics/fixtures/vit-features", {});
  ASSERT_TRUE(Imported) << Imported.error().message();
  auto Manifest = describeModel(*Imported->Module);
  ASSERT_TRUE(Manifest);
  Status Can = checkCalibrated(*Manifest);
  ASSERT_FALSE(Can);
  EXPECT_THAT(Can.error().message(), HasSubstr("a vision model: expected"));
}

} // namespace

//===- EvaluatorReferencesTest.cpp - The oracle on stored references ------===//

#include "EvaluatorTestSupport.h"
#include "compiler/Evaluator/Evaluator.h"
#include "compiler/Families/Import.h"
#include "passes/Pipelines/Pipelines.h"
#include "runtime/Support/Json.h"
#include "runtime/Tool/Npy.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"

#include <optional>

using namespace mlir;
using namespace tenon;
using namespace tenon::tool;
using namespace tenon::transformer;

namespace {

struct Fixture {
  std::string Name, Kind, Reference;
  std::optional<int64_t> MaxSequence;
};

std::string fixturePath(const std::string &Name) {
  return std::string(TENON_TEST_DATA) + "/numerics/fixtures/" + Name;
}

/// What index.json lists; empty, which a test notices, when it cannot be read.
std::vector<Fixture> fixtures() {
  std::vector<Fixture> All;
  auto Index = readJsonFile(fixturePath("index.json"));
  if (!Index)
    return All;
  for (const Json &Entry : *Index) {
    Fixture F = {Entry.at("name"), Entry.at("kind"), Entry.at("reference"), {}};
    if (Entry.contains("max_seq_len"))
      F.MaxSequence = Entry["max_seq_len"];
    All.push_back(F);
  }
  return All;
}

NpyArray arrayOf(const std::string &Path) {
  auto Array = readNpy(Path);
  EXPECT_TRUE(Array) << Path << ": " << Array.error().message();
  return Array ? *Array : NpyArray();
}

void PrintTo(const Fixture &F, std::ostream *Out) { *Out << F.Name; }

class EvaluatorReferences : public testing::TestWithParam<Fixture> {
protected:
  EvaluatorReferences() {
    DialectRegistry Registry;
    registerDialects(Registry);
    Context.appendDialectRegistry(Registry);
    loadModelDialects(Context);
    Context.disableMultithreading();
  }

  void SetUp() override {
    Directory = fixturePath(GetParam().Name);
    ImportOptions Options;
    Options.MatrixType = ElementType::F32; // What the references computed in.
    Options.MaxSequence = GetParam().MaxSequence;
    auto Imported = importModel(Context, Directory, Options);
    ASSERT_TRUE(Imported) << Imported.error().message();
    Model.emplace(std::move(*Imported));
    Wanted = arrayOf(Directory + "/" + GetParam().Reference);
    if (isImage())
      return;
    Ids = integers("input_ids");
    ASSERT_GE(Ids.size(), 14u);
    Types = integers("token_type_ids");
    Target = integers("decoder_input_ids");
    Greedy = integers("greedy");
  }

  /// Whether its text has images.
  bool readsImages() const { return GetParam().Kind == "image_logits"; }
  bool isDecoder() const {
    return GetParam().Kind == "logits" || readsImages();
  }
  bool isTranslation() const { return GetParam().Kind == "seq2seq"; }
  bool isImage() const { return GetParam().Kind == "image"; }
  /// Whether the output has a row per sequence.
  bool isPooled() const { return GetParam().Kind == "classes"; }
  const char *role() const {
    return isDecoder() || isTranslation() ? "step"
           : isImage()                    ? "encode_image"
                                          : "encode";
  }

  /// What the directory has under a name; empty without the file.
  std::vector<int64_t> integers(const char *Name) {
    std::string Path = Directory + "/" + Name + ".npy";
    return llvm::sys::fs::exists(Path) ? arrayOf(Path).Integers
                                       : std::vector<int64_t>();
  }

  /// Runs the stages from `First` to `Last`; batches of at most `FewTokens` are
  /// decode-sized.
  void lower(StageId First, StageId Last, int64_t FewTokens) {
    PassManager Passes(&Context);
    PipelineOptions Options;
    Options.FewTokens = FewTokens;
    for (const Stage &S : stages())
      if (S.Id >= First && S.Id <= Last)
        S.populate(Passes, Options);
    ASSERT_TRUE(succeeded(Passes.run(*Model->Module)));
  }

  /// Runs the fused stage.
  void fuse(int64_t FewTokens) {
    lower(StageId::Transformer, StageId::Fused, FewTokens);
    int64_t Fused = 0;
    Model->Module->walk([&](Operation *Op) {
      EXPECT_FALSE((isa<LinearOp, AttentionOp, LmHeadOp, FeedForwardOp,
                        GatedFeedForwardOp>(Op)));
      Fused += isa<OnlineAttentionOp, LatentAttentionOp>(Op);
    });
    EXPECT_GT(Fused, 0);
  }

  /// Appends tokens [From, From + Length) of the fixture as a sequence.
  void add(EvaluatorBatch &Batch, int64_t Sequence, int64_t From,
           int64_t Length) {
    Batch.add(Sequence, std::span(Ids).subspan(From, Length), 0, Length);
    if (!Types.empty())
      Batch.TokenTypes.insert(Batch.TokenTypes.end(), Types.begin() + From,
                              Types.begin() + From + Length);
  }

  /// Appends an image [channels, height, width] as a class token and patches,
  /// row by row, each in the order of a convolution's kernel.
  void addImage(EvaluatorBatch &Batch, int64_t Sequence,
                const std::vector<float> &Pixels) {
    const ImageInfo &Info = *Model->Image;
    ASSERT_EQ(static_cast<int64_t>(Pixels.size()),
              Info.Channels * Info.Height * Info.Width);
    std::vector<int64_t> Zeros(static_cast<size_t>(Info.patches() + 1));
    Batch.add(Sequence, Zeros, 0, Info.patches() + 1);
    Tensor2D &Rows = Batch.Features;
    Rows.Columns = Info.patchValues();
    Rows.Data.resize(Rows.Data.size() + static_cast<size_t>(Rows.Columns));
    for (int64_t Top = 0; Top + Info.PatchHeight <= Info.Height;
         Top += Info.PatchHeight)
      for (int64_t Left = 0; Left + Info.PatchWidth <= Info.Width;
           Left += Info.PatchWidth)
        for (int64_t C = 0; C < Info.Channels; ++C)
          for (int64_t Y = Top; Y < Top + Info.PatchHeight; ++Y)
            for (int64_t X = Left; X < Left + Info.PatchWidth; ++X)
              Rows.Data.push_back(
                  Pixels[(C * Info.Height + Y) * Info.Width + X]);
    Rows.Rows = static_cast<int64_t>(Rows.Data.size()) / Rows.Columns;
  }

  /// Fills `ImageRows`, once.
  void encodeImages(Evaluator &E) {
    if (!readsImages() || ImageRows.Rows != 0)
      return;
    EvaluatorBatch Images;
    int64_t Count = 0;
    std::vector<std::string> Files = {"first_values", "second_values"};
    if (llvm::sys::fs::exists(Directory + "/png_values.npy"))
      Files = {"png_values", "jpeg_values"};
    for (const std::string &File : Files)
      addImage(Images, Count++,
               arrayOf(Directory + "/" + File + ".npy").Floats);
    Tensor2D Rows = run(E, "encode_image", Images);
    int64_t PerImage = Rows.Rows / Count, Next = 0;
    ImageRows = Tensor2D(static_cast<int64_t>(Ids.size()), Rows.Columns);
    for (size_t T = 0; T < Ids.size(); ++T) {
      if (Ids[T] != Model->Image->Token)
        continue;
      ASSERT_LT(Next, Count * Model->Image->Rows);
      int64_t Row = Next / Model->Image->Rows * PerImage + PerImage -
                    Model->Image->Rows + Next % Model->Image->Rows;
      ++Next;
      std::copy_n(Rows.row(Row), Rows.Columns,
                  ImageRows.row(static_cast<int64_t>(T)));
    }
    ASSERT_EQ(Next, Count * Model->Image->Rows);
  }

  /// Appends tokens [From, From + Length) of the fixture with their rows of
  /// images, if it has any, to what a sequence has; all are output rows.
  void addPart(EvaluatorBatch &Batch, int64_t Sequence, int64_t From,
               int64_t Length) {
    Batch.add(Sequence, std::span(Ids).subspan(From, Length), From, Length);
    if (!readsImages())
      return;
    Tensor2D &Rows = Batch.Features;
    Rows.Columns = ImageRows.Columns;
    Rows.Data.insert(Rows.Data.end(), ImageRows.row(From),
                     ImageRows.row(From) + Length * Rows.Columns);
    Rows.Rows += Length;
  }

  Tensor2D run(Evaluator &E, const char *Role, const EvaluatorBatch &Batch) {
    auto Got = E.run(Role, Batch);
    EXPECT_TRUE(Got) << Got.error().message();
    return Got ? *Got : Tensor2D();
  }
  Tensor2D step(Evaluator &E, const EvaluatorBatch &Batch) {
    return run(E, "step", Batch);
  }

  /// The output for every token, from a single step.
  Tensor2D whole(Evaluator &E, int64_t Sequence = 0) {
    EvaluatorBatch Batch;
    if (isImage()) {
      std::vector<std::string> Files = {"pixel_values"};
      if (llvm::sys::fs::exists(Directory + "/png_values.npy"))
        Files = {"png_values", "jpeg_values"};
      for (const std::string &File : Files)
        addImage(Batch, Sequence++,
                 arrayOf(Directory + "/" + File + ".npy").Floats);
      return run(E, role(), Batch);
    }
    encodeImages(E);
    if (readsImages())
      addPart(Batch, Sequence, 0, static_cast<int64_t>(Ids.size()));
    else
      add(Batch, Sequence, 0, static_cast<int64_t>(Ids.size()));
    if (!isTranslation())
      return run(E, role(), Batch);
    run(E, "encode", Batch);
    Batch = {};
    Batch.add(Sequence, Target, 0, static_cast<int64_t>(Target.size()));
    return step(E, Batch);
  }

  Evaluator evaluator() {
    return Evaluator(*Model->Module, checkpointParameters(*Model->Weights));
  }

  /// The last rows of one step are those that are stored.
  void checkOutput() {
    Evaluator E = evaluator();
    Tensor2D Got = whole(E);
    ASSERT_EQ(Wanted.Shape.size(), 2u);
    ASSERT_EQ(Got.Columns, Wanted.Shape[1]);
    ASSERT_GE(Got.Rows, Wanted.Shape[0]);
    if (isPooled() || isImage())
      ASSERT_EQ(Got.Rows, Wanted.Shape[0]);
    else
      ASSERT_EQ(Got.Rows,
                static_cast<int64_t>((isTranslation() ? Target : Ids).size()));
    double Error = difference(Got.row(Got.Rows - Wanted.Shape[0]),
                              Wanted.Floats.data(), Wanted.Floats.size());
    RecordProperty("error", std::to_string(Error));
    EXPECT_LE(Error, 1e-4);
  }

  /// Nine tokens of prompt, or a source text and the token that begins a
  /// target, then token by token through the cache.
  void checkGreedy() {
    if (Greedy.empty())
      return;
    Evaluator E = evaluator();
    std::vector<int64_t> Next(Ids.begin(), Ids.begin() + 9), Chosen;
    if (isTranslation()) {
      EvaluatorBatch Source;
      add(Source, 0, 0, static_cast<int64_t>(Ids.size()));
      run(E, "encode", Source);
      Next = {Target.front()};
    }
    int64_t Position = 0;
    while (Chosen.size() < Greedy.size()) {
      EvaluatorBatch Batch;
      Batch.add(0, Next, Position, 1);
      Tensor2D Logits = step(E, Batch);
      ASSERT_EQ(Logits.Rows, 1);
      Position += static_cast<int64_t>(Next.size());
      Next = {std::max_element(Logits.Data.begin(), Logits.Data.end()) -
              Logits.Data.begin()};
      Chosen.push_back(Next.front());
    }
    EXPECT_EQ(Chosen, Greedy);
  }

  /// Chunks, single tokens, and sequences side by side give what a single step
  /// of one sequence gives.
  void checkBatching() {
    if (isImage())
      return; // Two images at once are among the outputs.
    Evaluator E = evaluator();
    encodeImages(E);
    auto Count = static_cast<int64_t>(std::min<size_t>(Ids.size(), 37));
    Ids.resize(static_cast<size_t>(Count));
    if (!Types.empty())
      Types.resize(static_cast<size_t>(Count));
    if (isTranslation())
      return checkTranslations(E);
    if (!isDecoder())
      return checkEncoderBatching(E);
    Tensor2D Wanted = whole(E, /*Sequence=*/0);
    // Sequence 1 in chunks, among them single tokens, while sequence 2 runs
    // beside it some tokens behind.
    Tensor2D First(0, Wanted.Columns), Second(0, Wanted.Columns);
    int64_t Done = 0, Behind = 0;
    for (int64_t Chunk : {int64_t(5), int64_t(1), int64_t(1), int64_t(12),
                          int64_t(1), int64_t(9), int64_t(8), int64_t(0)}) {
      EvaluatorBatch Batch;
      int64_t Other = Chunk == 0 ? Count - Behind : std::min<int64_t>(Done, 4);
      Other = std::min(Other, Count - Behind);
      if (Other > 0)
        addPart(Batch, 2, Behind, Other);
      Chunk = std::min(Chunk, Count - Done);
      if (Chunk > 0)
        addPart(Batch, 1, Done, Chunk);
      Tensor2D Got = step(E, Batch);
      ASSERT_EQ(Got.Rows, Chunk + Other);
      auto Split = Got.Data.begin() + Other * Got.Columns;
      Second.Data.insert(Second.Data.end(), Got.Data.begin(), Split);
      First.Data.insert(First.Data.end(), Split, Got.Data.end());
      Done += Chunk;
      Behind += Other;
    }
    First.Rows = Done;
    Second.Rows = Behind;
    ASSERT_EQ(Done, Count);
    ASSERT_EQ(Behind, Count);
    expectNear(First, Wanted, 1e-6);
    expectNear(Second, Wanted, 1e-6);

    // A sequence that ended may begin again, and only output rows come out.
    E.forget(1);
    EvaluatorBatch Last;
    addPart(Last, 1, 0, Count);
    Last.OutputRows = {Count - 2, Count - 1};
    Tensor2D Got = step(E, Last);
    ASSERT_EQ(Got.Rows, 2);
    EXPECT_LE(difference(Got.row(0), Wanted.row(Count - 2), Got.Data.size()),
              1e-6);
    // Past the cache's end is an error.
    E.forget(1);
    Last = {};
    Last.add(1, {{0}}, 3, 1);
    auto Refused = E.run("step", Last);
    ASSERT_FALSE(Refused);
    EXPECT_NE(Refused.error().message().find(
                  "position 3 of sequence 1 in layer 0: expected at most 0"),
              std::string::npos)
        << Refused.error().message();
  }

  void checkEncoderBatching(Evaluator &E) {
    auto Count = static_cast<int64_t>(Ids.size());
    auto Run = [&](std::initializer_list<std::pair<int64_t, int64_t>> Parts) {
      EvaluatorBatch Batch;
      int64_t Sequence = 0;
      for (auto [From, Length] : Parts)
        add(Batch, Sequence++, From, Length);
      return run(E, "encode", Batch);
    };
    Tensor2D Long = Run({{0, Count}}), Short = Run({{3, 11}});
    Tensor2D Both = Run({{3, 11}, {0, Count}});
    ASSERT_EQ(Both.Rows, Long.Rows + Short.Rows);
    EXPECT_EQ(Short.Rows, isPooled() ? 1 : 11);
    EXPECT_LE(difference(Both.row(0), Short.row(0), Short.Data.size()), 1e-6);
    EXPECT_LE(difference(Both.row(Short.Rows), Long.row(0), Long.Data.size()),
              1e-6);
  }

  /// Two source texts encoded at once, then decoded side by side in chunks.
  void checkTranslations(Evaluator &E) {
    auto Count = static_cast<int64_t>(Target.size());
    auto Alone = [&](int64_t Sequence, int64_t From, int64_t Length) {
      EvaluatorBatch Source, Batch;
      add(Source, Sequence, From, Length);
      run(E, "encode", Source);
      Batch.add(Sequence, Target, 0, Count);
      return step(E, Batch);
    };
    auto Tokens = static_cast<int64_t>(Ids.size());
    Tensor2D Long = Alone(0, 0, Tokens), Short = Alone(1, 3, 11);
    EvaluatorBatch Source;
    add(Source, 2, 3, 11);
    add(Source, 3, 0, Tokens);
    run(E, "encode", Source);
    for (int64_t Done = 0; Done < Count; Done += 5) {
      int64_t Chunk = std::min<int64_t>(5, Count - Done);
      EvaluatorBatch Batch;
      for (int64_t Sequence : {3, 2})
        Batch.add(Sequence, std::span(Target).subspan(Done, Chunk), Done,
                  Chunk);
      Tensor2D Got = step(E, Batch);
      ASSERT_EQ(Got.Rows, 2 * Chunk);
      auto Elements = static_cast<size_t>(Chunk * Got.Columns);
      EXPECT_LE(difference(Got.row(0), Long.row(Done), Elements), 1e-6);
      EXPECT_LE(difference(Got.row(Chunk), Short.row(Done), Elements), 1e-6);
    }
  }

  MLIRContext Context;
  std::string Directory;
  std::optional<ImportedModel> Model;
  /// Tokens, their types, those of a target text, and what follows greedily;
  /// empty where a fixture has none.
  std::vector<int64_t> Ids, Types, Target, Greedy;
  /// A row for every token, of images' tokens what they stand for.
  Tensor2D ImageRows;
  NpyArray Wanted;
};

TEST_P(EvaluatorReferences, Model) {
  checkOutput();
  checkGreedy();
  checkBatching();
}

TEST_P(EvaluatorReferences, Fused) {
  // Steps of the cases run both variants.
  fuse(/*FewTokens=*/8);
  checkOutput();
  checkGreedy();
  checkBatching();
}

TEST_P(EvaluatorReferences, Placed) {
  fuse(/*FewTokens=*/8);
  lower(StageId::Placed, StageId::Placed, /*FewTokens=*/8);
  checkOutput();
  checkGreedy();
}

INSTANTIATE_TEST_SUITE_P(Fixtures, EvaluatorReferences,
                         testing::ValuesIn(fixtures()),
                         [](const testing::TestParamInfo<Fixture> &Info) {
                           std::string Name = Info.param.Name;
                           std::replace(Name.begin(), Name.end(), '-', '_');
                           return Name;
                         });

TEST(EvaluatorFixtures, AreThere) { EXPECT_GE(fixtures().size(), 145u); }

/// In bf16, weights as they are stored and keys and values rounded: within the
/// tolerance of that type, yet not what f32 gives.
TEST(EvaluatorBf16, CacheIsRounded) {
  MLIRContext Context;
  std::string Directory = fixturePath("llama-gqa-llama3");
  auto Model = importModel(Context, Directory);
  ASSERT_TRUE(Model) << Model.error().message();
  auto Ids = arrayOf(Directory + "/input_ids.npy").Integers;
  auto Wanted = arrayOf(Directory + "/logits.npy").Floats;
  Evaluator E(*Model->Module, checkpointParameters(*Model->Weights));
  EvaluatorBatch Batch;
  Batch.add(0, Ids, 0, static_cast<int64_t>(Ids.size()));
  auto Got = E.run("step", Batch);
  ASSERT_TRUE(Got) << Got.error().message();
  ASSERT_EQ(Got->Data.size(), Wanted.size());
  double Error = 0, Length = 0;
  for (size_t I = 0; I < Wanted.size(); ++I) {
    Error += std::pow(static_cast<double>(Got->Data[I]) - Wanted[I], 2);
    Length += std::pow(static_cast<double>(Wanted[I]), 2);
  }
  EXPECT_LE(std::sqrt(Error / Length), 3e-2);
  EXPECT_GE(std::sqrt(Error / Length), 1e-4);
}

} // namespace

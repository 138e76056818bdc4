//===- ProfileTest.cpp - What profiles count, and where -------------------===//

#include "EngineFixture.h"

#include "runtime/Engine/Session.h"

using namespace tenon;
using namespace tenon::artifact;
using namespace tenon::cache;
using namespace tenon::engine;
using namespace tenon::test;

namespace {

/// A model of `Scopes` layers whose code has kernels of these costs.
struct Program {
  Manifest Model;
  CodeInfo Code;

  explicit Program(std::vector<KernelCost> Costs, size_t Scopes = 2) {
    Model.Scopes.resize(Scopes);
    for (const KernelCost &Cost : Costs)
      Code.Kernels.push_back({"x", "f", std::nullopt, "", Cost});
  }

  Profile profile() const {
    Result<Profile> P = Profile::create(Model, Code);
    EXPECT_TRUE(P) << P.error().message();
    return std::move(*P);
  }
};

/// A step of sequences that have `Before` tokens and get `New` ones.
struct Batch {
  struct Sequence {
    int32_t Before = 0, New = 0, Prefix = 0, Source = 0;
  };

  explicit Batch(const std::vector<Sequence> &Sequences) {
    Starts.push_back(0);
    for (const Sequence &S : Sequences) {
      for (int32_t I = 0; I < S.New; ++I)
        Positions.push_back(S.Before + I);
      Starts.push_back(static_cast<int32_t>(Positions.size()));
      Prefixes.push_back(S.Prefix);
      Sources.push_back(S.Source);
    }
    Rt.tokens = static_cast<int64_t>(Positions.size());
    Rt.sequences = static_cast<int64_t>(Sequences.size());
    Rt.positions = Positions.data();
    Rt.starts = Starts.data();
    Rt.prefixes = Prefixes.data();
    Rt.source_lengths = Sources.data();
    Step.batch = &Rt;
    Step.scopes = Scopes;
  }
  Batch(const Batch &) = delete;
  Batch &operator=(const Batch &) = delete;

  std::vector<int32_t> Positions, Starts, Prefixes, Sources;
  tenon_rt_batch Rt = {};
  tenon_rt_scope Scopes[2] = {};
  tenon_rt_step Step = {};
};

KernelCost keysOf(KeysSeen Keys, int64_t Window = 0) {
  KernelCost Cost;
  Cost.Keys = Keys;
  Cost.Window = Window;
  Cost.KeyFlops = 1;
  Cost.KeyBytes = 1;
  return Cost;
}

/// Pairs and keys that a step counts.
std::pair<double, double> countsOf(const KernelCost &Cost,
                                   const std::vector<Batch::Sequence> &S) {
  Batch B(S);
  Profile P = Program({Cost}).profile();
  P.beginStep(B.Step);
  P.beginKernel(0, nullptr, B.Rt.tokens);
  P.endStep();
  std::vector<KernelTimes> Times = P.kernels();
  EXPECT_EQ(Times.size(), 1u);
  return {Times.at(0).Flops, Times.at(0).Bytes};
}

using Counts = std::pair<double, double>;

} // namespace

TEST(Profile, CountsKeys) {
  // 5 + 6 and 1 + 2 + 3 pairs.
  EXPECT_EQ(countsOf(keysOf(KeysSeen::Causal), {{4, 2}, {0, 3}}),
            Counts(11 + 6, 6 + 3));
  // The last 3 keys: 3 + 3 and 1 + 2 + 3 + 3; of the first sequence positions
  // 2 to 5 are read.
  EXPECT_EQ(countsOf(keysOf(KeysSeen::Causal, 3), {{4, 2}, {0, 4}}),
            Counts(6 + 9, 4 + 4));
  // The first 2 of 3 tokens see each other.
  EXPECT_EQ(countsOf(keysOf(KeysSeen::Causal), {{0, 3, 2}}),
            Counts(2 + 2 + 3, 3));
  EXPECT_EQ(countsOf(keysOf(KeysSeen::Sequence), {{0, 3}, {0, 2}}),
            Counts(9 + 4, 5));
  // Itself and a neighbour on either side.
  EXPECT_EQ(countsOf(keysOf(KeysSeen::Sequence, 2), {{0, 4}}),
            Counts(2 + 3 + 3 + 2, 4));
  EXPECT_EQ(countsOf(keysOf(KeysSeen::Source), {{5, 2, 0, 7}, {0, 1, 0, 3}}),
            Counts(14 + 3, 10));
}

TEST(Profile, KeepsKernelsAndLayersApart) {
  KernelCost Weights, Rows;
  Weights.WeightBytes = 100;
  Weights.RowFlops = 8;
  Rows.RowBytes = 3;
  Profile P = Program({Weights, Rows}).profile();
  Batch B({{0, 5}});
  for (int I = 0; I < 3; ++I) {
    P.beginStep(B.Step);
    P.beginKernel(1, nullptr, 5);
    for (const tenon_rt_scope &Layer : B.Scopes) {
      P.beginKernel(0, &Layer, 5);
      P.endKernel();
      P.endKernel();
    }
    P.beginKernel(0, &B.Scopes[1], 1);
    // A damaged program's.
    P.beginKernel(2, nullptr, 1);
    P.beginKernel(-1, nullptr, 1);
    P.beginKernel(0, &B.Scopes[1] + 5, 1);
    P.endStep();
  }
  EXPECT_EQ(P.steps(), 3);
  EXPECT_EQ(P.tokens(), 15);
  std::vector<KernelTimes> Times = P.kernels();
  ASSERT_EQ(Times.size(), 3u);
  EXPECT_EQ(Times[0].Kernel, 0u);
  EXPECT_EQ(Times[0].Scope, 0u);
  EXPECT_EQ(Times[0].Calls, 3);
  EXPECT_EQ(Times[0].Rows, 15);
  EXPECT_EQ(Times[0].Bytes, 300);
  EXPECT_EQ(Times[0].Flops, 15 * 8);
  EXPECT_EQ(Times[1].Scope, 1u);
  EXPECT_EQ(Times[1].Calls, 6);
  EXPECT_EQ(Times[1].Rows, 18);
  EXPECT_EQ(Times[2].Kernel, 1u);
  EXPECT_EQ(Times[2].Scope, std::nullopt);
  EXPECT_EQ(Times[2].Bytes, 45);
  int64_t Sum = 0;
  for (const KernelTimes &Each : Times) {
    EXPECT_GE(Each.Nanoseconds, 0);
    Sum += Each.Nanoseconds;
  }
  EXPECT_LE(Sum, P.nanoseconds());
}

TEST(Profile, ExpertsThatNoRowChoosesAreNotRead) {
  KernelCost Cost;
  Cost.WeightBytes = 80;
  Cost.UsedParts = 2;
  Cost.Parts = 8;
  Profile P = Program({Cost}).profile();
  Batch B({{0, 5}});
  P.beginStep(B.Step);
  P.beginKernel(0, &B.Scopes[0], 1);
  P.beginKernel(0, &B.Scopes[1], 5);
  P.endStep();
  EXPECT_EQ(P.kernels().at(0).Bytes, 20);
  EXPECT_EQ(P.kernels().at(1).Bytes, 80);
}

TEST(Profile, RefusesWhatItCannotKeep) {
  Program None({});
  Result<Profile> P = Profile::create(None.Model, None.Code);
  ASSERT_FALSE(P);
  EXPECT_EQ(P.error().message(),
            "the code marks no kernels: expected at least one");
  Program Large(std::vector<KernelCost>(1 << 16), 1 << 10);
  P = Profile::create(Large.Model, Large.Code);
  ASSERT_FALSE(P);
  EXPECT_NE(P.error().message().find("too many to profile"), std::string::npos);
}

TEST(Profile, RecordsSessionsAndChangesNothing) {
  TemporaryDirectory Directory;
  std::string File = Directory / "model.tenon";
  ASSERT_TRUE(writeModel(File));
  Result<std::shared_ptr<const Model>> M = Model::load(File);
  ASSERT_TRUE(M) << M.error().message();
  // Two threads, of which one marks.
  Result<Session> S = Session::create(*M, {2});
  ASSERT_TRUE(S) << S.error().message();
  Result<Profile> P = Profile::create((*M)->manifest(), (*M)->code());
  ASSERT_TRUE(P) << P.error().message();

  auto Run = [&] {
    std::vector<float> Rows;
    SequenceId Id = S->createSequence();
    for (const std::vector<int32_t> &Tokens :
         std::vector<std::vector<int32_t>>{{3, 1, 4}, {1}, {5}}) {
      StepItem Item{Id, Tokens, {}};
      Result<std::vector<ItemResult>> Answers = S->step({&Item, 1});
      EXPECT_TRUE(Answers && Answers->front().Outcome);
      std::span<const float> Row = Answers->front().Values;
      Rows.insert(Rows.end(), Row.begin(), Row.end());
    }
    EXPECT_TRUE(S->endSequence(Id));
    return Rows;
  };
  std::vector<float> Before = Run();
  S->setProfile(&*P);
  EXPECT_EQ(Run(), Before);
  S->setProfile(nullptr);
  EXPECT_EQ(Run(), Before);

  EXPECT_EQ(P->steps(), 3);
  EXPECT_EQ(P->tokens(), 5);
  std::vector<KernelTimes> Times = P->kernels();
  ASSERT_EQ(Times.size(), 3u);
  EXPECT_EQ(Times[0].Scope, 0u);
  EXPECT_EQ(Times[0].Calls, 3);
  EXPECT_EQ(Times[0].Rows, 5);
  EXPECT_EQ(Times[0].Bytes, 50);
  EXPECT_EQ(Times[1].Scope, 1u);
  // 1 + 2 + 3, then 4 and 5 pairs; 3, 4 and 5 keys.
  EXPECT_EQ(Times[1].Flops, 2 * 15);
  EXPECT_EQ(Times[1].Bytes, 4 * 12);
  EXPECT_EQ(Times[2].Scope, std::nullopt);
  EXPECT_EQ(Times[2].Rows, 3);
  EXPECT_EQ(S->matmulImplementations(0).size(), 1u);
}

//===- SessionRun.cpp - Batches and calls of entry points -----------------===//

#include "runtime/Engine/SessionState.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::artifact;
using namespace tenon::engine;

/// What functions answer that have failed; generated code hands it on.
static constexpr int64_t CallFailed = 1;

namespace {

/// What the functions of the ABI find behind the `runtime` pointer.
struct Callee {
  Executor &Threads;
  MatmulPrimitives &Library;
  const std::atomic<bool> &IsCancelled;
  /// Null unless steps are profiled.
  Profile *Recorder;
  /// Why a function answered CallFailed.
  std::optional<Error> Failure;

  int64_t fail(Error Reason) {
    Failure = std::move(Reason);
    return CallFailed;
  }
};

} // namespace

static Error cancelled() {
  return Error(ErrorKind::Cancelled, "the call was cancelled");
}

extern "C" {

static int64_t runParallel(void *Runtime, tenon_rt_body Body,
                           void *Environment) {
  auto &C = *static_cast<Callee *>(Runtime);
  if (C.IsCancelled.load(std::memory_order_relaxed))
    return C.fail(cancelled());
  C.Threads.parallel(Body, Environment);
  if (C.Recorder)
    C.Recorder->endKernel();
  return 0;
}

static void meetAtBarrier(void *Runtime) {
  static_cast<Callee *>(Runtime)->Threads.barrier();
}

static int64_t runMatmul(void *Runtime, int64_t Primitive, int64_t Rows,
                         const void *Source, const void *Weights,
                         const void *Bias, const void *Multiplier,
                         const void *Residual, void *Destination) {
  auto &C = *static_cast<Callee *>(Runtime);
  if (C.IsCancelled.load(std::memory_order_relaxed))
    return C.fail(cancelled());
  Status Done = C.Library.run({Primitive, Rows, Source, Weights, Bias,
                               Multiplier, Residual, Destination});
  if (C.Recorder)
    C.Recorder->endKernel();
  return Done ? 0 : C.fail(Done.error());
}

/// Called by every thread of a body before every kernel: what is not profiled
/// must cost nothing. The first thread is the control thread.
static void markKernel(void *Runtime, int64_t Kernel,
                       const tenon_rt_scope *Scope, int64_t Rows,
                       int64_t Thread) {
  Profile *Recorder = static_cast<Callee *>(Runtime)->Recorder;
  if (Recorder && Thread == 0)
    Recorder->beginKernel(Kernel, Scope, Rows);
}

static void claimItems(void *Runtime, int64_t Thread, int64_t Threads,
                       int64_t Total, int64_t Grain, tenon_rt_items *Items) {
  *Items = static_cast<Callee *>(Runtime)->Threads.claim(Thread, Threads, Total,
                                                         Grain);
}

} // extern "C"

static constexpr tenon_rt_functions Functions = {sizeof(tenon_rt_functions),
                                                 runParallel,
                                                 meetAtBarrier,
                                                 runMatmul,
                                                 markKernel,
                                                 claimItems};

/// tenon_rt_bucket rounds up by less than this.
static constexpr uint64_t LargestBucketStep = 256;

Status
Session::Implementation::checkTokens(const Entry &Code,
                                     std::span<const int32_t> Tokens,
                                     std::span<const int32_t> Types) const {
  if (Tokens.empty())
    return Error("no tokens: expected at least one");
  int64_t Vocabulary = manifest().vocabularyOf(Code.Info);
  for (size_t I = 0; I < Tokens.size(); ++I)
    if (Tokens[I] < 0 || Tokens[I] >= Vocabulary)
      return Error("token id " + std::to_string(Tokens[I]) + " (token " +
                   std::to_string(I) + "): expected 0 to " +
                   std::to_string(Vocabulary - 1));
  if (Types.empty())
    return {};
  if (Types.size() != Tokens.size())
    return Error(std::to_string(Types.size()) + " token types for " +
                 std::to_string(Tokens.size()) +
                 " tokens: expected one per token");
  // A model without token types knows only type 0.
  int64_t Known = std::max<int64_t>(manifest().TokenTypes, 1);
  for (size_t I = 0; I < Types.size(); ++I)
    if (Types[I] < 0 || Types[I] >= Known)
      return Error("token type " + std::to_string(Types[I]) + " (token " +
                   std::to_string(I) + "): expected 0 to " +
                   std::to_string(Known - 1));
  return {};
}

std::optional<int32_t>
Session::Implementation::imageTokenOf(const Entry &Code) const {
  // The manifest's checks guarantee that "step" with features has a token.
  if (Code.Info.Role != "step" || Code.Info.Features == 0)
    return std::nullopt;
  return manifest().Image->Token;
}

Status
Session::Implementation::checkFeatures(const Entry &Code,
                                       std::span<const int32_t> Tokens,
                                       std::span<const float> Features) const {
  std::optional<int32_t> ImageToken = imageTokenOf(Code);
  if (!ImageToken)
    return Features.empty()
               ? Status()
               : Error(std::to_string(Features.size()) +
                       " values of images: this model takes none in its text: "
                       "expected 0");
  auto Images = std::count(Tokens.begin(), Tokens.end(), *ImageToken);
  auto Expected = static_cast<size_t>(Images * Code.Info.Features);
  if (Features.size() == Expected)
    return {};
  return Error(std::to_string(Features.size()) + " values of images for " +
               std::to_string(Images) + " tokens that stand for them (id " +
               std::to_string(*ImageToken) + "): expected " +
               std::to_string(Expected) + ", " +
               std::to_string(Code.Info.Features) + " for each");
}

Status Session::Implementation::runStep(const Entry &Code, float *Rows,
                                        int64_t FewTokens) {
  if (IsCancelled.load())
    return cancelled().withContext(Shared->path());
  Callee Runtime{*Threads, Library, IsCancelled, Recorder, std::nullopt};
  tenon_rt_step Step = {};
  Step.size = sizeof(Step);
  Step.functions = &Functions;
  Step.runtime = &Runtime;
  Step.batch = &Batch.finish(FewTokens);
  Step.scopes = Scopes.data();
  Step.arena = reinterpret_cast<char *>(Arena.data());
  Step.output = Rows;
  Step.scratch = reinterpret_cast<char *>(Scratch.data());
  Step.scratch_bytes = static_cast<int64_t>(Shared->code().ScratchBytes);
  if (Recorder)
    Recorder->beginStep(Step);
  int64_t Answer = Code.Function(&Step);
  if (Recorder)
    Recorder->endStep();
  // Whatever came of weights that are no longer there, no one gets to see it.
  if (Status Same = Shared->artifact().checkUnchanged(); !Same)
    return Same;
  if (Runtime.Failure)
    return Runtime.Failure->withContext(Shared->path());
  if (Answer != 0)
    return Error(ErrorKind::Internal,
                 Shared->path() + ": entry '" + Code.Info.Role + "' answered " +
                     std::to_string(Answer) + ": expected 0");
  return {};
}

Status Session::Implementation::append(const Entry &Code,
                                       std::span<Request> Requests, Variant V) {
  IsCancelled.store(false);
  Status Done;
  Threads->run([&] { Done = runAppending(Code, Requests, V); });
  return Done;
}

Status Session::Implementation::encodeWhole(const Entry &Code,
                                            std::span<Request> Requests) {
  IsCancelled.store(false);
  Status Done;
  Threads->run([&] { Done = runWhole(Code, Requests); });
  return Done;
}

Result<float *> Session::Implementation::reserveOutput(const Entry &Code,
                                                       uint64_t Rows) {
  // Matmuls write rows up to the bucket, so the last ones need room behind.
  uint64_t Bytes = 0;
  if (__builtin_mul_overflow(
          Rows + LargestBucketStep,
          static_cast<uint64_t>(Code.Info.Width) * sizeof(float), &Bytes))
    return Error(ErrorKind::OutOfMemory,
                 "output of " + std::to_string(Rows) +
                     " rows takes more bytes than 64 bits count");
  if (Bytes > Output.size()) {
    Result<WorkingMemory> Larger = WorkingMemory::reserve(Bytes, "output");
    if (!Larger)
      return Larger.error();
    Output = std::move(*Larger);
  }
  return reinterpret_cast<float *>(Output.data());
}

/// Gives `Answer` the `Rows` rows from `First` on; what lies behind them.
static float *giveRows(ItemResult &Answer, float *First, int64_t Rows,
                       const EntryInfo &Info) {
  Answer.Rows = Rows;
  Answer.Values = {First, static_cast<size_t>(Rows * Info.Width)};
  return First + Rows * Info.Width;
}

Status Session::Implementation::runWhole(const Entry &Code,
                                         std::span<Request> Requests) {
  uint64_t Rows = 0;
  std::vector<int64_t> Lengths;
  for (const Request &R : Requests) {
    Rows += static_cast<uint64_t>(R.Whole.OutputCount);
    Lengths.push_back(static_cast<int64_t>(R.Whole.Tokens.size()));
  }
  Result<float *> Next = reserveOutput(Code, Rows);
  if (!Next)
    return Next.error();
  for (const std::vector<size_t> &Texts :
       planBatches(Lengths, manifest().MaxTokensPerStep)) {
    Batch.clear(Code.Info.Features);
    float *First = *Next;
    for (size_t Text : Texts) {
      Slice Whole = Requests[Text].Whole;
      *Next =
          giveRows(*Requests[Text].Answer, *Next, Whole.OutputCount, Code.Info);
      // A row per sequence is none of the batch's output rows.
      if (isPerSequence(Code.Info.Output))
        Whole.OutputCount = 0;
      Batch.add(Whole);
    }
    if (Status Done = runStep(Code, First, /*FewTokens=*/0); !Done)
      return Done;
  }
  return {};
}

/// Takes the first `Count` tokens off `Rest`, with their part of all that it
/// has for tokens. Rows of input are those of `ImageToken`, of `Width` values.
static Slice takeTokens(Slice &Rest, int64_t Count,
                        std::optional<int32_t> ImageToken, int64_t Width) {
  auto Take = [](auto &From, auto Number) {
    auto Taken = From.first(static_cast<size_t>(Number));
    From = From.subspan(static_cast<size_t>(Number));
    return Taken;
  };
  Slice Part = Rest;
  Part.Tokens = Take(Rest.Tokens, Count);
  if (!Rest.TokenTypes.empty())
    Part.TokenTypes = Take(Rest.TokenTypes, Count);
  if (ImageToken)
    Part.Features =
        Take(Rest.Features,
             std::count(Part.Tokens.begin(), Part.Tokens.end(), *ImageToken) *
                 Width);
  Rest.Position += Count;
  // Output rows are of the last tokens.
  Part.OutputCount = std::max<int64_t>(
      Rest.OutputCount - static_cast<int64_t>(Rest.Tokens.size()), 0);
  Rest.OutputCount -= Part.OutputCount;
  return Part;
}

Status Session::Implementation::runAppending(const Entry &Code,
                                             std::span<Request> Requests,
                                             Variant V) {
  uint64_t Rows = 0;
  for (const Request &R : Requests)
    Rows += static_cast<uint64_t>(R.Whole.OutputCount);
  Result<float *> First = reserveOutput(Code, Rows);
  if (!First)
    return First.error();
  float *Next = *First;
  for (const Request &R : Requests)
    Next = giveRows(*R.Answer, Next, R.Whole.OutputCount, Code.Info);

  std::optional<int32_t> ImageToken = imageTokenOf(Code);
  int64_t Capacity = manifest().MaxTokensPerStep;
  int64_t FewTokens = V == Variant::Many ? 0 : manifest().FewTokens;
  if (V == Variant::Few && FewTokens > 0)
    Capacity = std::min(Capacity, FewTokens);
  Next = *First;
  auto Flush = [&]() -> Status {
    if (Batch.tokens() == 0)
      return {};
    int64_t Count = Batch.outputRows();
    Status Done = runStep(Code, Next, FewTokens);
    Batch.clear(Code.Info.Features, ImageToken);
    Next += Count * Code.Info.Width;
    return Done;
  };
  Batch.clear(Code.Info.Features, ImageToken);
  for (const Request &R : Requests) {
    Slice Rest = R.Whole;
    // What must not be split: the tokens of a prefix see each other.
    if (Batch.tokens() + Rest.Prefix - Rest.Position > Capacity)
      if (Status Done = Flush(); !Done)
        return Done;
    while (!Rest.Tokens.empty()) {
      if (Batch.tokens() == Capacity)
        if (Status Done = Flush(); !Done)
          return Done;
      auto Count = std::min(static_cast<int64_t>(Rest.Tokens.size()),
                            Capacity - Batch.tokens());
      Batch.add(takeTokens(Rest, Count, ImageToken, Code.Info.Features));
    }
  }
  return Flush();
}

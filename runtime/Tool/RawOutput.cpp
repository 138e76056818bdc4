//===- RawOutput.cpp - tenon run --output ---------------------------------===//

#include "runtime/Tool/Npy.h"
#include "runtime/Tool/RunSupport.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::artifact;
using namespace tenon::cache;
using namespace tenon::engine;
using namespace tenon::tool;

/// Appends the output of every token of the prompt, which a sequence takes.
static Status appendSteps(Session &S, SequenceId Sequence,
                          const generation::Request &R,
                          std::span<const int32_t> Types, NpyWriter &File) {
  // One step's rows at a time: all rows of a long prompt may be gigabytes.
  std::span<const int32_t> Tokens = R.Prompt;
  auto Limit = static_cast<size_t>(S.model().manifest().MaxTokensPerStep);
  for (size_t From = 0; From < Tokens.size(); From += Limit) {
    size_t Count = std::min(Limit, Tokens.size() - From);
    StepItem Item{Sequence, Tokens.subspan(From, Count),
                  Types.empty() ? Types : Types.subspan(From, Count),
                  OutputRows::All, From == 0 ? R.Prefix : 0};
    Result<std::vector<ItemResult>> Answer = S.step({&Item, 1});
    if (!Answer)
      return Answer.error();
    if (!Answer->front().Outcome)
      return Answer->front().Outcome;
    if (Status Written = File.append(Answer->front().Values); !Written)
      return Written;
  }
  return S.endSequence(Sequence);
}

Status tool::writeOutputs(Session &S, const generation::Request &R,
                          const std::vector<int32_t> &Types, OutputFile Out) {
  const Model &M = S.model();
  bool Steps = M.hasEntry("step");
  Result<const Entry *> Code = M.entry(Steps ? "step" : "encode");
  if (!Code)
    return Code.error();
  const EntryInfo &Info = (*Code)->Info;
  int64_t Rows =
      isPerSequence(Info.Output) ? 1 : static_cast<int64_t>(R.Prompt.size());
  Result<NpyWriter> File = NpyWriter::create(std::move(Out), Rows, Info.Width);
  if (!File)
    return File.error();
  if (Steps) {
    SequenceId Sequence = S.createSequence();
    if (!R.Source.empty()) {
      SourceItem Source{Sequence, R.Source};
      Result<std::vector<ItemResult>> Encoded = S.encodeSources({&Source, 1});
      if (!Encoded)
        return Encoded.error();
      if (!Encoded->front().Outcome)
        return Encoded->front().Outcome;
    }
    Status Written = appendSteps(S, Sequence, R, Types, *File);
    return Written ? File->finish() : Written;
  }
  EncodeItem Whole{R.Prompt, Types, OutputRows::All};
  Result<std::vector<ItemResult>> Answer = S.encode({&Whole, 1});
  if (!Answer)
    return Answer.error();
  if (!Answer->front().Outcome)
    return Answer->front().Outcome;
  if (Status Written = File->append(Answer->front().Values); !Written)
    return Written;
  return File->finish();
}

//===- RawOutput.cpp - tenon run --output ---------------------------------===//

#include "runtime/Tool/Generation.h"
#include "runtime/Tool/Npy.h"

using namespace tenon;

/// Appends the output of every token of `Tokens`, which a sequence takes.
static Status appendSteps(Session &S, SequenceId Sequence,
                          std::span<const int32_t> Tokens,
                          std::span<const int32_t> Types, NpyWriter &File) {
  // One step's rows at a time: all rows of a long prompt may be gigabytes.
  auto Most = static_cast<size_t>(S.model().manifest().MaxTokensPerStep);
  for (size_t From = 0; From < Tokens.size(); From += Most) {
    size_t Count = std::min(Most, Tokens.size() - From);
    StepItem Item{Sequence, Tokens.subspan(From, Count),
                  Types.empty() ? Types : Types.subspan(From, Count),
                  OutputRows::All};
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

Status tenon::writeOutputs(Session &S, const std::vector<int32_t> &Ids,
                           const std::vector<int32_t> &Types,
                           const std::string &Path) {
  const Model &M = S.model();
  bool Steps = M.hasEntry("step");
  Result<const Entry *> Code = M.entry(Steps ? "step" : "encode");
  if (!Code)
    return Code.error();
  const EntryInfo &Info = (*Code)->Info;
  int64_t Rows =
      isPerSequence(Info.Output) ? 1 : static_cast<int64_t>(Ids.size());
  Result<NpyWriter> File = NpyWriter::create(Path, Rows, Info.Width);
  if (!File)
    return File.error();
  if (Steps) {
    Status Written = appendSteps(S, S.createSequence(), Ids, Types, *File);
    return Written ? File->finish() : Written;
  }
  EncodeItem Whole{Ids, Types, OutputRows::All};
  Result<std::vector<ItemResult>> Answer = S.encode({&Whole, 1});
  if (!Answer)
    return Answer.error();
  if (!Answer->front().Outcome)
    return Answer->front().Outcome;
  if (Status Written = File->append(Answer->front().Values); !Written)
    return Written;
  return File->finish();
}

Status tenon::writeDecoderOutputs(Session &S,
                                  const std::vector<int32_t> &Source,
                                  const std::vector<int32_t> &Ids,
                                  const std::string &Path) {
  Result<const Entry *> Code = S.model().entry("step");
  if (!Code)
    return Code.error();
  Result<NpyWriter> File = NpyWriter::create(
      Path, static_cast<int64_t>(Ids.size()), (*Code)->Info.Width);
  if (!File)
    return File.error();
  SequenceId Sequence = S.createSequence();
  SourceItem Item{Sequence, Source};
  Result<std::vector<ItemResult>> Encoded = S.encodeSources({&Item, 1});
  if (!Encoded)
    return Encoded.error();
  if (!Encoded->front().Outcome)
    return Encoded->front().Outcome;
  Status Written = appendSteps(S, Sequence, Ids, {}, *File);
  return Written ? File->finish() : Written;
}

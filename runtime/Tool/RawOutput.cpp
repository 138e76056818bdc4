//===- RawOutput.cpp - tenon run --output ---------------------------------===//

#include "runtime/Tool/Npy.h"
#include "runtime/Tool/RunSupport.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::artifact;
using namespace tenon::cache;
using namespace tenon::engine;
using namespace tenon::tool;

/// The rows [image tokens of the prompt, width] that its images become.
static Result<std::vector<float>> imageRowsOf(Session &S,
                                              const generation::Request &R) {
  std::vector<float> Rows;
  if (R.Images.empty())
    return Rows;
  Result<const Entry *> Code = S.model().entry("encode_image");
  if (!Code)
    return Code.error();
  auto Width = static_cast<size_t>((*Code)->Info.Width);
  auto Wanted = static_cast<size_t>(S.model().manifest().Image->Rows) * Width;
  for (const generation::PromptImage::Ptr &Image : R.Images) {
    // Alone, as where text is generated: that its bits are the same.
    ImageItem Item{Image->Patches, OutputRows::All};
    Result<std::vector<ItemResult>> Encoded = S.encodeImages({&Item, 1});
    if (!Encoded)
      return Encoded.error();
    if (!Encoded->front().Outcome)
      return Encoded->front().Outcome.error();
    std::span<const float> Last = Encoded->front().Values.last(Wanted);
    Rows.insert(Rows.end(), Last.begin(), Last.end());
  }
  return Rows;
}

/// Appends the output of every token of the prompt, which a sequence takes.
static Status appendSteps(Session &S, SequenceId Sequence,
                          const generation::Request &R,
                          std::span<const int32_t> Types, NpyWriter &File) {
  // One step's rows at a time: all rows of a long prompt may be gigabytes.
  std::span<const int32_t> Tokens = R.Prompt;
  Result<std::vector<float>> ImageRows = imageRowsOf(S, R);
  if (!ImageRows)
    return ImageRows.error();
  std::span<const float> Features = *ImageRows;
  const std::optional<ImageInfo> &Image = S.model().manifest().Image;
  size_t RowWidth = R.Images.empty()
                        ? 0
                        : Features.size() / (R.Images.size() *
                                             static_cast<size_t>(Image->Rows));
  auto Limit = static_cast<size_t>(S.model().manifest().MaxTokensPerStep);
  for (size_t From = 0; From < Tokens.size(); From += Limit) {
    size_t Count = std::min(Limit, Tokens.size() - From);
    StepItem Item{Sequence, Tokens.subspan(From, Count),
                  Types.empty() ? Types : Types.subspan(From, Count),
                  OutputRows::All, From == 0 ? R.Prefix : 0};
    if (RowWidth != 0) {
      auto Count =
          std::count(Item.Tokens.begin(), Item.Tokens.end(), *Image->Token);
      Item.Features = Features.first(static_cast<size_t>(Count) * RowWidth);
      Features = Features.subspan(Item.Features.size());
    }
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

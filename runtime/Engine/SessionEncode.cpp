//===- SessionEncode.cpp - Whole texts, source texts, images --------------===//

#include "runtime/Engine/SessionState.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::artifact;
using namespace tenon::cache;
using namespace tenon::engine;

Result<SequenceId> Session::Implementation::takeSource(size_t Tokens) {
  SequenceId Id = Sources->createSequence();
  auto Length = static_cast<int64_t>(Tokens);
  Status Taken = Sources->reserve(Id, Length);
  if (Taken)
    Taken = Sources->setLength(Id, Length);
  if (!Taken) {
    (void)Sources->endSequence(Id); // It exists.
    return Taken.error().withContext("source text");
  }
  return Id;
}

Result<std::vector<ItemResult>>
Session::Implementation::encode(std::string_view Role,
                                std::span<const EncodeItem> Items) {
  Result<const Entry *> Code = Shared->entry(Role);
  if (!Code)
    return Code.error();
  if ((*Code)->Info.Features != 0)
    return Error(Shared->path() + ": entry '" + std::string(Role) +
                 "' takes rows of input, not token ids");
  // The encoder of an encoder-decoder fills the caches of the source text;
  // who wants rows only lends it pages for the while.
  bool FillsCache = Role == "encode" && Sources;
  std::vector<SequenceId> Lent;
  std::vector<ItemResult> Answers(Items.size());
  std::vector<Request> Requests;
  int64_t Longest = FillsCache ? manifest().MaxSource : manifest().MaxSequence;
  int64_t Limit = std::min(Longest, manifest().MaxTokensPerStep);
  for (size_t I = 0; I < Items.size(); ++I) {
    const EncodeItem &Item = Items[I];
    Status &Outcome = Answers[I].Outcome;
    if (Item.Tokens.size() > static_cast<size_t>(Limit))
      Outcome = Error("text of " + std::to_string(Item.Tokens.size()) +
                      " tokens: expected at most " + std::to_string(Limit) +
                      ", the model's length");
    else
      Outcome = checkTokens(**Code, Item.Tokens, Item.TokenTypes);
    Slice Whole;
    if (Outcome && FillsCache) {
      Result<SequenceId> Taken = takeSource(Item.Tokens.size());
      if (Taken) {
        Lent.push_back(*Taken);
        Whole.CrossPages = Sources->pages(*Taken);
        Whole.SourceLength = static_cast<int64_t>(Item.Tokens.size());
      } else {
        Outcome = Taken.error();
      }
    }
    if (!Outcome)
      continue;
    Whole.Tokens = Item.Tokens;
    Whole.TokenTypes = Item.TokenTypes;
    Whole.OutputCount = isPerSequence((*Code)->Info.Output)
                            ? 1
                            : outputRowCount(Item.Outputs, Item.Tokens.size());
    Requests.push_back({Whole, &Answers[I]});
  }
  Status Done = encodeWhole(**Code, Requests);
  for (SequenceId Id : Lent)
    (void)Sources->endSequence(Id); // It exists.
  if (!Done)
    return Done.error();
  return Answers;
}

Result<std::vector<ItemResult>>
Session::encode(std::span<const EncodeItem> Items) {
  return Impl->encode("encode", Items);
}

Result<std::vector<ItemResult>>
Session::embed(std::span<const EncodeItem> Items) {
  return Impl->encode("embed", Items);
}

Result<std::vector<ItemResult>>
Session::encodeSources(std::span<const SourceItem> Items) {
  Result<const Entry *> Code = Impl->Shared->entry("encode");
  if (!Code)
    return Code.error();
  const Manifest &Info = Impl->manifest();
  int64_t Longest = std::min(Info.MaxSource, Info.MaxTokensPerStep);
  if (!Impl->Sources)
    return Error(model().path() + ": this model takes no source text: expected "
                                  "an encoder-decoder");
  std::vector<ItemResult> Answers(Items.size());
  std::vector<Request> Requests;
  std::vector<SequenceExtras *> Filled;
  for (size_t I = 0; I < Items.size(); ++I) {
    const SourceItem &Item = Items[I];
    Status &Outcome = Answers[I].Outcome;
    Result<int64_t> Length = Impl->Cache.length(Item.Sequence);
    if (!Length) {
      Outcome = Length.error();
      continue;
    }
    SequenceExtras &Extras = Impl->Extras[static_cast<int64_t>(Item.Sequence)];
    size_t Count = Item.Tokens.size();
    if (Extras.Source)
      Outcome = Error("sequence " +
                      std::to_string(static_cast<int64_t>(Item.Sequence)) +
                      " has a source text already");
    else if (Count > static_cast<size_t>(Longest))
      Outcome = Error(
          "source text of " + std::to_string(Count) +
          " tokens: expected at most " + std::to_string(Info.MaxSource) +
          ", the model's source length, and " +
          std::to_string(Info.MaxTokensPerStep) + ", what one step holds");
    else
      Outcome = Impl->checkTokens(**Code, Item.Tokens, {});
    if (!Outcome)
      continue;
    Result<SequenceId> Taken = Impl->takeSource(Item.Tokens.size());
    if (!Taken) {
      Outcome = Taken.error();
      continue;
    }
    Extras.Source = *Taken;
    Extras.SourceLength = static_cast<int64_t>(Count);
    Filled.push_back(&Extras);
    Slice Whole;
    Whole.Tokens = Item.Tokens;
    Whole.CrossPages = Impl->Sources->pages(*Taken);
    Whole.SourceLength = Extras.SourceLength;
    Whole.OutputCount = outputRowCount(Item.Outputs, Item.Tokens.size());
    Requests.push_back({Whole, &Answers[I]});
  }
  if (Status Done = Impl->encodeWhole(**Code, Requests); !Done) {
    for (SequenceExtras *Extras : Filled) {
      (void)Impl->Sources->endSequence(*Extras->Source); // It exists.
      Extras->Source.reset();
      Extras->SourceLength = 0;
    }
    return Done.error();
  }
  return Answers;
}

Result<std::vector<ItemResult>>
Session::encodeImages(std::span<const ImageItem> Items) {
  Result<const Entry *> Code = Impl->Shared->entry("encode_image");
  if (!Code)
    return Code.error();
  // The manifest's checks guarantee it.
  const ImageInfo &Image = *Impl->manifest().Image;
  // One more for the class token, whose row of input is zeros.
  auto Tokens = static_cast<size_t>(Image.patches() + 1);
  if (static_cast<int64_t>(Tokens) > Impl->manifest().MaxTokensPerStep)
    return Error(model().path() + ": an image has " + std::to_string(Tokens) +
                 " tokens: expected at most " +
                 std::to_string(Impl->manifest().MaxTokensPerStep) +
                 ", what one step holds");
  auto Values = static_cast<size_t>(Image.patches() * Image.patchValues());
  std::vector<int32_t> NoIds(Tokens);
  std::vector<ItemResult> Answers(Items.size());
  std::vector<Request> Requests;
  for (size_t I = 0; I < Items.size(); ++I) {
    if (Items[I].Patches.size() != Values) {
      Answers[I].Outcome =
          Error("image of " + std::to_string(Items[I].Patches.size()) +
                " values: expected " + std::to_string(Values) + ", " +
                std::to_string(Image.patches()) + " patches of " +
                std::to_string(Image.patchValues()));
      continue;
    }
    Slice Whole;
    Whole.Tokens = NoIds;
    Whole.Features = Items[I].Patches;
    Whole.OutputCount = isPerSequence((*Code)->Info.Output)
                            ? 1
                            : outputRowCount(Items[I].Outputs, Tokens);
    Requests.push_back({Whole, &Answers[I]});
  }
  if (Status Done = Impl->encodeWhole(**Code, Requests); !Done)
    return Done.error();
  return Answers;
}

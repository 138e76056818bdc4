//===- Tokenizer.cpp - Text to token ids and back -------------------------===//

#include "runtime/Tokenizer/Tokenizer.h"

#include "runtime/Support/InputFile.h"
#include "runtime/Tokenizer/AddedTokens.h"
#include "runtime/Tokenizer/Decoders.h"
#include "runtime/Tokenizer/Fields.h"
#include "runtime/Tokenizer/Models.h"
#include "runtime/Tokenizer/Pattern.h"
#include "runtime/Tokenizer/PostProcessor.h"
#include "runtime/Tokenizer/PreTokenizers.h"
#include "runtime/Tokenizer/Unicode.h"

#include <algorithm>
#include <cstring>

using namespace tenon;
using namespace tenon::tokenizer;

static constexpr uint64_t MaxFileBytes = 256u << 20;

namespace {

struct Truncation {
  size_t MaxTokens = 0;
  bool CutLeft = false;
  bool OnlyFirst = false; ///< Of a pair.
};

/// The end of the decoding stages.
class Collector : public DecodeStage {
public:
  explicit Collector(std::string &Out) : Out(Out) {}
  void begin() override {}
  void text(std::string_view Part) override { Out += Part; }
  void end() override {}
  void finish() override {}

private:
  std::string &Out;
};

} // namespace

struct Tokenizer::Parts {
  Parts(std::unique_ptr<Model> M, AddedTokens Added)
      : M(std::move(M)), Added(std::move(Added)) {}

  /// Where special tokens may be; null for everywhere.
  using Ranges = const std::vector<ByteRange> *;

  Status encodePiece(std::string_view Text, bool IsGuarded, ModelRun &Run,
                     std::vector<int32_t> &Ids) const;
  Status encodeNormalized(Piece Whole, Ranges Within, ModelRun &Run,
                          std::vector<int32_t> &Ids) const;
  Status encodeRaw(std::string_view Text, Ranges Within,
                   std::vector<int32_t> &Ids) const;
  Result<std::vector<int32_t>> encodeWhole(std::string_view Text,
                                           Ranges Within) const;
  void keep(std::vector<int32_t> &Ids, size_t Count) const;
  /// The spelling of `Id`; none where it is no token's.
  std::optional<std::string_view> tokenOf(int32_t Id) const;
  Result<std::vector<ByteRange>>
  normalizedRanges(std::string_view Text, const std::vector<ByteRange> &Within,
                   std::string_view Normalized) const;

  /// Null where the file has none.
  std::unique_ptr<Normalizer> Rules;
  std::unique_ptr<PreTokenizer> Splitter;
  std::unique_ptr<Model> M;
  AddedTokens Added;
  PostProcessor Frame;
  Decoder Back = Decoder::joinWithSpaces();
  std::optional<Truncation> Cut;
};

static Result<Truncation> readTruncation(const JsonField &Field) {
  Status Known =
      expectOnly(Field, {"direction", "max_length", "strategy", "stride"});
  if (!Known)
    return Known.error();
  Truncation Made;
  Result<JsonField> MaxLength = Field.member("max_length");
  if (!MaxLength)
    return MaxLength.error();
  Result<int64_t> Count = MaxLength->asInteger(0, INT32_MAX);
  if (!Count)
    return Count.error();
  Made.MaxTokens = static_cast<size_t>(*Count);
  Result<std::string> Direction = stringOr(Field, "direction", "Right");
  if (!Direction)
    return Direction.error();
  Made.CutLeft = *Direction == "Left";
  if (!Made.CutLeft && *Direction != "Right")
    return Field.member("direction")->expected("Left or Right");
  // A single text is always the first, and the longest.
  Result<std::string> Strategy = requiredString(Field, "strategy");
  if (!Strategy)
    return Strategy.error();
  if (*Strategy != "LongestFirst" && *Strategy != "OnlyFirst")
    return Field.member("strategy")->expected("LongestFirst or OnlyFirst");
  Made.OnlyFirst = *Strategy == "OnlyFirst";
  return Made;
}

Tokenizer::Tokenizer(std::unique_ptr<const Parts> Steps)
    : Steps(std::move(Steps)) {}
Tokenizer::Tokenizer(Tokenizer &&) noexcept = default;
Tokenizer &Tokenizer::operator=(Tokenizer &&) noexcept = default;
Tokenizer::~Tokenizer() = default;

Result<Tokenizer> Tokenizer::fromFile(const std::string &Path) {
  Result<std::string> Text = readFile(Path, MaxFileBytes);
  if (!Text)
    return Text.error();
  return fromJson(*Text, Path);
}

Result<Tokenizer> Tokenizer::fromJson(std::string_view Text,
                                      std::string_view File) {
  Result<Tokenizer> Made = read(Text, File);
  if (!Made)
    return Made.error().ofContent();
  return Made;
}

Result<Tokenizer> Tokenizer::read(std::string_view Text,
                                  std::string_view Name) {
  Result<TokenizerFile> File = TokenizerFile::parse(Text, Name);
  if (!File)
    return File.error();
  JsonField Root = File->field();
  if (!File->Root.is_object())
    return Error(File->File + ": not a tokenizer: expected an object");
  if (Status Known =
          expectOnly(Root, {"version", "truncation", "padding", "added_tokens",
                            "normalizer", "pre_tokenizer", "post_processor",
                            "decoder", "model"});
      !Known)
    return Known.error();
  Result<std::string> Version = requiredString(Root, "version");
  if (!Version)
    return Version.error();
  if (*Version != "1.0")
    return Root.member("version")->expected("1.0");

  Result<std::unique_ptr<Model>> M = Model::fromFile(*File);
  if (!M)
    return M.error();
  std::unique_ptr<Normalizer> Rules;
  if (Root.has("normalizer")) {
    auto Read = Normalizer::fromJson(*Root.member("normalizer"));
    if (!Read)
      return Read.error();
    Rules = std::move(*Read);
  }
  Json None = Json::array();
  Result<AddedTokens> Added = AddedTokens::fromJson(
      Root.has("added_tokens") ? *Root.member("added_tokens")
                               : JsonField(None, File->File, "added_tokens"),
      (*M)->vocabulary(), Rules.get());
  if (!Added)
    return Added.error();
  auto Made = std::make_unique<Parts>(std::move(*M), std::move(*Added));
  Made->Rules = std::move(Rules);
  if (Root.has("pre_tokenizer")) {
    auto Read = PreTokenizer::fromJson(*Root.member("pre_tokenizer"));
    if (!Read)
      return Read.error();
    Made->Splitter = std::move(*Read);
  }
  if (Root.has("post_processor")) {
    auto Read = PostProcessor::fromJson(
        *Root.member("post_processor"), [&](int32_t Id) {
          return Made->Added.tokenOf(Id) || Made->M->vocabulary().tokenOf(Id);
        });
    if (!Read)
      return Read.error();
    Made->Frame = std::move(*Read);
  }
  if (Root.has("decoder")) {
    auto Read = Decoder::fromJson(*Root.member("decoder"));
    if (!Read)
      return Read.error();
    Made->Back = std::move(*Read);
  }
  if (Root.has("truncation")) {
    JsonField Field = *Root.member("truncation");
    auto Read = readTruncation(Field);
    if (!Read)
      return Read.error();
    if (Read->MaxTokens < Made->Frame.added())
      return Field.member("max_length")
          ->expected("at least " + std::to_string(Made->Frame.added()) +
                     ", the number of special tokens");
    Made->Cut = *Read;
  }
  return Tokenizer(std::move(Made));
}

/// Whether one of the ranges holds all of [Begin, End).
static bool holds(const std::vector<ByteRange> &Ranges, size_t Begin,
                  size_t End) {
  auto Found = std::upper_bound(
      Ranges.begin(), Ranges.end(), Begin,
      [](size_t At, const ByteRange &R) { return At < R.Begin; });
  return Found != Ranges.begin() && std::prev(Found)->End >= End;
}

/// The parts of `Ranges` in [Begin, End), counted from there.
static std::vector<ByteRange> rangesOf(const std::vector<ByteRange> &Ranges,
                                       size_t Begin, size_t End) {
  std::vector<ByteRange> Parts;
  auto From = std::upper_bound(
      Ranges.begin(), Ranges.end(), Begin,
      [](size_t At, const ByteRange &R) { return At < R.End; });
  for (; From != Ranges.end() && From->Begin < End; ++From)
    Parts.push_back({std::max(From->Begin, Begin) - Begin,
                     std::min(From->End, End) - Begin});
  return Parts;
}

Status Tokenizer::Parts::encodePiece(std::string_view Text, bool IsGuarded,
                                     ModelRun &Run,
                                     std::vector<int32_t> &Ids) const {
  size_t Before = Ids.size();
  Status Done = Run.encode(Text, Ids);
  if (!Done || !IsGuarded)
    return Done;
  // Some vocabularies spell their special tokens. A text that holds such a
  // spelling is cut inside of it; other special tokens can only stand for what
  // is unknown.
  std::vector<size_t> Cuts;
  std::vector<std::string_view> Known;
  for (size_t I = Before; I < Ids.size(); ++I) {
    std::optional<std::string_view> Token = Added.specialOf(Ids[I]);
    if (Token)
      Token = M->vocabulary().tokenOf(Ids[I]);
    if (!Token || std::find(Known.begin(), Known.end(), *Token) != Known.end())
      continue;
    Known.push_back(*Token);
    for (size_t At = 0; At < Text.size(); ++At) {
      const void *Found = memmem(Text.data() + At, Text.size() - At,
                                 Token->data(), Token->size());
      if (!Found)
        break;
      At = static_cast<size_t>(static_cast<const char *>(Found) - Text.data());
      size_t Cut = At;
      nextCode(Text, Cut);
      if (Cut - At == Token->size())
        return Error("the text holds " + printable(*Token) +
                     ", one character that is a special token: expected text "
                     "without it");
      Cuts.push_back(Cut);
    }
  }
  if (Cuts.empty())
    return {};
  Ids.resize(Before);
  std::sort(Cuts.begin(), Cuts.end());
  Cuts.push_back(Text.size());
  size_t Begin = 0;
  for (size_t Cut : Cuts) {
    if (Cut == Begin)
      continue;
    // None of the spellings is in a part, so that this ends.
    Done = encodePiece(Text.substr(Begin, Cut - Begin), true, Run, Ids);
    if (!Done)
      return Done;
    Begin = Cut;
  }
  return {};
}

Status Tokenizer::Parts::encodeNormalized(Piece Whole, Ranges Within,
                                          ModelRun &Run,
                                          std::vector<int32_t> &Ids) const {
  AddedTokens::Permit MaySpecial;
  if (Within)
    MaySpecial = [&](size_t Begin, size_t End) {
      return holds(*Within, Begin, End);
    };
  auto Found = [&](std::optional<int32_t> Id, std::string_view Part) -> Status {
    if (Id) {
      Ids.push_back(*Id);
      return {};
    }
    auto Begin = static_cast<size_t>(Part.data() - Whole.Text.data());
    bool IsGuarded = Within && !holds(*Within, Begin, Begin + Part.size());
    if (!Splitter)
      return encodePiece(Part, IsGuarded, Run, Ids);
    return Splitter->split(
        Whole.part(Begin, Begin + Part.size()), [&](Piece Split) {
          return encodePiece(Split.Text, IsGuarded, Run, Ids);
        });
  };
  return Added.split(Whole.Text, true, Found, MaySpecial);
}

/// Where the parts `Within` of `Text` are once it is normalized. Text that is
/// changed across a seam ends what is known of it: ranges behind are left out.
Result<std::vector<ByteRange>>
Tokenizer::Parts::normalizedRanges(std::string_view Text,
                                   const std::vector<ByteRange> &Within,
                                   std::string_view Normalized) const {
  std::vector<ByteRange> Made;
  size_t At = 0, Place = 0;
  // Parts behind the first are normalized behind a letter, so that nothing is
  // put in front of them.
  std::string Letter = "a";
  if (Status Done = Rules->apply(Letter); !Done)
    return Done.error();
  auto Take = [&](size_t End, bool IsWithin) -> Result<bool> {
    if (End == At)
      return true;
    std::string Part(At == 0 ? "" : "a");
    Part += Text.substr(At, End - At);
    if (Status Done = Rules->apply(Part); !Done)
      return Done.error();
    std::string_view Rest = Part;
    if (At != 0 && !Rest.starts_with(Letter))
      return false;
    if (At != 0)
      Rest.remove_prefix(Letter.size());
    if (!Normalized.substr(Place).starts_with(Rest))
      return false;
    if (IsWithin)
      Made.push_back({Place, Place + Rest.size()});
    Place += Rest.size();
    At = End;
    return true;
  };
  for (const ByteRange &R : Within) {
    Result<bool> Fits = Take(R.Begin, false);
    if (Fits && *Fits)
      Fits = Take(R.End, true);
    if (!Fits)
      return Fits.error();
    if (!*Fits)
      break;
  }
  return Made;
}

Status Tokenizer::Parts::encodeRaw(std::string_view Text, Ranges Within,
                                   std::vector<int32_t> &Ids) const {
  std::unique_ptr<ModelRun> Run = M->start();
  AddedTokens::Permit MaySpecial;
  if (Within)
    MaySpecial = [&](size_t Begin, size_t End) {
      return holds(*Within, Begin, End);
    };
  auto Found = [&](std::optional<int32_t> Id, std::string_view Part) -> Status {
    if (Id) {
      Ids.push_back(*Id);
      return {};
    }
    size_t AtStart = 0;
    if (Part.data() == Text.data())
      nextCode(Part, AtStart);
    auto Begin = static_cast<size_t>(Part.data() - Text.data());
    std::vector<ByteRange> Here;
    if (Within)
      Here = rangesOf(*Within, Begin, Begin + Part.size());
    if (!Rules)
      return encodeNormalized({Part, AtStart}, Within ? &Here : nullptr, *Run,
                              Ids);
    std::string Normalized(Part);
    if (Status Done = Rules->apply(Normalized, AtStart); !Done)
      return Done;
    if (Normalized.size() > MaxTextBytes)
      return Error("text of " + std::to_string(Normalized.size()) +
                   " bytes, once normalized: expected at most " +
                   std::to_string(MaxTextBytes));
    if (Within && holds(Here, 0, Part.size())) {
      Here = {{0, Normalized.size()}};
    } else if (Within && Added.hasNormalizedSpecial()) {
      Result<std::vector<ByteRange>> Moved =
          normalizedRanges(Part, Here, Normalized);
      if (!Moved)
        return Moved.error();
      Here = std::move(*Moved);
    } else {
      Here.clear();
    }
    return encodeNormalized({Normalized, AtStart}, Within ? &Here : nullptr,
                            *Run, Ids);
  };
  return Added.split(Text, false, Found, MaySpecial);
}

/// The ids of a text by itself.
Result<std::vector<int32_t>>
Tokenizer::Parts::encodeWhole(std::string_view Text, Ranges Within) const {
  if (Text.size() > MaxTextBytes)
    return Error("text of " + std::to_string(Text.size()) +
                 " bytes: expected at most " + std::to_string(MaxTextBytes));
  if (std::optional<size_t> Bad = findInvalidUtf8(Text))
    return Error("text is not UTF-8 at byte " + std::to_string(*Bad) +
                 ": expected UTF-8");
  RegexBudget OfText(Text.size());
  std::vector<int32_t> Ids;
  if (Status Done = encodeRaw(Text, Within, Ids); !Done)
    return Done.error();
  return Ids;
}

/// Cuts a text to at most `Count` ids.
void Tokenizer::Parts::keep(std::vector<int32_t> &Ids, size_t Count) const {
  if (Count >= Ids.size())
    return;
  if (Cut && Cut->CutLeft)
    Ids.erase(Ids.begin(), Ids.end() - static_cast<ptrdiff_t>(Count));
  else
    Ids.resize(Count);
}

std::optional<std::string_view> Tokenizer::Parts::tokenOf(int32_t Id) const {
  std::optional<std::string_view> Token = Added.tokenOf(Id);
  return Token ? Token : M->vocabulary().tokenOf(Id);
}

/// The room for the ids of texts of `MaxTokens` with special tokens.
static Result<size_t> roomIn(size_t MaxTokens, size_t Reserved) {
  if (MaxTokens < Reserved)
    return Error("at most " + std::to_string(MaxTokens) +
                 " tokens asked for: expected at least " +
                 std::to_string(Reserved) + ", the number of special tokens");
  return MaxTokens - Reserved;
}

Result<std::vector<int32_t>>
Tokenizer::encode(std::string_view Text, bool AddSpecialTokens,
                  std::optional<size_t> MaxTokens) const {
  EncodeOptions Options;
  Options.AddSpecialTokens = AddSpecialTokens;
  Options.MaxTokens = MaxTokens;
  return encode(Text, Options);
}

Result<std::vector<int32_t>>
Tokenizer::encode(std::string_view Text, const EncodeOptions &Options) const {
  auto *Within =
      Options.SpecialTokensWithin ? &*Options.SpecialTokensWithin : nullptr;
  Result<std::vector<int32_t>> Ids = Steps->encodeWhole(Text, Within);
  if (!Ids)
    return Ids;
  std::optional<size_t> MaxTokens = Options.MaxTokens;
  if (!MaxTokens && Steps->Cut)
    MaxTokens = Steps->Cut->MaxTokens;
  if (MaxTokens) {
    Result<size_t> Room =
        roomIn(*MaxTokens, Options.AddSpecialTokens ? Steps->Frame.added() : 0);
    if (!Room)
      return Room.error();
    Steps->keep(*Ids, *Room);
  }
  return Steps->Frame.apply(std::move(*Ids), Options.AddSpecialTokens);
}

/// The lengths of two texts that are cut to `Room` ids, the longer one first.
static std::pair<size_t, size_t> longestFirst(size_t First, size_t Second,
                                              size_t Room) {
  if (First + Second <= Room)
    return {First, Second};
  size_t Half = Room / 2;
  if (std::min(First, Second) > Half) {
    // The odd one is of the longer text, as in `tokenizers`.
    First > Second ? First = Room - Half : First = Half;
    return {First, Room - First};
  }
  return First > Second ? std::pair(Room - Second, Second)
                        : std::pair(First, Room - First);
}

Result<EncodedPair>
Tokenizer::encodePair(std::string_view First, std::string_view Second,
                      bool AddSpecialTokens,
                      std::optional<size_t> MaxTokens) const {
  Result<size_t> Added = Steps->Frame.addedToPair();
  if (!Added)
    return Added.error();
  Result<std::vector<int32_t>> A = Steps->encodeWhole(First, nullptr);
  if (!A)
    return A.error();
  Result<std::vector<int32_t>> B = Steps->encodeWhole(Second, nullptr);
  if (!B)
    return B.error();
  if (!MaxTokens && Steps->Cut)
    MaxTokens = Steps->Cut->MaxTokens;
  if (MaxTokens) {
    Result<size_t> Room = roomIn(*MaxTokens, AddSpecialTokens ? *Added : 0);
    if (!Room)
      return Room.error();
    std::pair<size_t, size_t> Kept = longestFirst(A->size(), B->size(), *Room);
    if (Steps->Cut && Steps->Cut->OnlyFirst) {
      if (A->size() + B->size() > *Room && B->size() >= *Room)
        return Error("the second text of a pair has " +
                     std::to_string(B->size()) +
                     " tokens, and the tokenizer cuts the first: expected at "
                     "most " +
                     std::to_string(*Room));
      Kept = {*Room - B->size(), B->size()};
    }
    Steps->keep(*A, Kept.first);
    Steps->keep(*B, Kept.second);
  }
  return Steps->Frame.applyToPair(*A, *B, AddSpecialTokens);
}

std::string Tokenizer::decode(std::span<const int32_t> Ids,
                              bool SkipSpecialTokens) const {
  StreamingDecoder Stream(*this, SkipSpecialTokens);
  std::string Text;
  for (int32_t Id : Ids)
    Text += Stream.push(Id);
  return Text + Stream.finish();
}

Status Tokenizer::checkIds(std::span<const int32_t> Ids) const {
  for (int32_t Id : Ids)
    if (!Steps->tokenOf(Id))
      return Error("token id " + std::to_string(Id) +
                   " is no token: expected one of the vocabulary's " +
                   std::to_string(vocabularySize()));
  return {};
}

size_t Tokenizer::vocabularySize() const {
  return Steps->M->vocabulary().size() + Steps->Added.beyondModel();
}

std::optional<int32_t> Tokenizer::idOf(std::string_view Token) const {
  if (std::optional<int32_t> Id = Steps->Added.idOf(Token))
    return Id;
  return Steps->M->vocabulary().idOf(Token);
}

std::optional<std::string_view> Tokenizer::addedToken(int32_t Id) const {
  return Steps->Added.tokenOf(Id);
}

int32_t Tokenizer::idEnd() const {
  return std::max(Steps->M->vocabulary().idEnd(), Steps->Added.idEnd());
}

Result<std::optional<std::string>> Tokenizer::bytesOf(int32_t Id,
                                                      bool IsFirst) const {
  std::optional<std::string_view> Token = Steps->tokenOf(Id);
  if (!Token || Steps->Added.isSpecial(*Token))
    return std::optional<std::string>();
  std::optional<std::string> Bytes = Steps->Back.bytesOf(*Token, IsFirst);
  if (!Bytes)
    return Error("the tokenizer's decoder makes text of a token that depends "
                 "on others: expected ByteLevel, ByteFallback or Metaspace");
  return Bytes;
}

TokenText Tokenizer::textOf(int32_t Id, bool IsFirst) const {
  TokenText Made;
  Result<std::optional<std::string>> Bytes = bytesOf(Id, IsFirst);
  Made.Added = Bytes ? std::move(*Bytes) : decode({&Id, 1});
  if (Made.Added)
    appendLossy(Made.Shown, *Made.Added, /*IsEnd=*/true);
  else
    Made.Shown = decode({&Id, 1}, /*SkipSpecialTokens=*/false);
  return Made;
}

struct StreamingDecoder::State {
  State(const Tokenizer::Parts &Steps, bool SkipSpecialTokens)
      : Steps(Steps), SkipSpecialTokens(SkipSpecialTokens) {
    restart();
  }

  void restart() { First = Steps.Back.start(std::make_unique<Collector>(Out)); }

  std::string taken() { return std::exchange(Out, {}); }

  const Tokenizer::Parts &Steps;
  bool SkipSpecialTokens;
  std::string Out;
  std::unique_ptr<DecodeStage> First;
};

StreamingDecoder::StreamingDecoder(const Tokenizer &T, bool SkipSpecialTokens)
    : Current(std::make_unique<State>(*T.Steps, SkipSpecialTokens)) {}
StreamingDecoder::StreamingDecoder(StreamingDecoder &&) noexcept = default;
StreamingDecoder &
StreamingDecoder::operator=(StreamingDecoder &&) noexcept = default;
StreamingDecoder::~StreamingDecoder() = default;

std::string StreamingDecoder::push(int32_t Id) {
  std::optional<std::string_view> Token = Current->Steps.tokenOf(Id);
  if (!Token ||
      (Current->SkipSpecialTokens && Current->Steps.Added.isSpecial(*Token)))
    return "";
  Current->First->begin();
  Current->First->text(*Token);
  Current->First->end();
  return Current->taken();
}

std::string StreamingDecoder::finish() {
  Current->First->finish();
  std::string Rest = Current->taken();
  Current->restart();
  return Rest;
}

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

using namespace tenon;
using namespace tenon::tokenizer;

static constexpr uint64_t MaxFileBytes = 256u << 20;

namespace {

struct Truncation {
  size_t MaxTokens = 0;
  bool CutLeft = false;
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

  Status encodeNormalized(Piece Whole, ModelRun &Run,
                          std::vector<int32_t> &Ids) const;
  Status encodeRaw(std::string_view Text, std::vector<int32_t> &Ids) const;

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

Status Tokenizer::Parts::encodeNormalized(Piece Whole, ModelRun &Run,
                                          std::vector<int32_t> &Ids) const {
  return Added.split(
      Whole.Text, true,
      [&](std::optional<int32_t> Id, std::string_view Part) -> Status {
        if (Id) {
          Ids.push_back(*Id);
          return {};
        }
        if (!Splitter)
          return Run.encode(Part, Ids);
        auto Begin = static_cast<size_t>(Part.data() - Whole.Text.data());
        return Splitter->split(
            Whole.part(Begin, Begin + Part.size()),
            [&](Piece Split) { return Run.encode(Split.Text, Ids); });
      });
}

Status Tokenizer::Parts::encodeRaw(std::string_view Text,
                                   std::vector<int32_t> &Ids) const {
  std::unique_ptr<ModelRun> Run = M->start();
  return Added.split(
      Text, false,
      [&](std::optional<int32_t> Id, std::string_view Part) -> Status {
        if (Id) {
          Ids.push_back(*Id);
          return {};
        }
        size_t AtStart = 0;
        if (Part.data() == Text.data())
          nextCode(Part, AtStart);
        if (!Rules)
          return encodeNormalized({Part, AtStart}, *Run, Ids);
        std::string Normalized(Part);
        if (Status Done = Rules->apply(Normalized, AtStart); !Done)
          return Done;
        if (Normalized.size() > MaxTextBytes)
          return Error("text of " + std::to_string(Normalized.size()) +
                       " bytes, once normalized: expected at most " +
                       std::to_string(MaxTextBytes));
        return encodeNormalized({Normalized, AtStart}, *Run, Ids);
      });
}

Result<std::vector<int32_t>>
Tokenizer::encode(std::string_view Text, bool AddSpecialTokens,
                  std::optional<size_t> MaxTokens) const {
  if (Text.size() > MaxTextBytes)
    return Error("text of " + std::to_string(Text.size()) +
                 " bytes: expected at most " + std::to_string(MaxTextBytes));
  if (std::optional<size_t> Bad = findInvalidUtf8(Text))
    return Error("text is not UTF-8 at byte " + std::to_string(*Bad) +
                 ": expected UTF-8");
  RegexBudget OfText(Text.size());
  std::vector<int32_t> Ids;
  if (Status Done = Steps->encodeRaw(Text, Ids); !Done)
    return Done.error();
  if (!MaxTokens && Steps->Cut)
    MaxTokens = Steps->Cut->MaxTokens;
  if (MaxTokens) {
    size_t Reserved = AddSpecialTokens ? Steps->Frame.added() : 0;
    if (*MaxTokens < Reserved)
      return Error("at most " + std::to_string(*MaxTokens) +
                   " tokens asked for: expected at least " +
                   std::to_string(Reserved) + ", the number of special tokens");
    size_t Kept = std::min(Ids.size(), *MaxTokens - Reserved);
    if (Steps->Cut && Steps->Cut->CutLeft)
      Ids.erase(Ids.begin(), Ids.end() - static_cast<ptrdiff_t>(Kept));
    else
      Ids.resize(Kept);
  }
  return Steps->Frame.apply(std::move(Ids), AddSpecialTokens);
}

std::string Tokenizer::decode(std::span<const int32_t> Ids,
                              bool SkipSpecialTokens) const {
  StreamingDecoder Stream(*this, SkipSpecialTokens);
  std::string Text;
  for (int32_t Id : Ids)
    Text += Stream.push(Id);
  return Text + Stream.finish();
}

size_t Tokenizer::vocabularySize() const {
  return Steps->M->vocabulary().size() + Steps->Added.beyondModel();
}

std::optional<int32_t> Tokenizer::idOf(std::string_view Token) const {
  if (std::optional<int32_t> Id = Steps->Added.idOf(Token))
    return Id;
  return Steps->M->vocabulary().idOf(Token);
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
  std::optional<std::string_view> Token = Current->Steps.Added.tokenOf(Id);
  if (!Token)
    Token = Current->Steps.M->vocabulary().tokenOf(Id);
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

//===- Decoders.cpp - The decoders of a tokenizer -------------------------===//

#include "runtime/Tokenizer/Decoders.h"

#include "runtime/Tokenizer/DecodeStages.h"
#include "runtime/Tokenizer/Fields.h"
#include "runtime/Tokenizer/Metaspace.h"

using namespace tenon;
using namespace tenon::tokenizer;

namespace tenon::tokenizer {

/// One function per type.
struct DecoderReader {
  template <typename Stage, typename... Options>
  static Decoder make(const Options &...Values) {
    Decoder Made;
    Made.Stages.push_back([Values...](StagePtr Next) -> StagePtr {
      return std::make_unique<Stage>(std::move(Next), Values...);
    });
    return Made;
  }

  static Result<Decoder> readByteLevel(const JsonField &Field) {
    // The options are the pre-tokenizer's, which shares its type with this.
    Status Known = expectOnly(
        Field, {"type", "add_prefix_space", "trim_offsets", "use_regex"});
    if (!Known)
      return Known.error();
    Decoder Made = make<ByteLevelStage>();
    Made.IsByteLevel = true;
    return Made;
  }

  static Result<Decoder> readWordPiece(const JsonField &Field) {
    if (Status Known = expectOnly(Field, {"type", "prefix", "cleanup"}); !Known)
      return Known.error();
    Result<std::string> Prefix = requiredString(Field, "prefix");
    if (!Prefix)
      return Prefix.error();
    Result<bool> Cleanup = requiredBool(Field, "cleanup");
    if (!Cleanup)
      return Cleanup.error();
    Decoder Made = make<WordPieceStage>(*Prefix, *Cleanup);
    Made.NeedsFollowing = true;
    return Made;
  }

  static Result<Decoder> readReplace(const JsonField &Field) {
    if (Status Known = expectOnly(Field, {"type", "pattern", "content"});
        !Known)
      return Known.error();
    Result<JsonField> Searched = Field.member("pattern");
    if (!Searched)
      return Searched.error();
    Result<Pattern> What = Pattern::fromJson(*Searched);
    if (!What)
      return What.error();
    Result<std::string> Content = requiredString(Field, "content");
    if (!Content)
      return Content.error();
    return make<ReplaceStage>(*What, *Content);
  }

  template <typename Stage>
  static Result<Decoder> readPlain(const JsonField &Field) {
    if (Status Known = expectOnly(Field, {"type"}); !Known)
      return Known.error();
    Decoder Made = make<Stage>();
    Made.HasByteFallback = std::is_same_v<Stage, ByteFallbackStage>;
    return Made;
  }

  static Result<Decoder> readStrip(const JsonField &Field) {
    if (Status Known = expectOnly(Field, {"type", "content", "start", "stop"});
        !Known)
      return Known.error();
    Result<std::string> Content = requiredCharacter(Field, "content");
    if (!Content)
      return Content.error();
    size_t Counts[2];
    for (auto [Key, Index] : {std::pair("start", 0), std::pair("stop", 1)}) {
      Result<JsonField> Count = Field.member(Key);
      if (!Count)
        return Count.error();
      Result<int64_t> Value = Count->asInteger(0, INT32_MAX);
      if (!Value)
        return Value.error();
      Counts[Index] = static_cast<size_t>(*Value);
    }
    Decoder Made = make<StripStage>(*Content, Counts[0], Counts[1]);
    Made.NeedsFollowing = Counts[1] != 0;
    return Made;
  }

  static Result<Decoder> readMetaspace(const JsonField &Field) {
    Result<MetaspaceOptions> Options = readMetaspaceOptions(Field);
    if (!Options)
      return Options.error();
    return make<MetaspaceStage>(Options->Replacement,
                                Options->Prepend != MetaspaceOptions::Never);
  }

  static Result<Decoder> readSuffix(const JsonField &Field) {
    if (Status Known = expectOnly(Field, {"type", "suffix"}); !Known)
      return Known.error();
    Result<std::string> Suffix = requiredString(Field, "suffix");
    if (!Suffix)
      return Suffix.error();
    Decoder Made = make<SuffixStage>(*Suffix);
    Made.NeedsFollowing = true;
    return Made;
  }

  static Result<Decoder> readSequence(const JsonField &Field) {
    if (Status Known = expectOnly(Field, {"type", "decoders"}); !Known)
      return Known.error();
    Decoder Made;
    Status Done =
        forEachElement(Field, "decoders", [&](const JsonField &Element) {
          Result<Decoder> Step = Decoder::fromJson(Element);
          if (!Step)
            return Status(Step.error());
          Made.Stages.insert(Made.Stages.end(), Step->Stages.begin(),
                             Step->Stages.end());
          Made.IsByteLevel |= Step->IsByteLevel;
          Made.HasByteFallback |= Step->HasByteFallback;
          Made.NeedsFollowing |= Step->NeedsFollowing;
          return Status();
        });
    if (!Done)
      return Done.error();
    // Each stage is a nested call.
    if (Made.Stages.size() > 64)
      return Field.expected("at most 64 decoders");
    return Made;
  }
};

} // namespace tenon::tokenizer

Result<Decoder> Decoder::fromJson(const JsonField &Field) {
  static constexpr struct {
    std::string_view Type;
    Result<Decoder> (*Read)(const JsonField &);
  } Kinds[] = {{"ByteLevel", DecoderReader::readByteLevel},
               {"WordPiece", DecoderReader::readWordPiece},
               {"Replace", DecoderReader::readReplace},
               {"Fuse", DecoderReader::readPlain<FuseStage>},
               {"ByteFallback", DecoderReader::readPlain<ByteFallbackStage>},
               {"Strip", DecoderReader::readStrip},
               {"Metaspace", DecoderReader::readMetaspace},
               {"BPEDecoder", DecoderReader::readSuffix},
               {"Sequence", DecoderReader::readSequence}};
  Result<JsonField> Type = Field.member("type");
  if (!Type)
    return Type.error();
  Result<std::string> Name = Type->asString();
  if (!Name)
    return Name.error();
  for (const auto &Kind : Kinds)
    if (Kind.Type == *Name)
      return Kind.Read(Field);
  return Type->expected("a decoder that is supported");
}

Decoder Decoder::joinWithSpaces() {
  Decoder Made = DecoderReader::make<JoinStage>();
  Made.NeedsFollowing = true;
  return Made;
}

namespace {

/// The end of the stages.
class Appender : public DecodeStage {
public:
  explicit Appender(std::string &Out) : Out(Out) {}
  void begin() override {}
  void text(std::string_view Part) override { Out += Part; }
  void end() override {}
  void finish() override {}

private:
  std::string &Out;
};

} // namespace

std::optional<std::string> Decoder::bytesOf(std::string_view Token,
                                            bool IsFirst) const {
  if (NeedsFollowing || (IsByteLevel && Stages.size() > 1))
    return std::nullopt;
  if (IsByteLevel)
    return ByteLevelStage::bytesOf(Token);
  if (HasByteFallback)
    if (std::optional<unsigned char> Byte = ByteFallbackStage::byteOf(Token))
      return std::string(1, static_cast<char>(*Byte));
  std::string Out;
  StagePtr First = start(std::make_unique<Appender>(Out));
  auto Push = [&](std::string_view Text) {
    First->begin();
    First->text(Text);
    First->end();
  };
  if (!IsFirst)
    Push("a");
  size_t Before = Out.size();
  Push(Token);
  return Out.substr(Before);
}

StagePtr Decoder::start(StagePtr Next) const {
  for (auto Stage = Stages.rbegin(); Stage != Stages.rend(); ++Stage)
    Next = (*Stage)(std::move(Next));
  return Next;
}

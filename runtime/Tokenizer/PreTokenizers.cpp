//===- PreTokenizers.cpp - The pre-tokenizers of a tokenizer --------------===//

#include "runtime/Tokenizer/PreTokenizers.h"

#include "runtime/Tokenizer/ByteAlphabet.h"
#include "runtime/Tokenizer/Fields.h"
#include "runtime/Tokenizer/Pattern.h"
#include "runtime/Tokenizer/Unicode.h"

using namespace tenon;

using PreTokenizerPtr = std::unique_ptr<PreTokenizer>;
using PreTokenizerResult = Result<PreTokenizerPtr>;

/// GPT-2's split, which "use_regex" asks for.
static constexpr const char *Gpt2Split =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

namespace {

/// What becomes of the matches of a Split.
enum class Behavior {
  Removed,
  Isolated,
  MergedWithPrevious,
  MergedWithNext,
  Contiguous
};

class Split : public PreTokenizer {
public:
  Split(Pattern What, Behavior How, bool Invert)
      : What(std::move(What)), How(How), Invert(Invert) {}

  static PreTokenizerResult read(const JsonField &Field) {
    if (Status Known =
            expectOnly(Field, {"type", "pattern", "behavior", "invert"});
        !Known)
      return Known.error();
    Result<JsonField> Searched = Field.member("pattern");
    if (!Searched)
      return Searched.error();
    Result<Pattern> What = Pattern::fromJson(*Searched);
    if (!What)
      return What.error();
    Result<JsonField> Named = Field.member("behavior");
    if (!Named)
      return Named.error();
    Result<std::string> Name = Named->asString();
    if (!Name)
      return Name.error();
    Result<bool> Invert = requiredBool(Field, "invert");
    if (!Invert)
      return Invert.error();
    static constexpr struct {
      std::string_view Name;
      Behavior How;
    } Behaviors[] = {{"Removed", Behavior::Removed},
                     {"Isolated", Behavior::Isolated},
                     {"MergedWithPrevious", Behavior::MergedWithPrevious},
                     {"MergedWithNext", Behavior::MergedWithNext},
                     {"Contiguous", Behavior::Contiguous}};
    for (const auto &One : Behaviors)
      if (One.Name == *Name)
        return PreTokenizerPtr(
            std::make_unique<Split>(std::move(*What), One.How, *Invert));
    return Named->expected("Removed, Isolated, MergedWithPrevious, "
                           "MergedWithNext or Contiguous");
  }

  Status split(std::string_view Text, const PieceSink &Sink) const override {
    // The piece that may still grow to the right.
    size_t Begin = 0, End = 0;
    bool GrowingIsMatch = false;
    auto Flush = [&]() -> Status {
      return Begin < End ? Sink(Text.substr(Begin, End - Begin)) : Status();
    };
    Status Done =
        What.forEachPart(Text, [&](size_t From, size_t To, bool Found) {
          bool IsMatch = Found != Invert;
          bool Joins = false;
          switch (How) {
          case Behavior::Removed:
            if (IsMatch)
              return Status();
            break;
          case Behavior::Isolated:
            break;
          case Behavior::MergedWithPrevious:
            Joins = IsMatch && !GrowingIsMatch;
            break;
          case Behavior::MergedWithNext:
            Joins = !IsMatch && GrowingIsMatch;
            break;
          case Behavior::Contiguous:
            Joins = IsMatch == GrowingIsMatch;
            break;
          }
          GrowingIsMatch = IsMatch;
          if (Joins && End == From) {
            End = To;
            return Status();
          }
          Status Flushed = Flush();
          Begin = From;
          End = To;
          return Flushed;
        });
    if (!Done)
      return Done;
    return Flush();
  }

private:
  Pattern What;
  Behavior How;
  bool Invert;
};

/// Spells bytes in GPT-2's alphabet, after its split unless told otherwise.
class ByteLevel : public PreTokenizer {
public:
  ByteLevel(bool PrefixSpace, std::optional<Regex> Words)
      : PrefixSpace(PrefixSpace), Words(std::move(Words)) {}

  static PreTokenizerResult read(const JsonField &Field) {
    Status Known = expectOnly(
        Field, {"type", "add_prefix_space", "trim_offsets", "use_regex"});
    if (!Known)
      return Known.error();
    Result<bool> PrefixSpace = requiredBool(Field, "add_prefix_space");
    if (!PrefixSpace)
      return PrefixSpace.error();
    // Offsets of tokens in the text are not kept at all.
    if (Result<bool> Trim = requiredBool(Field, "trim_offsets"); !Trim)
      return Trim.error();
    Result<bool> UseRegex = boolOr(Field, "use_regex", true);
    if (!UseRegex)
      return UseRegex.error();
    std::optional<Regex> Words;
    if (*UseRegex) {
      Json Source = Gpt2Split;
      Result<Regex> Compiled =
          Regex::fromJson(JsonField(Source, Field.file(), Field.path()));
      if (!Compiled)
        return Compiled.error();
      Words = std::move(*Compiled);
    }
    return PreTokenizerPtr(
        std::make_unique<ByteLevel>(*PrefixSpace, std::move(Words)));
  }

  Status split(std::string_view Text, const PieceSink &Sink) const override {
    std::string Prefixed;
    if (PrefixSpace && Text.substr(0, 1) != " ") {
      Prefixed = " ";
      Prefixed += Text;
      Text = Prefixed;
    }
    std::string Spelled;
    auto Spell = [&](size_t Begin, size_t End) -> Status {
      if (Begin == End)
        return {};
      Spelled.clear();
      appendSpelledBytes(Spelled, Text.substr(Begin, End - Begin));
      return Sink(Spelled);
    };
    size_t Done = 0;
    if (Words) {
      Status Matched = Words->forEachMatch(Text, [&](size_t Begin, size_t End) {
        Status Between = Spell(Done, Begin);
        Done = End;
        return Between ? Spell(Begin, End) : Between;
      });
      if (!Matched)
        return Matched;
    }
    return Spell(Done, Text.size());
  }

private:
  bool PrefixSpace;
  std::optional<Regex> Words;
};

/// Splits at white space, which goes, and around each punctuation character.
class BertPreTokenizer : public PreTokenizer {
public:
  static PreTokenizerResult read(const JsonField &Field) {
    if (Status Known = expectOnly(Field, {"type"}); !Known)
      return Known.error();
    return PreTokenizerPtr(std::make_unique<BertPreTokenizer>());
  }

  Status split(std::string_view Text, const PieceSink &Sink) const override {
    size_t Begin = 0;
    for (size_t At = 0; At < Text.size();) {
      size_t Start = At;
      char32_t Code = nextCode(Text, At);
      bool Punctuation = isBertPunctuation(Code);
      if (!Punctuation && !isWhiteSpace(Code))
        continue;
      if (Begin < Start)
        if (Status Done = Sink(Text.substr(Begin, Start - Begin)); !Done)
          return Done;
      if (Punctuation)
        if (Status Done = Sink(Text.substr(Start, At - Start)); !Done)
          return Done;
      Begin = At;
    }
    return Begin < Text.size() ? Sink(Text.substr(Begin)) : Status();
  }
};

class Sequence : public PreTokenizer {
public:
  static PreTokenizerResult read(const JsonField &Field) {
    if (Status Known = expectOnly(Field, {"type", "pretokenizers"}); !Known)
      return Known.error();
    auto Made = std::make_unique<Sequence>();
    Status Done =
        forEachElement(Field, "pretokenizers", [&](const JsonField &Element) {
          PreTokenizerResult Step = PreTokenizer::fromJson(Element);
          if (!Step)
            return Status(Step.error());
          Made->Steps.push_back(std::move(*Step));
          return Status();
        });
    if (!Done)
      return Done.error();
    // Each step is a few nested calls.
    if (Made->Steps.size() > 64)
      return Field.expected("at most 64 pre-tokenizers");
    return PreTokenizerPtr(std::move(Made));
  }

  Status split(std::string_view Text, const PieceSink &Sink) const override {
    return splitFrom(0, Text, Sink);
  }

private:
  Status splitFrom(size_t Step, std::string_view Text,
                   const PieceSink &Sink) const {
    if (Step == Steps.size())
      return Sink(Text);
    if (Step + 1 == Steps.size())
      return Steps[Step]->split(Text, Sink);
    return Steps[Step]->split(Text, [&](std::string_view Piece) {
      return splitFrom(Step + 1, Piece, Sink);
    });
  }

  std::vector<std::unique_ptr<PreTokenizer>> Steps;
};

} // namespace

PreTokenizerResult PreTokenizer::fromJson(const JsonField &Field) {
  static constexpr struct {
    std::string_view Type;
    PreTokenizerResult (*Read)(const JsonField &);
  } Kinds[] = {{"Split", Split::read},
               {"ByteLevel", ByteLevel::read},
               {"BertPreTokenizer", BertPreTokenizer::read},
               {"Sequence", Sequence::read}};
  Result<JsonField> Type = Field.member("type");
  if (!Type)
    return Type.error();
  Result<std::string> Name = Type->asString();
  if (!Name)
    return Name.error();
  for (const auto &Kind : Kinds)
    if (Kind.Type == *Name)
      return Kind.Read(Field);
  return Type->expected("a pre-tokenizer that is supported");
}

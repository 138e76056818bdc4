//===- PreTokenizers.cpp - The pre-tokenizers of a tokenizer --------------===//

#include "runtime/Tokenizer/PreTokenizers.h"

#include "runtime/Tokenizer/ByteAlphabet.h"
#include "runtime/Tokenizer/Fields.h"
#include "runtime/Tokenizer/Metaspace.h"
#include "runtime/Tokenizer/Regex.h"

using namespace tenon;
using namespace tenon::tokenizer;

using PreTokenizerPtr = std::unique_ptr<PreTokenizer>;
using PreTokenizerResult = Result<PreTokenizerPtr>;

/// GPT-2's split, which "use_regex" asks for.
static constexpr const char *Gpt2Split =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

namespace {

/// Spells bytes in GPT-2's alphabet, after its split unless told otherwise.
class ByteLevelPreTokenizer : public PreTokenizer {
public:
  ByteLevelPreTokenizer(bool PrefixSpace, std::optional<Regex> Words)
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
    return PreTokenizerPtr(std::make_unique<ByteLevelPreTokenizer>(
        *PrefixSpace, std::move(Words)));
  }

  Status split(Piece Whole, const PieceSink &Sink) const override {
    std::string_view Text = Whole.Text;
    std::string Prefixed;
    if (PrefixSpace && Text[0] != ' ') {
      Prefixed = " ";
      Prefixed += Text;
      Whole = {Prefixed, Whole.AtStart > 0 ? Whole.AtStart + 1 : 0};
      Text = Prefixed;
    }
    std::string Spelled;
    auto Spell = [&](size_t Begin, size_t End) -> Status {
      if (Begin == End)
        return {};
      Spelled.clear();
      Piece Part = Whole.part(Begin, End);
      appendSpelledBytes(Spelled, Part.Text.substr(0, Part.AtStart));
      size_t AtStart = Spelled.size();
      appendSpelledBytes(Spelled, Part.Text.substr(Part.AtStart));
      return Sink({Spelled, AtStart});
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

/// Puts a character for each space, one more before the text, and splits before
/// each.
class Metaspace : public PreTokenizer {
public:
  explicit Metaspace(MetaspaceOptions Options) : Options(std::move(Options)) {}

  static PreTokenizerResult read(const JsonField &Field) {
    Result<MetaspaceOptions> Options = readMetaspaceOptions(Field);
    if (!Options)
      return Options.error();
    return PreTokenizerPtr(std::make_unique<Metaspace>(std::move(*Options)));
  }

  Status split(Piece Whole, const PieceSink &Sink) const override {
    const std::string &Mark = Options.Replacement;
    bool Prepends =
        Options.Prepend == MetaspaceOptions::Always ||
        (Options.Prepend == MetaspaceOptions::First && Whole.AtStart > 0);
    std::string Text;
    if (Prepends && Whole.Text[0] != ' ' && !Whole.Text.starts_with(Mark))
      Text = Mark;
    size_t AtStart = Whole.AtStart > 0 ? Text.size() : 0;
    for (size_t At = 0; At < Whole.Text.size(); ++At) {
      if (Whole.Text[At] == ' ')
        Text += Mark;
      else
        Text += Whole.Text[At];
      if (At < Whole.AtStart)
        AtStart = Text.size();
    }
    Piece Marked{Text, AtStart};
    if (!Options.Split)
      return Sink(Marked);
    size_t Begin = 0;
    while (Begin < Text.size()) {
      size_t End = std::min(Text.find(Mark, Begin + 1), Text.size());
      if (Status Done = Sink(Marked.part(Begin, End)); !Done)
        return Done;
      Begin = End;
    }
    return {};
  }

private:
  MetaspaceOptions Options;
};

class SequencePreTokenizer : public PreTokenizer {
public:
  static PreTokenizerResult read(const JsonField &Field) {
    if (Status Known = expectOnly(Field, {"type", "pretokenizers"}); !Known)
      return Known.error();
    auto Made = std::make_unique<SequencePreTokenizer>();
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

  Status split(Piece Whole, const PieceSink &Sink) const override {
    return splitFrom(0, Whole, Sink);
  }

private:
  Status splitFrom(size_t Step, Piece Whole, const PieceSink &Sink) const {
    if (Step == Steps.size())
      return Sink(Whole);
    if (Step + 1 == Steps.size())
      return Steps[Step]->split(Whole, Sink);
    return Steps[Step]->split(
        Whole, [&](Piece Part) { return splitFrom(Step + 1, Part, Sink); });
  }

  std::vector<std::unique_ptr<PreTokenizer>> Steps;
};

} // namespace

PreTokenizerResult PreTokenizer::fromJson(const JsonField &Field) {
  static constexpr struct {
    std::string_view Type;
    PreTokenizerResult (*Read)(const JsonField &);
  } Kinds[] = {{"Split", readSplit},
               {"Digits", readDigits},
               {"Punctuation", readPunctuation},
               {"Whitespace", readWhitespace},
               {"WhitespaceSplit", readWhitespaceSplit},
               {"CharDelimiterSplit", readCharDelimiterSplit},
               {"BertPreTokenizer", readBertPreTokenizer},
               {"ByteLevel", ByteLevelPreTokenizer::read},
               {"Metaspace", Metaspace::read},
               {"Sequence", SequencePreTokenizer::read}};
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

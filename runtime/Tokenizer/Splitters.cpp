//===- Splitters.cpp - Pre-tokenizers that only split ---------------------===//

#include "runtime/Tokenizer/Fields.h"
#include "runtime/Tokenizer/Pattern.h"
#include "runtime/Tokenizer/PreTokenizers.h"
#include "runtime/Tokenizer/Unicode.h"

using namespace tenon;
using namespace tenon::tokenizer;

using PreTokenizerPtr = std::unique_ptr<PreTokenizer>;
using PreTokenizerResult = Result<PreTokenizerPtr>;

namespace {

/// What becomes of the matches.
enum class Behavior {
  Removed,
  Isolated,
  MergedWithPrevious,
  MergedWithNext,
  Contiguous
};

/// Joins parts, matches and what is between, to pieces.
class PartJoiner {
public:
  PartJoiner(Piece Whole, Behavior How, const PieceSink &Sink)
      : Whole(Whole), How(How), Sink(Sink) {}

  Status add(size_t From, size_t To, bool IsMatch) {
    bool Joins = false;
    switch (How) {
    case Behavior::Removed:
      if (IsMatch)
        return {};
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
      return {};
    }
    Status Flushed = finish();
    Begin = From;
    End = To;
    return Flushed;
  }

  /// Gives the last piece.
  Status finish() {
    return Begin < End ? Sink(Whole.part(Begin, End)) : Status();
  }

private:
  Piece Whole;
  Behavior How;
  const PieceSink &Sink;
  /// The piece that may still grow to the right.
  size_t Begin = 0, End = 0;
  bool GrowingIsMatch = false;
};

/// Splits where single characters are or are not of a kind.
class CodeSplit : public PreTokenizer {
public:
  CodeSplit(std::function<bool(char32_t)> Matches, Behavior How)
      : Matches(std::move(Matches)), How(How) {}

  Status split(Piece Whole, const PieceSink &Sink) const override {
    PartJoiner Joiner(Whole, How, Sink);
    size_t Done = 0;
    for (size_t At = 0; At < Whole.Text.size();) {
      size_t Begin = At;
      if (!Matches(nextCode(Whole.Text, At)))
        continue;
      if (Done < Begin)
        if (Status Added = Joiner.add(Done, Begin, false); !Added)
          return Added;
      if (Status Added = Joiner.add(Begin, At, true); !Added)
        return Added;
      Done = At;
    }
    if (Done < Whole.Text.size())
      if (Status Added = Joiner.add(Done, Whole.Text.size(), false); !Added)
        return Added;
    return Joiner.finish();
  }

private:
  std::function<bool(char32_t)> Matches;
  Behavior How;
};

/// Splits at the matches of a pattern.
class Split : public PreTokenizer {
public:
  Split(Pattern What, Behavior How, bool Invert)
      : What(std::move(What)), How(How), Invert(Invert) {}

  Status split(Piece Whole, const PieceSink &Sink) const override {
    PartJoiner Joiner(Whole, How, Sink);
    Status Done =
        What.forEachPart(Whole.Text, [&](size_t From, size_t To, bool IsMatch) {
          return Joiner.add(From, To, IsMatch != Invert);
        });
    return Done ? Joiner.finish() : Done;
  }

private:
  Pattern What;
  Behavior How;
  bool Invert;
};

/// Splits at white space, which goes, and where what stops(Code) tells apart
/// changes.
template <typename Kind> class WordSplit : public PreTokenizer {
public:
  Status split(Piece Whole, const PieceSink &Sink) const override {
    std::string_view Text = Whole.Text;
    size_t Begin = 0;
    int Last = Kind::Space;
    for (size_t At = 0; At < Text.size();) {
      size_t Start = At;
      int Current = Kind::of(nextCode(Text, At));
      if (Current == Last && Current != Kind::Alone)
        continue;
      if (Last != Kind::Space)
        if (Status Done = Sink(Whole.part(Begin, Start)); !Done)
          return Done;
      Begin = Start;
      Last = Current;
    }
    return Last != Kind::Space ? Sink(Whole.part(Begin, Text.size()))
                               : Status();
  }
};

struct BertKind {
  enum : int { Space, Alone, Word };
  static int of(char32_t Code) {
    return isBertPunctuation(Code) ? Alone : isWhiteSpace(Code) ? Space : Word;
  }
};

struct WordKind {
  enum : int { Space, Alone, Word, Other };
  static int of(char32_t Code) {
    return isWordCharacter(Code) ? Word : isWhiteSpace(Code) ? Space : Other;
  }
};

struct SpaceKind {
  enum : int { Space, Alone, Word };
  static int of(char32_t Code) { return isWhiteSpace(Code) ? Space : Word; }
};

} // namespace

static Result<Behavior> readBehavior(const JsonField &Field) {
  Result<std::string> Name = Field.asString();
  if (!Name)
    return Name.error();
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
      return One.How;
  return Field.expected("Removed, Isolated, MergedWithPrevious, "
                        "MergedWithNext or Contiguous");
}

PreTokenizerResult tokenizer::readSplit(const JsonField &Field) {
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
  Result<Behavior> How = readBehavior(*Named);
  if (!How)
    return How.error();
  Result<bool> Invert = requiredBool(Field, "invert");
  if (!Invert)
    return Invert.error();
  return PreTokenizerPtr(
      std::make_unique<Split>(std::move(*What), *How, *Invert));
}

PreTokenizerResult tokenizer::readDigits(const JsonField &Field) {
  if (Status Known = expectOnly(Field, {"type", "individual_digits"}); !Known)
    return Known.error();
  Result<bool> Each = requiredBool(Field, "individual_digits");
  if (!Each)
    return Each.error();
  return PreTokenizerPtr(std::make_unique<CodeSplit>(
      isNumber, *Each ? Behavior::Isolated : Behavior::Contiguous));
}

PreTokenizerResult tokenizer::readPunctuation(const JsonField &Field) {
  if (Status Known = expectOnly(Field, {"type", "behavior"}); !Known)
    return Known.error();
  Behavior How = Behavior::Isolated;
  if (Field.json().contains("behavior")) {
    Result<JsonField> Named = Field.member("behavior");
    if (!Named)
      return Named.error();
    Result<Behavior> Read = readBehavior(*Named);
    if (!Read)
      return Read.error();
    How = *Read;
  }
  return PreTokenizerPtr(std::make_unique<CodeSplit>(isBertPunctuation, How));
}

PreTokenizerResult tokenizer::readCharDelimiterSplit(const JsonField &Field) {
  if (Status Known = expectOnly(Field, {"type", "delimiter"}); !Known)
    return Known.error();
  Result<std::string> Delimiter = requiredCharacter(Field, "delimiter");
  if (!Delimiter)
    return Delimiter.error();
  size_t At = 0;
  char32_t Wanted = nextCode(*Delimiter, At);
  return PreTokenizerPtr(std::make_unique<CodeSplit>(
      [Wanted](char32_t Code) { return Code == Wanted; }, Behavior::Removed));
}

template <typename Kind>
static PreTokenizerResult readWordSplit(const JsonField &Field) {
  if (Status Known = expectOnly(Field, {"type"}); !Known)
    return Known.error();
  return PreTokenizerPtr(std::make_unique<WordSplit<Kind>>());
}

PreTokenizerResult tokenizer::readWhitespace(const JsonField &Field) {
  return readWordSplit<WordKind>(Field);
}

PreTokenizerResult tokenizer::readWhitespaceSplit(const JsonField &Field) {
  return readWordSplit<SpaceKind>(Field);
}

PreTokenizerResult tokenizer::readBertPreTokenizer(const JsonField &Field) {
  return readWordSplit<BertKind>(Field);
}

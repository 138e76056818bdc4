//===- ToolCallParser.cpp - Calls in a model's answer ---------------------===//

#include "runtime/ToolCalls/ToolCallParser.h"
#include "runtime/ToolCalls/ArgumentValues.h"
#include "runtime/ToolCalls/CallMatcher.h"

#include <algorithm>
#include <cassert>
#include <deque>
#include <utility>

namespace tenon::tools {

void ParsedAnswer::add(const AnswerPart &Part) {
  switch (Part.What) {
  case AnswerPart::Text:
    Text += Part.Content;
    break;
  case AnswerPart::Reasoning:
    Reasoning += Part.Content;
    break;
  case AnswerPart::Call:
    Calls.push_back(Part.Function);
    break;
  }
}

class ToolCallParser::State {
public:
  State(const ToolFormat &Format, ToolParserOptions Given)
      : Options(std::move(Given)), InReasoning(Options.InReasoning) {
    for (const CallPattern &P : Format.Patterns) {
      Pattern &New = Patterns.emplace_back();
      New.AtStart = P.AtStart;
      for (const Element &E : P.Elements)
        New.Elements.push_back({E.What, add(E.Text)});
    }
    for (std::string_view Mark : Format.Dropped)
      Dropped.push_back(add(Mark));
    for (std::string_view Mark : Format.ThinkBegin)
      ThinkBegin.push_back(add(Mark));
    for (std::string_view Mark : Format.ThinkEnd)
      ThinkEnd.push_back(add(Mark));
  }

  std::vector<AnswerPart> feed(std::string_view Text, bool Special,
                               size_t Tokens) {
    Pieces.push_back({Erased + Buffer.size(), Tokens});
    if (Special) {
      std::string Token = SpecialByte + std::string(Text);
      // Others have no text: "<|eot_id|>".
      if (std::any_of(Marks.begin(), Marks.end(), [&](const std::string &M) {
            return M.find(Token) != std::string::npos;
          }))
        Buffer += Token;
    } else {
      for (char C : Text)
        if (C == SpecialByte)
          Buffer += "\xEF\xBF\xBD"; // U+FFFD: not UTF-8
        else
          Buffer += C;
    }
    return run(/*Final=*/false);
  }

  std::vector<AnswerPart> finish() {
    std::vector<AnswerPart> Parts = run(/*Final=*/true);
    if ((AfterText || !HasMark) && !Blank.empty())
      Parts.push_back(
          {InReasoning ? AnswerPart::Reasoning : AnswerPart::Text, Blank, {}});
    Blank.clear();
    return Parts;
  }

  size_t ReasoningTokens = 0;

private:
  /// What was fed at once, from `At` of all text on.
  struct Piece {
    size_t At, Tokens;
  };
  struct Pattern {
    std::vector<BoundElement> Elements;
    bool AtStart = false;
  };

  enum class Found { No, Partly, Yes };

  std::string add(std::string_view Mark) {
    std::string Bound = boundMark(Mark, Options.IsSpecial);
    if (!Bound.empty())
      Marks.push_back(Bound);
    return Bound;
  }

  std::string_view rest() const {
    return std::string_view(Buffer).substr(Begin);
  }

  Found at(size_t Position, std::string_view Mark) const {
    std::string_view Have = rest().substr(Position, Mark.size());
    if (Have.empty() || Have != Mark.substr(0, Have.size()))
      return Found::No;
    return Have.size() == Mark.size() ? Found::Yes : Found::Partly;
  }

  /// The first of `Marks` there; Partly when a longer text may be one.
  Found anyAt(size_t Position, const std::vector<std::string> &Marks,
              size_t &Length) const {
    Found Best = Found::No;
    for (const std::string &Mark : Marks) {
      Found This = at(Position, Mark);
      if (This == Found::Yes) {
        Length = Mark.size();
        return This;
      }
      if (This == Found::Partly)
        Best = This;
    }
    return Best;
  }

  bool opensCall(const Pattern &P, size_t Position) const {
    if (Failed >= MaxFailedCalls || (P.AtStart && !AtStart))
      return false;
    const BoundElement &First = P.Elements.front();
    if (First.What == Element::Mark)
      return at(Position, First.Text) != Found::No;
    std::string_view Rest = rest().substr(Position);
    bool IsList =
        First.What == Element::Calls || First.What == Element::Pythonic;
    return !Rest.empty() && Rest.front() == (IsList ? '[' : '{');
  }

  std::vector<AnswerPart> run(bool Final) {
    std::vector<AnswerPart> Parts;
    while (Begin < Buffer.size())
      if (!(Live.empty()
                ? InReasoning ? think(Parts, Final) : text(Parts, Final)
                : call(Parts, Final)))
        break;
    if (Begin > Buffer.size() / 2) {
      Buffer.erase(0, Begin);
      Erased += std::exchange(Begin, 0);
    }
    return Parts;
  }

  /// Reasoning up to its end; false when more text is needed.
  bool think(std::vector<AnswerPart> &Parts, bool Final) {
    for (size_t I = 0; I < rest().size(); ++I) {
      size_t EndLength = 0, BeginLength = 0;
      Found End = anyAt(I, ThinkEnd, EndLength);
      // Some models begin to reason where the prompt has begun it for them.
      Found Again = anyAt(I, ThinkBegin, BeginLength);
      bool Is = End == Found::Yes || Again == Found::Yes;
      bool Waits = !Final && !Is && (End != Found::No || Again != Found::No);
      if (!Is && !Waits)
        continue;
      put(Parts, AnswerPart::Reasoning, rest().substr(0, I));
      pass(I, /*IsReasoning=*/true);
      if (Waits)
        return false;
      bool IsBegin = End != Found::Yes;
      pass(IsBegin ? BeginLength : EndLength);
      layout(Parts, AnswerPart::Reasoning);
      InReasoning = IsBegin;
      AtStart = !InReasoning;
      return true;
    }
    put(Parts, AnswerPart::Reasoning, rest());
    pass(rest().size(), /*IsReasoning=*/true);
    return false;
  }

  /// Goes on behind `Length` bytes.
  void pass(size_t Length, bool IsReasoning = false) {
    Begin += Length;
    for (; !Pieces.empty() && Pieces.front().At < Erased + Begin;
         Pieces.pop_front())
      ReasoningTokens += IsReasoning ? Pieces.front().Tokens : 0;
  }

  /// Text up to the next mark; false when more text is needed.
  bool text(std::vector<AnswerPart> &Parts, bool Final) {
    for (size_t I = 0; I < rest().size(); ++I) {
      // What failed as a call may still be another mark, or is text.
      bool MayCall = I > 0 || !NoCallHere;
      bool Opens = false;
      for (const Pattern &P : Patterns)
        Opens = Opens || (MayCall && opensCall(P, I));
      size_t Dropping = 0, Thinking = 0;
      Found Drop = anyAt(I, Dropped, Dropping);
      Found Think = anyAt(I, ThinkBegin, Thinking);
      bool Waits = !Opens && Drop != Found::Yes && Think != Found::Yes &&
                   (Drop == Found::Partly || Think == Found::Partly) && !Final;
      if (!Opens && !Waits && Drop != Found::Yes && Think != Found::Yes) {
        AtStart = AtStart && isSpace(rest()[I]);
        continue;
      }
      if (I > 0) {
        advance(Parts, I);
        return true;
      }
      if (Waits)
        return false;
      if (Opens) {
        for (const Pattern &P : Patterns)
          if (opensCall(P, 0))
            Live.emplace_back(P.Elements, Options.Tools);
        return true;
      }
      NoCallHere = false;
      layout(Parts, AnswerPart::Text);
      InReasoning = Think == Found::Yes;
      pass(InReasoning ? Thinking : Dropping);
      return true;
    }
    advance(Parts, rest().size());
    return false;
  }

  /// `Length` bytes are text.
  void advance(std::vector<AnswerPart> &Parts, size_t Length) {
    put(Parts, AnswerPart::Text, rest().substr(0, Length));
    pass(Length);
    NoCallHere = false;
  }

  /// The patterns that may match here; false when more text is needed.
  bool call(std::vector<AnswerPart> &Parts, bool Final) {
    bool IsBegun = false, Waits = false;
    for (CallMatcher &M : Live) {
      CallMatcher::Answer Answer = M.advance(rest(), Final);
      IsBegun = IsBegun || M.isBegun();
      if (Answer == CallMatcher::Answer::Yes && isOfTools(M)) {
        layout(Parts, AnswerPart::Text);
        for (ToolCall &Call : M.calls())
          Parts.push_back({AnswerPart::Call, "", std::move(Call)});
        pass(M.length());
        Live.clear();
        return true;
      }
      Waits = Waits || Answer == CallMatcher::Answer::More;
    }
    if (Waits)
      return false;
    Live.clear();
    Failed += IsBegun;
    NoCallHere = true;
    if (Final && IsBegun) {
      // Cut off: all of it is text, and nothing in it is looked at again.
      AtStart = false;
      advance(Parts, rest().size());
    }
    return true;
  }

  /// Where only a look tells calls from answers in JSON, the name must be one
  /// of a tool.
  bool isOfTools(CallMatcher &M) const {
    if (!M.isBare() || Options.Tools.is_null())
      return true;
    for (const ToolCall &Call : M.calls())
      if (!isOffered(Options.Tools, Call.Name))
        return false;
    return true;
  }

  /// A mark stands here: line breaks around it are of the format.
  void layout(std::vector<AnswerPart> &Parts, AnswerPart::Kind What) {
    Blank.resize(std::min(Blank.find('\n'), Blank.size()));
    if (AfterText && !Blank.empty())
      Parts.push_back({What, std::move(Blank), {}});
    Blank.clear();
    AfterText = false;
    HasMark = true;
    DropBlank = true;
  }

  /// Gives text, and holds its whitespace at the end back.
  void put(std::vector<AnswerPart> &Parts, AnswerPart::Kind What,
           std::string_view Text) {
    std::string Plain = withoutSpecialBytes(Text);
    size_t End = Plain.size();
    while (End > 0 && isSpace(Plain[End - 1]))
      --End;
    if (End == 0) {
      Blank += Plain;
      return;
    }
    std::string Whole = Blank + Plain.substr(0, End);
    if (DropBlank)
      Whole.erase(0, Whole.find_first_not_of('\n'));
    Blank = Plain.substr(End);
    DropBlank = false;
    AfterText = true;
    Parts.push_back({What, std::move(Whole), {}});
  }

  ToolParserOptions Options;
  std::vector<Pattern> Patterns;
  std::vector<std::string> Marks, Dropped, ThinkBegin, ThinkEnd;

  std::string Buffer;
  size_t Begin = 0;         ///< What is before was given.
  size_t Erased = 0;        ///< Bytes before the buffer.
  std::deque<Piece> Pieces; ///< That begin at Begin or later.
  std::vector<CallMatcher> Live;
  bool InReasoning;
  bool AtStart = true;     ///< Nothing but whitespace came.
  bool NoCallHere = false; ///< The patterns failed at Begin.
  size_t Failed = 0;
  std::string Blank;      ///< Whitespace that was held back.
  bool AfterText = false; ///< Blank stands after text, not after a mark.
  bool HasMark = false;   ///< A mark has come.
  bool DropBlank = false; ///< Whitespace that follows is of the format.
};

ToolCallParser::ToolCallParser(const ToolFormat &Format,
                               ToolParserOptions Options)
    : S(std::make_unique<State>(Format, std::move(Options))) {}
ToolCallParser::~ToolCallParser() = default;
ToolCallParser::ToolCallParser(ToolCallParser &&) noexcept = default;
ToolCallParser &ToolCallParser::operator=(ToolCallParser &&) noexcept = default;

std::vector<AnswerPart> ToolCallParser::feed(std::string_view Text,
                                             bool Special, size_t Tokens) {
  return S->feed(Text, Special, Tokens);
}

size_t ToolCallParser::reasoningTokens() const { return S->ReasoningTokens; }

std::vector<AnswerPart> ToolCallParser::finish() { return S->finish(); }

} // namespace tenon::tools

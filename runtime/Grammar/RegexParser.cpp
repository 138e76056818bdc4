//===- RegexParser.cpp - Regular expressions as they are written ----------===//

#include "runtime/Grammar/RegexParser.h"

#include "runtime/Grammar/CharClasses.h"
#include "runtime/Support/Json.h"

#include <memory>

using namespace tenon;
using namespace tenon::grammar;

namespace {

/// Parts without anchors and lookahead are nodes already.
struct Part {
  enum class Kind { Node, Begin, End, Look, Sequence, Choice } K = Kind::Node;
  NodeId Node = RegexPool::Epsilon;
  bool IsNot = false;
  std::vector<Part> Parts;
};

class Parser {
public:
  Parser(RegexPool &Pool, std::string_view Text)
      : Pool(Pool), Text(codesOf(Text)) {}

  NodeId parse(bool Searches) {
    Part All = choice(0);
    if (!Failure && At < Text.size())
      fail("unmatched ')'");
    if (Failure)
      return RegexPool::Nothing;
    std::vector<Part> Items{std::move(All)};
    Part Any;
    Any.Node = RegexPool::AnyText;
    if (Searches) {
      Items.insert(Items.begin(), Any);
      Items.push_back(Any);
    }
    return language(std::move(Items));
  }

  std::optional<std::string> Failure;

private:
  Part fail(std::string Why) {
    if (!Failure)
      Failure = std::move(Why);
    At = Text.size();
    return {};
  }

  bool take(std::u32string_view What) {
    if (std::u32string_view(Text).substr(At, What.size()) != What)
      return false;
    At += What.size();
    return true;
  }

  Part choice(int Depth) {
    if (Depth > MaxRegexDepth)
      return fail("groups nested deeper than " + std::to_string(MaxRegexDepth));
    std::vector<Part> Parts;
    do
      Parts.push_back(sequence(Depth));
    while (take(U"|"));
    if (Parts.size() == 1)
      return std::move(Parts[0]);
    std::vector<NodeId> Nodes;
    for (const Part &P : Parts)
      if (P.K == Part::Kind::Node)
        Nodes.push_back(P.Node);
    Part Made;
    if (Nodes.size() == Parts.size()) {
      Made.Node = Pool.unite(std::move(Nodes));
      return Made;
    }
    Made.K = Part::Kind::Choice;
    Made.Parts = std::move(Parts);
    return Made;
  }

  Part sequence(int Depth) {
    std::vector<Part> Parts;
    while (At < Text.size() && Text[At] != '|' && Text[At] != ')') {
      Part P = repeated(Depth);
      if (Failure)
        return {};
      Parts.push_back(std::move(P));
    }
    Part Made;
    std::vector<Part> Joined;
    // From the right, so that each node is made once.
    for (size_t I = Parts.size(); I-- > 0;) {
      Part &P = Parts[I];
      if (P.K == Part::Kind::Node && !Joined.empty() &&
          Joined.back().K == Part::Kind::Node)
        Joined.back().Node = Pool.concat(P.Node, Joined.back().Node);
      else
        Joined.push_back(std::move(P));
    }
    if (Joined.size() == 1)
      return std::move(Joined[0]);
    if (Joined.empty())
      return Made;
    Made.K = Part::Kind::Sequence;
    Made.Parts.assign(std::make_move_iterator(Joined.rbegin()),
                      std::make_move_iterator(Joined.rend()));
    return Made;
  }

  Part repeated(int Depth) {
    Part P = atom(Depth);
    while (!Failure && At < Text.size()) {
      uint32_t Min = 0, Max = RegexPool::Unbounded;
      if (take(U"*")) {
      } else if (take(U"+")) {
        Min = 1;
      } else if (take(U"?")) {
        Max = 1;
      } else if (Text[At] == '{' && counts(Min, Max)) {
        if (Min > Max)
          return fail("a repetition's counts are out of order");
        if (Min > MaxRegexCount ||
            (Max != RegexPool::Unbounded && Max > MaxRegexCount))
          return fail("a repetition of more than " +
                      std::to_string(MaxRegexCount));
      } else {
        break;
      }
      take(U"?"); // Lazy or not, the texts are the same.
      if (At < Text.size() && (Text[At] == '+' || Text[At] == '*'))
        return fail("possessive or doubled quantifier is not supported");
      if (P.K == Part::Kind::Node) {
        P.Node = Pool.repeat(P.Node, Min, Max);
      } else if (Min == 0 && Max == 1) {
        Part Made;
        Made.K = Part::Kind::Choice;
        Made.Parts = {Part(), std::move(P)};
        P = std::move(Made);
      } else if (Min != 1 || Max != 1) {
        return fail("an anchor or lookahead inside a repetition is not "
                    "supported");
      }
    }
    return P;
  }

  /// "{m}", "{m,}" or "{m,n}" at `At`; anything else is text.
  bool counts(uint32_t &Min, uint32_t &Max) {
    size_t I = At + 1;
    auto Number = [&](uint32_t &Out) {
      size_t Begin = I;
      uint64_t Value = 0;
      for (; I < Text.size() && Text[I] >= '0' && Text[I] <= '9'; ++I)
        Value = std::min<uint64_t>(Value * 10 + (Text[I] - '0'), 1u << 30);
      Out = uint32_t(Value);
      return I > Begin;
    };
    if (!Number(Min))
      return false;
    Max = Min;
    if (I < Text.size() && Text[I] == ',') {
      ++I;
      Max = RegexPool::Unbounded;
      if (I < Text.size() && Text[I] != '}' && !Number(Max))
        return false;
    }
    if (I >= Text.size() || Text[I] != '}')
      return false;
    At = I + 1;
    return true;
  }

  Part ofSet(const CharSet &Set) {
    Part Made;
    Made.Node = Pool.set(Set);
    return Made;
  }

  Part atom(int Depth) {
    Part Made;
    switch (Text[At]) {
    case '^':
    case '$':
      Made.K = Text[At++] == '^' ? Part::Kind::Begin : Part::Kind::End;
      return Made;
    case '.':
      ++At;
      return ofSet(
          CharSet({{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}}).complement());
    case '(':
      return group(Depth);
    case '*':
    case '+':
    case '?':
      return fail("nothing to repeat");
    case '[': {
      Result<CharSet> Set = parseClass(Text, At);
      return Set ? ofSet(*Set) : fail(Set.error().message());
    }
    case '\\': {
      Result<CharSet> Set = parseEscape(Text, At, false);
      return Set ? ofSet(*Set) : fail(Set.error().message());
    }
    default:
      return ofSet(CharSet::of(Text[At++]));
    }
  }

  Part group(int Depth) {
    Part Made;
    ++At;
    bool IsLook = false;
    if (take(U"?")) {
      if (take(U"=") || take(U"!")) {
        IsLook = true;
        Made.K = Part::Kind::Look;
        Made.IsNot = Text[At - 1] == '!';
      } else if (take(U"<=") || take(U"<!")) {
        return fail("lookbehind is not supported");
      } else if (take(U">")) {
        return fail("atomic group is not supported");
      } else if (take(U"<") || take(U"P<")) {
        size_t End = Text.find(U'>', At);
        if (End == Text.npos)
          return fail("a group's name is not closed: expected '>'");
        At = End + 1;
      } else if (take(U"P=")) {
        return fail("back-reference (?P=...) is not supported");
      } else if (!take(U":")) {
        return fail("group (?" +
                    escaped(textOf(std::u32string_view(Text).substr(At, 1))) +
                    " is not supported: expected (?:, (?= or (?!");
      }
    }
    Part Inner = choice(Depth + 1);
    if (Failure)
      return {};
    if (!take(U")"))
      return fail("a group is not closed: expected ')'");
    if (!IsLook)
      return Inner;
    Made.Parts.push_back(std::move(Inner));
    return Made;
  }

  /// The texts that `Items` match one after another, as a whole. Anchors hold
  /// where nothing is before or behind them.
  NodeId language(std::vector<Part> Items) {
    if (++Expanded > 2000) {
      fail("too many combinations of anchors");
      return RegexPool::Nothing;
    }
    size_t I = 0;
    NodeId Left = RegexPool::Epsilon;
    for (; I < Items.size() && Items[I].K == Part::Kind::Node; ++I)
      Left = Pool.concat(Left, Items[I].Node);
    if (I == Items.size())
      return Left;
    std::vector<Part> Rest(Items.begin() + ptrdiff_t(I) + 1, Items.end());
    Part LeftPart;
    LeftPart.Node = Left;
    auto With = [&](const std::vector<Part> &Middle) {
      std::vector<Part> All{LeftPart};
      All.insert(All.end(), Middle.begin(), Middle.end());
      All.insert(All.end(), Rest.begin(), Rest.end());
      return language(std::move(All));
    };
    const Part &P = Items[I];
    switch (P.K) {
    case Part::Kind::Begin:
      return Pool.nullable(Left) ? language(std::move(Rest))
                                 : RegexPool::Nothing;
    case Part::Kind::End: {
      NodeId Behind = language(std::move(Rest));
      return Pool.nullable(Behind) ? Left : RegexPool::Nothing;
    }
    case Part::Kind::Choice: {
      std::vector<NodeId> Ways;
      for (const Part &Way : P.Parts)
        Ways.push_back(With({Way}));
      return Pool.unite(std::move(Ways));
    }
    case Part::Kind::Look: {
      Part Any;
      Any.Node = RegexPool::AnyText;
      if (hasBegin(P.Parts) || hasBegin(Rest)) {
        fail("'^' behind a lookahead is not supported");
        return RegexPool::Nothing;
      }
      NodeId Seen = language({P.Parts[0], Any});
      NodeId Behind = language(std::move(Rest));
      return Pool.concat(
          Left, Pool.intersect(Behind, P.IsNot ? Pool.complement(Seen) : Seen));
    }
    default:
      return With(P.Parts);
    }
  }

  static bool hasBegin(const std::vector<Part> &Parts) {
    for (const Part &P : Parts)
      if (P.K == Part::Kind::Begin || hasBegin(P.Parts))
        return true;
    return false;
  }

  RegexPool &Pool;
  std::u32string Text;
  size_t At = 0;
  int Expanded = 0;
};

} // namespace

Result<NodeId> grammar::parseRegex(RegexPool &Pool, std::string_view Pattern,
                                   bool Searches) {
  Parser P(Pool, Pattern);
  NodeId Made = P.parse(Searches);
  if (P.Failure)
    return Error("regular expression " + printable(Pattern) + ": " +
                 *P.Failure);
  return Made;
}

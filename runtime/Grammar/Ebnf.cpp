//===- Ebnf.cpp - Grammars as rules ---------------------------------------===//

#include "runtime/Grammar/Ebnf.h"

#include "runtime/Grammar/CharClasses.h"
#include "runtime/Grammar/RegexParser.h"
#include "runtime/Support/Json.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

using namespace tenon;
using namespace tenon::grammar;

namespace {

constexpr size_t MaxRules = 4000;
/// Of what is no regular expression: copies of it are made.
constexpr uint32_t MaxCopies = 256;

struct Node {
  enum class Kind { Text, Rule, Sequence, Choice, Repeat } K = Kind::Text;
  NodeId Text = RegexPool::Epsilon;
  uint32_t Rule = 0;
  uint32_t Min = 0, Max = 0;
  std::vector<Node> Parts;
};

class Reader {
public:
  Reader(std::string_view Text, const Limits &Most)
      : Text(codesOf(Text)), Most(Most) {
    From.Pool.setMaxNodes(Most.States);
  }
  Result<Source> read();

private:
  // Reading.
  void fail(const std::string &Why) {
    if (Failure)
      return;
    auto Line =
        1 + std::count(Text.begin(),
                       Text.begin() + ptrdiff_t(std::min(At, Text.size())),
                       U'\n');
    Failure = Error("grammar: line " + std::to_string(Line) + ": " + Why);
    At = Text.size();
  }
  void skip();
  bool take(std::u32string_view What);
  std::string name();
  bool atRule();
  uint32_t ruleOf(const std::string &Name);
  Node choice(int Depth);
  Node sequence(int Depth);
  Node repeated(int Depth);
  Node atom(int Depth);
  Node literal();

  // Making rules of what was read.
  bool isRegular(const Node &N);
  bool isRegularRule(uint32_t Rule);
  NodeId regex(const Node &N);
  using Row = std::vector<Source::Part>;
  using Rows = std::vector<Row>;
  Rows rows(const Node &N);
  Row append(const Row &A, const Row &B);
  uint32_t newRule(Rows Made);
  void prune();
  void refuseLeftRecursion();

  std::u32string Text;
  const Limits &Most;
  size_t At = 0;
  std::optional<Error> Failure;
  std::map<std::string, uint32_t> Ids;
  std::vector<std::string> Names;
  std::vector<std::optional<Node>> Bodies;
  std::vector<int> Regular; ///< -1 unknown, 0 no, 1 yes.
  std::map<uint32_t, NodeId> Regexes;
  Source From;
};

} // namespace

/// White space and comments.
void Reader::skip() {
  while (At < Text.size()) {
    if (Text[At] == '#')
      At = std::min(Text.find(U'\n', At), Text.size());
    else if (Text[At] == ' ' || (Text[At] >= 9 && Text[At] <= 13))
      ++At;
    else
      break;
  }
}

bool Reader::take(std::u32string_view What) {
  skip();
  if (std::u32string_view(Text).substr(At, What.size()) != What)
    return false;
  At += What.size();
  return true;
}

static bool isNameCharacter(char32_t C) {
  return (C >= 'a' && C <= 'z') || (C >= 'A' && C <= 'Z') ||
         (C >= '0' && C <= '9') || C == '-' || C == '_';
}

std::string Reader::name() {
  size_t Begin = At;
  while (At < Text.size() && isNameCharacter(Text[At]))
    ++At;
  return textOf(std::u32string_view(Text).substr(Begin, At - Begin));
}

/// Whether another rule begins here.
bool Reader::atRule() {
  size_t Before = At;
  bool Is = !name().empty() && take(U"::=");
  At = Before;
  return Is;
}

uint32_t Reader::ruleOf(const std::string &Name) {
  auto [Place, IsNew] = Ids.try_emplace(Name, uint32_t(Names.size()));
  if (IsNew) {
    Names.push_back(Name);
    Bodies.emplace_back();
  }
  if (Names.size() > MaxRules)
    fail("more than " + std::to_string(MaxRules) + " rules");
  return Place->second;
}

Node Reader::choice(int Depth) {
  if (Depth > Most.Depth) {
    fail("nested deeper than " + std::to_string(Most.Depth) + " groups");
    return {};
  }
  Node Made;
  do
    Made.Parts.push_back(sequence(Depth));
  while (!Failure && take(U"|"));
  if (Made.Parts.size() == 1)
    return Node(std::move(Made.Parts[0]));
  Made.K = Node::Kind::Choice;
  return Made;
}

Node Reader::sequence(int Depth) {
  Node Made;
  Made.K = Node::Kind::Sequence;
  for (skip();
       At < Text.size() && Text[At] != '|' && Text[At] != ')' && !atRule();
       skip())
    Made.Parts.push_back(repeated(Depth));
  return Made;
}

Node Reader::repeated(int Depth) {
  Node N = atom(Depth);
  while (!Failure && At < Text.size()) {
    uint32_t Min = 0, Max = RegexPool::Unbounded;
    char32_t C = Text[At];
    auto Number = [&](uint32_t &Out) {
      uint64_t Value = 0;
      size_t Begin = At;
      for (; At < Text.size() && Text[At] >= '0' && Text[At] <= '9'; ++At)
        Value = std::min<uint64_t>(Value * 10 + (Text[At] - '0'), 1u << 30);
      Out = uint32_t(Value);
      return At > Begin;
    };
    if (C == '*') {
      ++At;
    } else if (C == '+') {
      ++At;
      Min = 1;
    } else if (C == '?') {
      ++At;
      Max = 1;
    } else if (C == '{') {
      ++At;
      skip();
      bool HasMin = Number(Min);
      bool HasComma = take(U",");
      skip();
      bool HasMax = HasComma && Number(Max);
      if (!HasComma)
        Max = Min;
      if (!take(U"}") || !(HasMin || HasMax) || Min > Max) {
        fail("a repetition that is none: expected {m}, {m,}, {m,n} or {,n}");
        return {};
      }
      if (Min > MaxRegexCount || (HasMax && Max > MaxRegexCount)) {
        fail("a repetition of more than " + std::to_string(MaxRegexCount));
        return {};
      }
    } else {
      break;
    }
    Node Made;
    Made.K = Node::Kind::Repeat;
    Made.Min = Min;
    Made.Max = Max;
    Made.Parts.push_back(std::move(N));
    N = std::move(Made);
  }
  return N;
}

Node Reader::literal() {
  std::u32string Codes;
  for (++At; At < Text.size() && Text[At] != '"';) {
    if (Text[At] == '\n')
      break;
    if (Text[At] != '\\') {
      Codes.push_back(Text[At++]);
      continue;
    }
    size_t Digits = At + 1 < Text.size() && Text[At + 1] == 'U' ? 8 : 0;
    if (Digits != 0) {
      // \U takes eight digits here, and is no escape of regular expressions.
      char32_t Code = 0;
      std::string Hex =
          textOf(std::u32string_view(Text).substr(At + 2, Digits));
      if (Hex.size() != 8 ||
          Hex.find_first_not_of("0123456789abcdefABCDEF") != Hex.npos ||
          (Code = char32_t(std::stoul(Hex, nullptr, 16))) > 0x10ffff ||
          (Code >= 0xd800 && Code < 0xe000)) {
        fail("an escape that is no character: expected \\UHHHHHHHH");
        return {};
      }
      Codes.push_back(Code);
      At += 10;
      continue;
    }
    Result<CharSet> One = parseEscape(Text, At, true);
    if (!One) {
      fail(One.error().message());
      return {};
    }
    const auto &R = One->ranges();
    if (R.size() != 1 || R[0].First != R[0].Last) {
      fail("a class of characters in a literal: expected one character");
      return {};
    }
    Codes.push_back(R[0].First);
  }
  if (At >= Text.size() || Text[At] != '"') {
    fail("a literal is not closed: expected '\"'");
    return {};
  }
  ++At;
  Node Made;
  Made.Text = From.Pool.literal(Codes);
  return Made;
}

Node Reader::atom(int Depth) {
  Node Made;
  char32_t C = Text[At];
  if (C == '"')
    return literal();
  if (C == '[') {
    Result<CharSet> Set = parseClass(Text, At);
    if (!Set) {
      fail(Set.error().message());
      return {};
    }
    Made.Text = From.Pool.set(*Set);
    return Made;
  }
  if (C == '.') {
    ++At;
    Made.Text = RegexPool::AnyChar;
    return Made;
  }
  if (C == '(') {
    ++At;
    Made = choice(Depth + 1);
    if (!Failure && !take(U")"))
      fail("a group is not closed: expected ')'");
    return Made;
  }
  if (!isNameCharacter(C)) {
    fail("unexpected '" + escaped(textOf({&C, 1})) +
         "': expected a literal, a class, a group or a rule's name");
    return {};
  }
  Made.K = Node::Kind::Rule;
  Made.Rule = ruleOf(name());
  return Made;
}

bool Reader::isRegularRule(uint32_t Rule) {
  if (Regular[Rule] >= 0)
    return Regular[Rule] == 1;
  // A rule that leads to itself is none.
  Regular[Rule] = 0;
  bool Is = isRegular(*Bodies[Rule]);
  if (Is)
    Regular[Rule] = 1;
  return Is;
}

bool Reader::isRegular(const Node &N) {
  if (N.K == Node::Kind::Rule)
    return isRegularRule(N.Rule);
  return std::all_of(N.Parts.begin(), N.Parts.end(),
                     [&](const Node &P) { return isRegular(P); });
}

NodeId Reader::regex(const Node &N) {
  RegexPool &Pool = From.Pool;
  switch (N.K) {
  case Node::Kind::Text:
    return N.Text;
  case Node::Kind::Rule: {
    auto Found = Regexes.find(N.Rule);
    if (Found == Regexes.end())
      Found = Regexes.emplace(N.Rule, regex(*Bodies[N.Rule])).first;
    return Found->second;
  }
  case Node::Kind::Sequence: {
    NodeId Made = RegexPool::Epsilon;
    for (size_t I = N.Parts.size(); I-- > 0;)
      Made = Pool.concat(regex(N.Parts[I]), Made);
    return Made;
  }
  case Node::Kind::Choice: {
    std::vector<NodeId> Ways;
    for (const Node &P : N.Parts)
      Ways.push_back(regex(P));
    return Pool.unite(std::move(Ways));
  }
  case Node::Kind::Repeat:
    return Pool.repeat(regex(N.Parts[0]), N.Min, N.Max);
  }
  return RegexPool::Nothing;
}

uint32_t Reader::newRule(Rows Made) {
  From.Rules.push_back(std::move(Made));
  if (From.Rules.size() > 4 * MaxRules)
    fail("makes too many rules");
  return uint32_t(From.Rules.size() - 1);
}

/// One after another; texts that meet become one.
Reader::Row Reader::append(const Row &A, const Row &B) {
  Row Both = A;
  for (const Source::Part &P : B) {
    if (!Both.empty() && !Both.back().isRule() && !P.isRule())
      Both.back().Index = From.Pool.concat(Both.back().Index, P.Index);
    else
      Both.push_back(P);
  }
  return Both;
}

Reader::Rows Reader::rows(const Node &N) {
  if (Failure)
    return {};
  if (isRegular(N)) {
    NodeId Text = regex(N);
    if (Text == RegexPool::Epsilon)
      return {Row()};
    return Text == RegexPool::Nothing ? Rows()
                                      : Rows{{{Source::Part::Text, Text}}};
  }
  switch (N.K) {
  case Node::Kind::Rule:
    return {{{Source::Part::Rule, N.Rule}}};
  case Node::Kind::Choice: {
    Rows All;
    for (const Node &P : N.Parts) {
      Rows More = rows(P);
      All.insert(All.end(), More.begin(), More.end());
    }
    return All;
  }
  case Node::Kind::Sequence: {
    Row Whole;
    for (const Node &P : N.Parts) {
      Rows Ways = rows(P);
      if (Ways.size() == 1)
        Whole = append(Whole, Ways[0]);
      else
        Whole = append(Whole, {{Source::Part::Rule, newRule(std::move(Ways))}});
    }
    return {Whole};
  }
  case Node::Kind::Repeat: {
    Rows Ways = rows(N.Parts[0]);
    Source::Part One{Source::Part::Rule, newRule(std::move(Ways))};
    uint32_t Max = N.Max == RegexPool::Unbounded ? N.Min : N.Max;
    if (Max > MaxCopies) {
      fail("a repetition of what is recursive, of more than " +
           std::to_string(MaxCopies));
      return {};
    }
    // What may follow the required ones, from the last on.
    std::optional<Source::Part> Rest;
    if (N.Max == RegexPool::Unbounded) {
      uint32_t Again = newRule({});
      From.Rules[Again] = {Row{One, {Source::Part::Rule, Again}}, Row()};
      Rest = Source::Part{Source::Part::Rule, Again};
    }
    for (uint32_t I = N.Min; I < Max; ++I) {
      Row Some{One};
      if (Rest)
        Some.push_back(*Rest);
      Rest = Source::Part{Source::Part::Rule, newRule({Some, Row()})};
    }
    Row Whole(N.Min, One);
    if (Rest)
      Whole.push_back(*Rest);
    return {Whole};
  }
  default:
    return {};
  }
}

/// Leaves out what can never end.
void Reader::prune() {
  std::vector<bool> Ends(From.Rules.size());
  auto Lives = [&](const Row &R) {
    return std::all_of(R.begin(), R.end(), [&](const Source::Part &P) {
      return P.isRule() ? bool(Ends[P.Index]) : From.Pool.live(P.Index);
    });
  };
  for (bool Changes = true; Changes;) {
    Changes = false;
    for (size_t Rule = From.Rules.size(); Rule-- > 0;)
      if (!Ends[Rule] && std::any_of(From.Rules[Rule].begin(),
                                     From.Rules[Rule].end(), Lives)) {
        Ends[Rule] = true;
        Changes = true;
      }
  }
  for (Rows &R : From.Rules)
    std::erase_if(R, [&](const Row &One) { return !Lives(One); });
}

void Reader::refuseLeftRecursion() {
  size_t Count = From.Rules.size();
  std::vector<bool> Empty(Count);
  auto IsEmpty = [&](const Source::Part &P) {
    return P.isRule() ? bool(Empty[P.Index]) : From.Pool.nullable(P.Index);
  };
  for (bool Changes = true; Changes;) {
    Changes = false;
    for (size_t Rule = 0; Rule < Count; ++Rule)
      if (!Empty[Rule] &&
          std::any_of(From.Rules[Rule].begin(), From.Rules[Rule].end(),
                      [&](const Row &R) {
                        return std::all_of(R.begin(), R.end(), IsEmpty);
                      })) {
        Empty[Rule] = true;
        Changes = true;
      }
  }
  // What a rule may begin with; where more follows, going round grows.
  std::vector<std::vector<uint32_t>> Begins(Count);
  std::vector<std::pair<uint32_t, uint32_t>> Growing;
  for (uint32_t Rule = 0; Rule < Count; ++Rule)
    for (const Row &R : From.Rules[Rule])
      for (size_t I = 0; I < R.size(); ++I) {
        if (R[I].isRule()) {
          Begins[Rule].push_back(R[I].Index);
          if (I + 1 < R.size())
            Growing.push_back({Rule, R[I].Index});
        }
        if (!IsEmpty(R[I]))
          break;
      }
  for (auto [Rule, First] : Growing) {
    std::vector<uint32_t> Work{First};
    std::vector<bool> Seen(Count);
    while (!Work.empty()) {
      uint32_t Next = Work.back();
      Work.pop_back();
      if (Next == Rule) {
        uint32_t Named = Rule;
        for (uint32_t I = 0; Named >= Names.size() && I < Count; ++I)
          if (Seen[I] && I < Names.size())
            Named = I;
        Failure =
            Error("grammar: rule " +
                  printable(Named < Names.size() ? Names[Named] : "root") +
                  " begins with itself: left recursion is not supported, "
                  "expected a repetition");
        return;
      }
      if (Seen[Next])
        continue;
      Seen[Next] = true;
      Work.insert(Work.end(), Begins[Next].begin(), Begins[Next].end());
    }
  }
}

Result<Source> Reader::read() {
  ruleOf("root");
  for (skip(); At < Text.size() && !Failure; skip()) {
    if (!atRule()) {
      fail("expected a rule: name ::= ...");
      break;
    }
    uint32_t Rule = ruleOf(name());
    take(U"::=");
    if (Bodies[Rule]) {
      fail("rule " + printable(Names[Rule]) + " is given twice");
      break;
    }
    Node Body = choice(0);
    if (!Failure && At < Text.size() && Text[At] == ')')
      fail("unmatched ')'");
    Bodies[Rule] = std::move(Body);
  }
  if (Failure)
    return *Failure;
  for (size_t I = 0; I < Names.size(); ++I)
    if (!Bodies[I])
      return Error("grammar: rule " + printable(Names[I]) +
                   " is missing: expected " + Names[I] + " ::= ...");
  Regular.assign(Names.size(), -1);
  for (uint32_t I = 0; I < Names.size(); ++I)
    (void)isRegularRule(I);
  From.Rules.resize(Names.size());
  for (uint32_t I = 0; I < Names.size(); ++I) {
    Rows Made = rows(*Bodies[I]);
    From.Rules[I] = std::move(Made);
  }
  if (Failure)
    return *Failure;
  prune();
  if (From.Pool.exhausted())
    return Error("grammar: makes too many states");
  if (From.Rules[0].empty())
    return Error("grammar: no text is accepted: rule 'root' never ends");
  refuseLeftRecursion();
  if (Failure)
    return *Failure;
  return std::move(From);
}

Result<Source> grammar::readEbnf(std::string_view Text, const Limits &Most) {
  return Reader(Text, Most).read();
}

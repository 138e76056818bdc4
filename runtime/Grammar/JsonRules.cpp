//===- JsonRules.cpp - Values of a schema as rules ------------------------===//

#include "runtime/Grammar/JsonRules.h"

#include "runtime/Grammar/RegexParser.h"
#include "runtime/Grammar/SchemaReader.h"
#include "runtime/Support/Clock.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::grammar;

std::string grammar::spelled(std::string_view Text) {
  std::string Quoted = Json(std::string(Text)).dump();
  return Quoted.substr(1, Quoted.size() - 2);
}

NodeId grammar::anyNumber(RegexPool &Pool) {
  return *parseRegex(Pool, "-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][+-]?[0-9]+)?",
                     false);
}

NodeId grammar::anyInteger(RegexPool &Pool) {
  return *parseRegex(Pool, "-?(0|[1-9][0-9]*)([.]0+)?([eE][+]?[0-9]{1,3})?",
                     false);
}

namespace {

class Builder {
public:
  Builder(SchemaSource &Source, RegexPool &Pool, const SchemaOptions &Options,
          const Limits &Most)
      : Source(Source), Pool(Pool), Most(Most),
        Reader(Source, Pool, Options, Most) {
    Rules.MaxWhitespace = Options.MaxWhitespace;
    Rules.FixedOrder = Options.FixedOrder;
    Reader.Deadline = secondsNow() + Most.Seconds;
  }

  Result<JsonRules> build();

private:
  ValueId value(const Literals &All);
  std::optional<NodeId> quoted(NodeId Strings);
  void expand(ValueId Id);
  void fail(SchemaId At, const std::string &Key, const std::string &Why) {
    Reader.fail(Source.error(At, Key, Why));
  }
  SchemaId placeOf(ValueId Id) const {
    return Wishes[Id].empty() ? SchemaSource::Root : Wishes[Id].front() / 2;
  }
  std::optional<Alternative> number(ValueId Id, const NumberSpec &Spec);
  std::optional<Alternative> array(const ArraySpec &Spec);
  std::optional<Alternative> object(ValueId Id, const ObjectSpec &Spec);
  Literals valueOf(const ObjectSpec &Spec, const std::string &Name);
  bool addOthers(ValueId Id, const ObjectSpec &Spec, ObjectRules &O,
                 std::vector<std::u32string> &Listed);
  bool lives(const Alternative &A) const;
  bool livesArray(const ArrayRules &A) const;
  bool livesObject(const ObjectRules &O) const;
  void findLiving();
  void prune();
  void makeTrie(ObjectRules &O);

  SchemaSource &Source;
  RegexPool &Pool;
  const Limits &Most;
  SchemaReader Reader;
  JsonRules Rules;
  std::vector<Literals> Wishes;
  std::map<Literals, ValueId> Ids;
};

} // namespace

ValueId Builder::value(const Literals &All) {
  auto [At, IsNew] = Ids.try_emplace(All, ValueId(Wishes.size()));
  if (IsNew)
    Wishes.push_back(All);
  return At->second;
}

/// `Strings` in quotes, spelled as short as they can be, if they are words:
/// what is known needs no choice of spellings, and is appended without being
/// sampled.
std::optional<NodeId> Builder::quoted(NodeId Strings) {
  std::vector<std::u32string> All = Pool.wordsOf(Strings);
  if (All.empty())
    return std::nullopt;
  for (std::u32string &Word : All)
    Word = codesOf('"' + spelled(textOf(Word)) + '"');
  return Pool.words(std::move(All));
}

std::optional<Alternative> Builder::number(ValueId Id, const NumberSpec &Spec) {
  using Kind = Alternative::Kind;
  if (Spec.isAny())
    return Alternative{Kind::Text, anyNumber(Pool)};
  static const NumberSpec::Multiple One{*Decimal::parse("1"), false};
  if (Spec.Multiples == std::vector{One} && !Spec.Low && !Spec.High &&
      !Spec.Values)
    return Alternative{Kind::Text, anyInteger(Pool)};
  if (Spec.Values) {
    std::vector<std::u32string> Whole, Fractions;
    for (const Decimal &D : *Spec.Values)
      (D.isInteger() ? Whole : Fractions).push_back(codesOf(D.text()));
    for (const Decimal &D : *Spec.Values)
      if (D.isZero())
        Whole.push_back(U"-0");
    NodeId Zeros = *parseRegex(Pool, "0*", false);
    NodeId Text =
        Pool.unite(Pool.concat(Pool.words(std::move(Whole)),
                               *parseRegex(Pool, "([.]0+)?", false)),
                   Pool.concat(Pool.words(std::move(Fractions)), Zeros));
    return Alternative{Kind::Text, Text};
  }
  std::optional<NumberAutomaton> Made = NumberAutomaton::create(Spec);
  if (!Made) {
    fail(placeOf(Id), "multipleOf",
         "has too many digits: expected at most " +
             std::to_string(NumberAutomaton::MaxDivisor) +
             " without zeros at its end");
    return std::nullopt;
  }
  bool Lives = Made->live(0);
  if (Made->exhausted()) {
    fail(placeOf(Id), "", "has numbers that take too long to find");
    return std::nullopt;
  }
  if (!Lives)
    return std::nullopt;
  Rules.Numbers.push_back(std::move(*Made));
  return Alternative{Kind::Number, uint32_t(Rules.Numbers.size() - 1)};
}

std::optional<Alternative> Builder::array(const ArraySpec &Spec) {
  ArrayRules A;
  A.Min = Spec.Min;
  A.Max = Spec.Max;
  if (Spec.UniqueAt && Spec.Max > 1) {
    fail(*Spec.UniqueAt, "uniqueItems",
         "is not supported for more than one item");
    return std::nullopt;
  }
  if (Spec.Contains.size() > 1) {
    fail(Spec.Contains[1].At, "contains",
         "is not supported together with another one");
    return std::nullopt;
  }
  for (size_t I = 0; I <= Spec.prefix(); ++I)
    A.Items.push_back(value(Spec.at(I)));
  if (!Spec.Contains.empty()) {
    const ArraySpec::Containing &C = Spec.Contains[0];
    A.Counts = true;
    A.CountMin = C.Min;
    A.CountMax = C.Max;
    if (C.Min > 1000 || (C.Max != NoLimit && C.Max > 1'000'000)) {
      fail(C.At, "minContains", "expected at most 1000");
      return std::nullopt;
    }
    for (size_t I = 0; I <= Spec.prefix(); ++I) {
      A.With.push_back(value(merged(Spec.at(I), C.What)));
      A.Without.push_back(C.Max == NoLimit ? A.Items[I]
                                           : value(merged(Spec.at(I), C.Not)));
    }
  }
  Rules.Arrays.push_back(std::move(A));
  return Alternative{Alternative::Kind::Array,
                     uint32_t(Rules.Arrays.size() - 1)};
}

/// All that the value of the key `Name` must fulfil.
Literals Builder::valueOf(const ObjectSpec &Spec, const std::string &Name) {
  Literals All;
  for (const ObjectSpec::Group &G : Spec.Groups) {
    bool IsNamed = false;
    for (const auto &[Known, What] : G.Named)
      if (Known == Name) {
        All = merged(All, What);
        IsNamed = true;
      }
    for (const auto &[Pattern, What] : G.Patterns)
      if (Pool.matches(Pattern, codesOf(Name))) {
        All = merged(All, What);
        IsNamed = true;
      }
    if (!IsNamed && G.Others)
      All = merged(All, *G.Others);
  }
  return All;
}

/// Keys that have no name in the schema, by the patterns that they match. Few
/// of them are listed instead.
bool Builder::addOthers(ValueId Id, const ObjectSpec &Spec, ObjectRules &O,
                        std::vector<std::u32string> &Listed) {
  std::vector<NodeId> Patterns;
  for (const ObjectSpec::Group &G : Spec.Groups)
    for (const auto &[Pattern, What] : G.Patterns)
      if (std::find(Patterns.begin(), Patterns.end(), Pattern) ==
          Patterns.end())
        Patterns.push_back(Pattern);
  if (Patterns.size() > 8) {
    fail(placeOf(Id), "patternProperties",
         "more than 8 patterns are not supported");
    return false;
  }
  NodeId Names = Reader.stringsOf(Spec.Names);
  for (size_t Set = 0; Set < size_t(1) << Patterns.size(); ++Set) {
    std::vector<NodeId> Parts{Names};
    auto Matches = [&](NodeId Pattern) {
      size_t I = size_t(std::find(Patterns.begin(), Patterns.end(), Pattern) -
                        Patterns.begin());
      return (Set >> I & 1) != 0;
    };
    for (NodeId P : Patterns)
      Parts.push_back(Matches(P) ? P : Pool.complement(P));
    NodeId Content = Pool.intersect(std::move(Parts));
    if (!Pool.live(Content))
      continue;
    Literals All;
    for (const ObjectSpec::Group &G : Spec.Groups) {
      bool IsNamed = false;
      for (const auto &[Pattern, What] : G.Patterns)
        if (Matches(Pattern)) {
          All = merged(All, What);
          IsNamed = true;
        }
      if (!IsNamed && G.Others)
        All = merged(All, *G.Others);
    }
    if (!All.empty() && All.front() == positive(SchemaSource::False))
      continue;
    if (!Pool.endless(Content)) {
      constexpr size_t MostListed = 64;
      if (auto Few = Pool.list(Content, MostListed)) {
        Listed.insert(Listed.end(), Few->begin(), Few->end());
        continue;
      }
    }
    O.Rest.push_back({Content, value(All)});
  }
  if (Pool.exhausted()) {
    fail(placeOf(Id), Patterns.empty() ? "propertyNames" : "patternProperties",
         "makes too many states together with what else holds");
    return false;
  }
  return true;
}

std::optional<Alternative> Builder::object(ValueId Id, const ObjectSpec &Spec) {
  ObjectRules O;
  O.Min = Spec.Min;
  O.Max = Spec.Max;
  NodeId Names = Reader.stringsOf(Spec.Names);
  if (Reader.Failure)
    return std::nullopt;
  auto AddKey = [&](const std::string &Name) {
    if (O.Index.contains(Name))
      return;
    O.Index.emplace(Name, uint32_t(O.Keys.size()));
    O.Keys.push_back({Name, value(valueOf(Spec, Name)), {}, true});
    if (Names != RegexPool::AnyText && !Pool.matches(Names, codesOf(Name)))
      O.Keys.back().IsPossible = false;
  };
  for (const ObjectSpec::Group &G : Spec.Groups)
    for (const auto &[Name, What] : G.Named)
      AddKey(Name);
  for (const std::string &Name : Spec.Required)
    AddKey(Name);
  for (const auto &[If, Then] : Spec.Dependent) {
    AddKey(If);
    AddKey(Then);
  }
  std::vector<std::u32string> Listed;
  if (!addOthers(Id, Spec, O, Listed))
    return std::nullopt;
  for (const std::u32string &Name : Listed)
    AddKey(textOf(Name));
  // What a key needs, with all that those need.
  for (uint32_t K = 0; K < O.Keys.size(); ++K)
    O.Keys[K].Needs = {K};
  std::vector<std::vector<uint32_t>> Then(O.Keys.size());
  for (const auto &[If, Other] : Spec.Dependent)
    Then[O.Index[If]].push_back(O.Index[Other]);
  for (uint32_t K = 0; !Spec.Dependent.empty() && K < O.Keys.size(); ++K) {
    std::vector<uint32_t> &All = O.Keys[K].Needs;
    for (size_t I = 0; I < All.size(); ++I)
      for (uint32_t Next : Then[All[I]])
        if (std::find(All.begin(), All.end(), Next) == All.end())
          All.push_back(Next);
    if (All.size() > 1 && (Spec.Min > 0 || Rules.FixedOrder) &&
        (Spec.Max != NoLimit || O.Rest.empty() || Rules.FixedOrder)) {
      fail(placeOf(Id), "dependentRequired",
           "is not supported with a fixed order, or with minProperties where "
           "not any keys may follow");
      return std::nullopt;
    }
  }
  std::set<uint32_t> Needed;
  for (const std::string &Name : Spec.Required)
    Needed.insert(O.Keys[O.Index[Name]].Needs.begin(),
                  O.Keys[O.Index[Name]].Needs.end());
  O.Required.assign(Needed.begin(), Needed.end());
  Rules.Objects.push_back(std::move(O));
  return Alternative{Alternative::Kind::Object,
                     uint32_t(Rules.Objects.size() - 1)};
}

void Builder::expand(ValueId Id) {
  using Kind = Alternative::Kind;
  std::vector<Alternative> All;
  auto Add = [&](std::optional<Alternative> A) {
    if (A && std::find_if(All.begin(), All.end(), [&](const Alternative &B) {
               return A->K == B.K && A->Index == B.Index;
             }) == All.end())
      All.push_back(*A);
  };
  for (const Branch &B : Reader.branchesOf(Wishes[Id])) {
    if (Reader.Failure)
      return;
    if (B.Types & NullType)
      Add(Alternative{Kind::Null});
    if (B.Types & FalseType)
      Add(Alternative{Kind::False});
    if (B.Types & TrueType)
      Add(Alternative{Kind::True});
    if (B.Types & NumberType)
      Add(number(Id, B.Number));
    if (B.Types & StringType)
      Add(Alternative{Kind::String, B.String});
    if (B.Types & ArrayType)
      Add(array(B.Array));
    if (B.Types & ObjectType)
      Add(object(Id, B.Object));
  }
  // Strings of all branches are one language.
  std::vector<NodeId> Strings;
  for (const Alternative &A : All)
    if (A.K == Kind::String)
      Strings.push_back(A.Index);
  std::erase_if(All, [](const Alternative &A) { return A.K == Kind::String; });
  if (!Strings.empty()) {
    NodeId Any = Pool.unite(std::move(Strings));
    std::optional<NodeId> Words = quoted(Any);
    All.push_back(Words ? Alternative{Kind::Text, *Words}
                        : Alternative{Kind::String, Any});
  }
  Rules.Values.push_back(std::move(All));
}

bool Builder::livesArray(const ArrayRules &A) const {
  auto Of = [&](const std::vector<ValueId> &Values, size_t I) {
    return Rules.Lives[Values[std::min(I, Values.size() - 1)]];
  };
  uint64_t Least = 0, Count = 0, Forced = 0;
  // More items than these are like the last of them.
  uint64_t Far = A.Items.size() + A.CountMin + 1;
  for (;; ++Least) {
    bool Enough = Count >= A.CountMin || !A.Counts;
    if (Least >= A.Min && Enough && Forced <= A.CountMax)
      return true;
    if (Least >= A.Max || (Least > A.Min && Least > Far))
      return false;
    bool With = A.Counts && Of(A.With, Least);
    bool Without = A.Counts ? Of(A.Without, Least) : Of(A.Items, Least);
    if (!With && !Without)
      return false;
    Count += With;
    Forced += With && !Without;
    if (!A.Counts && Least >= A.Items.size())
      return true;
    if (A.Counts && Least > Far && A.Min > Least + 1) {
      // The rest are all alike.
      uint64_t Skipped = A.Min - Least - 1;
      Count += With ? Skipped : 0;
      Forced += With && !Without ? Skipped : 0;
      Least += Skipped;
    }
  }
}

bool Builder::livesObject(const ObjectRules &O) const {
  auto IsPossible = [&](uint32_t K) {
    return O.Keys[K].IsPossible && Rules.Lives[O.Keys[K].Value];
  };
  for (uint32_t K : O.Required)
    if (!IsPossible(K))
      return false;
  if (O.Required.size() > O.Max)
    return false;
  for (const ObjectRules::Others &R : O.Rest)
    if (Rules.Lives[R.Value])
      return true;
  uint64_t Count = 0;
  for (uint32_t K = 0; K < O.Keys.size(); ++K)
    Count +=
        std::all_of(O.Keys[K].Needs.begin(), O.Keys[K].Needs.end(), IsPossible);
  return Count >= O.Min;
}

bool Builder::lives(const Alternative &A) const {
  using Kind = Alternative::Kind;
  if (A.K == Kind::Array)
    return livesArray(Rules.Arrays[A.Index]);
  return A.K != Kind::Object || livesObject(Rules.Objects[A.Index]);
}

/// The least set of values that can be completed: each step uses only those
/// that are known to be.
void Builder::findLiving() {
  Rules.Lives.assign(Rules.Values.size(), false);
  for (bool Changes = true; Changes;) {
    Changes = false;
    // From the back: parts come after the whole.
    for (size_t Id = Rules.Values.size(); Id-- > 0;) {
      if (Rules.Lives[Id])
        continue;
      const auto &All = Rules.Values[Id];
      if (std::any_of(All.begin(), All.end(),
                      [&](const Alternative &A) { return lives(A); })) {
        Rules.Lives[Id] = true;
        Changes = true;
      }
    }
  }
}

void Builder::makeTrie(ObjectRules &O) {
  O.Trie.emplace_back();
  for (uint32_t K = 0; K < O.Keys.size(); ++K) {
    if (!O.Keys[K].IsPossible)
      continue;
    uint32_t At = 0;
    O.Trie[0].Below.push_back(K);
    for (char C : spelled(O.Keys[K].Name) + '"') {
      auto Byte = static_cast<unsigned char>(C);
      auto &Children = O.Trie[At].Children;
      auto Found =
          std::find_if(Children.begin(), Children.end(),
                       [&](const auto &Child) { return Child.first == Byte; });
      if (Found == Children.end()) {
        Children.push_back({Byte, uint32_t(O.Trie.size())});
        At = uint32_t(O.Trie.size());
        O.Trie.emplace_back();
      } else {
        At = Found->second;
      }
      O.Trie[At].Below.push_back(K);
    }
    O.Trie[At].Key = K;
  }
}

/// Leaves only what can be completed.
void Builder::prune() {
  for (auto &All : Rules.Values)
    std::erase_if(All, [&](const Alternative &A) { return !lives(A); });
  for (ObjectRules &O : Rules.Objects) {
    auto Lives = [&](uint32_t K) { return Rules.Lives[O.Keys[K].Value]; };
    std::vector<bool> Possible;
    for (const ObjectRules::Key &K : O.Keys) {
      bool Is = true;
      for (uint32_t N : K.Needs)
        Is = Is && O.Keys[N].IsPossible && Lives(N);
      Possible.push_back(Is && K.Needs.size() <= O.Max);
    }
    for (size_t K = 0; K < O.Keys.size(); ++K)
      O.Keys[K].IsPossible = Possible[K];
    std::erase_if(O.Rest, [&](const ObjectRules::Others &R) {
      return !Rules.Lives[R.Value];
    });
    makeTrie(O);
  }
}

Result<JsonRules> Builder::build() {
  value({positive(SchemaSource::Root)});
  for (ValueId Id = 0; Id < Wishes.size() && !Reader.Failure; ++Id) {
    if (Id >= Most.Values || Pool.exhausted()) {
      fail(SchemaSource::Root, "",
           "is too large: expected at most " + std::to_string(Most.Values) +
               " kinds of value");
      break;
    }
    if (secondsNow() > Reader.Deadline)
      fail(SchemaSource::Root, "", "takes too long to compile");
    else
      expand(Id);
  }
  if (Reader.Failure)
    return *Reader.Failure;
  findLiving();
  if (!Rules.Lives[0])
    return Error("JSON schema: #: no finite JSON value fulfils it");
  prune();
  return std::move(Rules);
}

Result<JsonRules> grammar::buildRules(SchemaSource &Source, RegexPool &Pool,
                                      const SchemaOptions &Options,
                                      const Limits &Most) {
  return Builder(Source, Pool, Options, Most).build();
}

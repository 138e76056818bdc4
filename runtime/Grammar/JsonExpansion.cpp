//===- JsonExpansion.cpp - Rules of arrays and objects as they are met ----===//

#include "runtime/Grammar/Machine.h"
#include "runtime/Grammar/StringMeaning.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::grammar;

uint32_t Machine::text(const std::string &Text) {
  auto [At, IsNew] = TextIds.try_emplace(Text, uint32_t(Texts.size()));
  if (IsNew) {
    Texts.push_back(Text);
    Bytes += 2 * Text.size() + 100;
  }
  return At->second;
}

uint32_t Machine::capture(uint32_t Captured, unsigned char Byte) {
  auto [At, IsNew] = CaptureIds.try_emplace(uint64_t(Captured) << 8 | Byte,
                                            uint32_t(Captures.size()));
  if (IsNew) {
    Captures.push_back({Captured, Byte});
    Bytes += 56;
  }
  return At->second;
}

/// The bytes of a key so far, from its first quote on.
std::string Machine::rawOfCapture(uint32_t Captured) const {
  std::string Raw;
  for (; Captured > 1; Captured = Captures[Captured].first)
    Raw += static_cast<char>(Captures[Captured].second);
  std::reverse(Raw.begin(), Raw.end());
  return Raw;
}

// Objects: rules, keys in all, the set of others, then bits of named keys.
enum { ObjectRulesAt, ObjectCount, ObjectOthers, ObjectBits };

uint32_t Machine::objectState(std::vector<uint32_t> Key) {
  auto [Id, IsNew] = ObjectIds.add(Key, uint32_t(Objects.size()));
  if (IsNew) {
    Bytes += 100 + Key.size() * 8;
    Objects.push_back(std::move(Key));
  }
  return Id;
}

bool Machine::isSeen(uint32_t Object, uint32_t Key) const {
  return Objects[Object][ObjectBits + Key / 32] >> (Key % 32) & 1;
}

/// How many keys must still come if `Adding` does (UINT32_MAX: none), that one
/// included.
size_t Machine::neededKeys(uint32_t Object, uint32_t Adding) const {
  const ObjectRules &R = rulesOf(Object);
  bool AnyNeeds = false;
  for (const ObjectRules::Key &K : R.Keys)
    AnyNeeds |= K.Needs.size() > 1;
  if (!AnyNeeds) {
    size_t Count = 0;
    bool IsRequired = false;
    for (uint32_t K : R.Required) {
      Count += !isSeen(Object, K);
      IsRequired |= K == Adding;
    }
    return Count + (Adding != UINT32_MAX && !IsRequired);
  }
  std::vector<bool> Needed(R.Keys.size());
  for (uint32_t K : R.Required)
    Needed[K] = true;
  for (uint32_t K = 0; K < R.Keys.size(); ++K)
    if (K == Adding || isSeen(Object, K))
      for (uint32_t N : R.Keys[K].Needs)
        Needed[N] = true;
  size_t Count = 0;
  for (uint32_t K = 0; K < R.Keys.size(); ++K)
    Count += Needed[K] && !isSeen(Object, K);
  return Count;
}

bool Machine::mayAddKey(uint32_t Object, uint32_t Key) const {
  const ObjectRules &R = rulesOf(Object);
  if (!R.Keys[Key].IsPossible || isSeen(Object, Key))
    return false;
  if (Json->FixedOrder) {
    // None that comes before may be missing, and none behind be there.
    for (uint32_t K = Key + 1; K < R.Keys.size(); ++K)
      if (isSeen(Object, K))
        return false;
    for (uint32_t K : R.Required)
      if (K < Key && !isSeen(Object, K))
        return false;
    if (Objects[Object][ObjectOthers] != 0)
      return false;
    // Without others, enough keys must be left behind it.
    if (R.Rest.empty()) {
      uint64_t Left = 1;
      for (uint32_t K = Key + 1; K < R.Keys.size(); ++K)
        Left += R.Keys[K].IsPossible;
      if (Objects[Object][ObjectCount] + Left < R.Min)
        return false;
    }
  }
  return R.Max == NoLimit ||
         Objects[Object][ObjectCount] + neededKeys(Object, Key) <= R.Max;
}

bool Machine::mayAddOther(uint32_t Object) const {
  const ObjectRules &R = rulesOf(Object);
  size_t Needed = neededKeys(Object, UINT32_MAX);
  if (Json->FixedOrder && Needed > 0)
    return false;
  return R.Max == NoLimit || Objects[Object][ObjectCount] + Needed + 1 <= R.Max;
}

bool Machine::mayClose(uint32_t Object) const {
  return Objects[Object][ObjectCount] >= rulesOf(Object).Min &&
         neededKeys(Object, UINT32_MAX) == 0;
}

uint32_t Machine::withKey(uint32_t Object, uint32_t Key) {
  std::vector<uint32_t> With = Objects[Object];
  ++With[ObjectCount];
  With[ObjectBits + Key / 32] |= 1u << (Key % 32);
  return objectState(std::move(With));
}

uint32_t Machine::withOther(uint32_t Object, uint32_t Text) {
  std::vector<uint32_t> With = Objects[Object];
  ++With[ObjectCount];
  std::vector<uint32_t> Set = TextSets[With[ObjectOthers]];
  Set.insert(std::upper_bound(Set.begin(), Set.end(), Text), Text);
  auto [Id, IsNew] = TextSetIds.add(Set, uint32_t(TextSets.size()));
  if (IsNew) {
    Bytes += 100 + Set.size() * 8;
    TextSets.push_back(std::move(Set));
  }
  With[ObjectOthers] = Id;
  return objectState(std::move(With));
}

bool Machine::isExcluded(uint32_t Object, const std::string &Name) const {
  if (rulesOf(Object).Index.contains(Name))
    return true;
  auto Known = TextIds.find(Name);
  if (Known == TextIds.end())
    return false;
  const auto &Set = TextSets[Objects[Object][ObjectOthers]];
  return std::binary_search(Set.begin(), Set.end(), Known->second);
}

uint32_t Machine::arrayState(uint32_t Rules, uint64_t Items, uint64_t Count) {
  const ArrayRules &A = Json->Arrays[Rules];
  // More need not be known of long arrays.
  uint64_t Far = std::max<uint64_t>(A.Items.size() - 1, A.Min);
  if (A.Max == NoLimit)
    Items = std::min(Items, Far);
  if (A.CountMax == NoLimit)
    Count = std::min(Count, A.CountMin);
  auto Low = [](uint64_t V) { return uint32_t(V); };
  auto High = [](uint64_t V) { return uint32_t(V >> 32); };
  auto [Id, IsNew] =
      ArrayIds.add({Rules, Low(Items), High(Items), Low(Count), High(Count)},
                   uint32_t(Arrays.size()));
  if (IsNew) {
    Arrays.push_back({Rules, Items, Count});
    Bytes += 120;
  }
  return Id;
}

/// Whether an array of so many items, of which so many count, can end.
bool Machine::canFinish(const ArrayRules &A, uint64_t Items,
                        uint64_t Count) const {
  auto Of = [&](const std::vector<ValueId> &Values, uint64_t I) {
    return Json->Lives[Values[std::min<uint64_t>(I, Values.size() - 1)]];
  };
  uint64_t Forced = 0, Extra = 0;
  uint64_t Far = std::max<uint64_t>(A.Items.size(), Items) + A.CountMin + 1;
  for (uint64_t I = Items;; ++I) {
    bool Fits = !A.Counts ||
                (Count + Extra >= A.CountMin && Count + Forced <= A.CountMax);
    if (I >= A.Min && Fits)
      return I <= A.Max;
    if (I >= A.Max || (I > A.Min && I > Far))
      return false;
    bool With = A.Counts && Of(A.With, I);
    bool Without = A.Counts ? Of(A.Without, I) : Of(A.Items, I);
    if (!With && !Without)
      return false;
    Extra += With;
    Forced += With && !Without;
    if (!A.Counts && I >= A.Items.size())
      return A.Min <= A.Max;
    if (A.Counts && I > Far && A.Min > I + 1) {
      uint64_t Skipped = A.Min - I - 1;
      Extra += With ? Skipped : 0;
      Forced += With && !Without ? Skipped : 0;
      I += Skipped;
    }
  }
}

const std::vector<SeqId> &Machine::ways(SymbolId Id) {
  if (!Symbols[Id].IsExpanded) {
    std::vector<SeqId> Made = expand(Symbol(Symbols[Id]));
    Bytes += Made.size() * 4;
    Symbols[Id].Ways = std::move(Made);
    Symbols[Id].IsExpanded = true;
  }
  return Symbols[Id].Ways;
}

std::vector<SeqId> Machine::expandValue(ValueId Id) {
  using Way = Alternative::Kind;
  std::vector<SeqId> Ways;
  for (const Alternative &A : Json->Values[Id]) {
    switch (A.K) {
    case Way::Null:
      Ways.push_back(seq({bytesTerminal("null")}));
      break;
    case Way::False:
      Ways.push_back(seq({bytesTerminal("false")}));
      break;
    case Way::True:
      Ways.push_back(seq({bytesTerminal("true")}));
      break;
    case Way::Number:
      Ways.push_back(seq({terminal(state(Mode::Number, A.Index, 0))}));
      break;
    case Way::Text:
      Ways.push_back(seq({terminal(state(Mode::Text, A.Index))}));
      break;
    case Way::String:
      Ways.push_back(seq({terminal(state(Mode::Open, A.Index))}));
      break;
    case Way::Array:
      Ways.push_back(
          seq({bytesTerminal("["),
               symbol(Kind::ArrayFirst, arrayState(A.Index, 0, 0))}));
      break;
    case Way::Object: {
      std::vector<uint32_t> Key(ObjectBits +
                                (Json->Objects[A.Index].Keys.size() + 31) / 32);
      Key[ObjectRulesAt] = A.Index;
      uint32_t Empty = objectState(std::move(Key));
      Ways.push_back(
          seq({bytesTerminal("{"), symbol(Kind::ObjectFirst, Empty)}));
      break;
    }
    }
  }
  return Ways;
}

std::vector<SeqId> Machine::expandArray(Kind K, uint32_t State) {
  ArrayState S = Arrays[State];
  const ArrayRules &A = Json->Arrays[S.Rules];
  std::vector<SeqId> Ways;
  bool Ends = S.Items >= A.Min && S.Items <= A.Max &&
              (!A.Counts || (S.Count >= A.CountMin && S.Count <= A.CountMax));
  if (K != Kind::ArrayMore && Ends)
    Ways.push_back(seq({SpaceSymbol, bytesTerminal("]")}));
  auto Add = [&](const std::vector<ValueId> &Values, uint64_t Counted) {
    ValueId Item = Values[std::min<uint64_t>(S.Items, Values.size() - 1)];
    if (S.Items >= A.Max || S.Count + Counted > A.CountMax ||
        !Json->Lives[Item] || !canFinish(A, S.Items + 1, S.Count + Counted))
      return;
    uint32_t Next = arrayState(S.Rules, S.Items + 1, S.Count + Counted);
    Ways.push_back(seq({SpaceSymbol, symbol(Kind::Value, Item),
                        symbol(Kind::ArrayNext, Next)}));
  };
  std::vector<SeqId> Closing = std::exchange(Ways, {});
  if (A.Counts) {
    Add(A.With, 1);
    Add(A.Without, 0);
  } else {
    Add(A.Items, 0);
  }
  if (K == Kind::ArrayNext && !Ways.empty())
    Ways = {
        seq({SpaceSymbol, bytesTerminal(","), symbol(Kind::ArrayMore, State)})};
  Ways.insert(Ways.end(), Closing.begin(), Closing.end());
  return Ways;
}

std::vector<SeqId> Machine::expandObject(Kind K, uint32_t Object) {
  const ObjectRules &R = rulesOf(Object);
  std::vector<SeqId> Ways;
  bool AnyKey = false;
  for (uint32_t Key = 0; Key < R.Keys.size() && !AnyKey; ++Key)
    AnyKey = mayAddKey(Object, Key);
  bool AnyOther = !R.Rest.empty() && mayAddOther(Object);
  if (K == Kind::ObjectNext) {
    if (AnyKey || AnyOther)
      Ways.push_back(seq(
          {SpaceSymbol, bytesTerminal(","), symbol(Kind::ObjectMore, Object)}));
  } else {
    if (AnyKey)
      Ways.push_back(seq({SpaceSymbol, terminal(state(Mode::Key, Object, 0, 2)),
                          symbol(Kind::TakeKey, Object)}));
    for (uint32_t I = 0; AnyOther && I < R.Rest.size(); ++I)
      Ways.push_back(
          seq({SpaceSymbol, terminal(state(Mode::Open, R.Rest[I].Names), true),
               symbol(Kind::TakeOther, Object, I)}));
  }
  if (K != Kind::ObjectMore && mayClose(Object))
    Ways.push_back(seq({SpaceSymbol, bytesTerminal("}")}));
  return Ways;
}

SeqId Machine::afterKey(uint32_t Object, ValueId Value, uint32_t Next) {
  (void)Object;
  return seq({SpaceSymbol, bytesTerminal(":"), SpaceSymbol,
              symbol(Kind::Value, Value), symbol(Kind::ObjectNext, Next)});
}

std::vector<SeqId> Machine::expand(const Symbol &S) {
  switch (S.K) {
  case Kind::Value:
    return expandValue(S.A);
  case Kind::ArrayFirst:
  case Kind::ArrayMore:
  case Kind::ArrayNext:
    return expandArray(S.K, S.A);
  case Kind::ObjectFirst:
  case Kind::ObjectMore:
  case Kind::ObjectNext:
    return expandObject(S.K, S.A);
  case Kind::AfterKey:
    return {afterKey(S.A, rulesOf(S.A).Keys[S.B].Value, withKey(S.A, S.B))};
  case Kind::AfterOther:
    return {afterKey(S.A, rulesOf(S.A).Rest[S.B].Value, withOther(S.A, S.C))};
  case Kind::Rule: {
    std::vector<SeqId> Ways;
    for (const auto &Row : Rules[S.A]) {
      SeqId Made = 0;
      for (size_t I = Row.size(); I-- > 0;)
        Made = cons(symbolOf(Row[I]), Made);
      Ways.push_back(Made);
    }
    return Ways;
  }
  default:
    return {};
  }
}

SymbolId Machine::symbolOf(const Source::Part &P) {
  switch (P.K) {
  case Source::Part::Rule:
    return symbol(Kind::Rule, P.Index);
  case Source::Part::Text:
    return terminal(state(Mode::Text, P.Index));
  case Source::Part::Bytes:
    return bytesTerminal(Literals[P.Index]);
  case Source::Part::Value:
    return symbol(Kind::Value, P.Index);
  }
  return symbol(Kind::Rule, P.Index);
}

std::vector<std::string> Machine::missingOf(const Head &H,
                                            size_t &Length) const {
  std::string Text = meaningOfString(rawOfCapture(H.Captured));
  Length = Text.size();
  std::vector<std::string> Missing;
  auto Add = [&](const std::string &Name) {
    if (Name.starts_with(Text))
      Missing.push_back(Name.substr(Text.size()));
  };
  for (const auto &[From, Behind] : Tails[H.Tail]) {
    if (From == 0 || Symbols[Seqs[From].first].K != Kind::TakeOther)
      continue;
    uint32_t Object = Symbols[Seqs[From].first].A;
    for (const ObjectRules::Key &K : rulesOf(Object).Keys)
      Add(K.Name);
    for (uint32_t Name : TextSets[Objects[Object][ObjectOthers]])
      Add(Texts[Name]);
  }
  return Missing;
}

bool Machine::isNearExcluded(const Head &H) const {
  size_t Length = 0;
  return !missingOf(H, Length).empty();
}

bool Machine::mayEndKey(const Head &H, std::string_view Bytes) const {
  std::string Text =
      meaningOfString(rawOfCapture(H.Captured) + std::string(Bytes));
  for (const auto &[From, Behind] : Tails[H.Tail])
    if (From != 0 && Symbols[Seqs[From].first].K == Kind::TakeOther &&
        !isExcluded(Symbols[Seqs[From].first].A, Text))
      return true;
  return false;
}

bool Machine::stepKey(Head &H, unsigned char Byte) {
  StateId Next = stepState(H.State, Byte);
  if (Next == Dead)
    return false;
  uint32_t Kept = capture(H.Captured, Byte);
  if (!isKeyLive(H, Next, Kept))
    return false;
  H.State = Next;
  H.Captured = Kept;
  return true;
}

/// Whether some key that begins so is not excluded. Only keys of which there
/// are finitely many can all be.
bool Machine::isKeyLive(const Head &H, StateId State, uint32_t Captured) {
  if (isEndless(State))
    return true;
  Head Next = H;
  Next.State = State;
  Next.Captured = Captured;
  if (States[State].M == Mode::Done)
    return mayEndKey(Next, "");
  if (!isNearExcluded(Next))
    return true;
  // In depth: a text that is excluded ends soon, and others are many.
  for (unsigned Byte = 0; Byte < 256; ++Byte) {
    StateId Following = stepState(State, static_cast<unsigned char>(Byte));
    if (Following != Dead &&
        isKeyLive(Next, Following,
                  capture(Captured, static_cast<unsigned char>(Byte))))
      return true;
  }
  return false;
}

//===- Machine.cpp - Which bytes may follow -------------------------------===//

#include "runtime/Grammar/Machine.h"

#include "runtime/Grammar/StringMeaning.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::grammar;

Machine::Machine(Source From)
    : Pool(std::move(From.Pool)), Json(std::move(From.Json)),
      Rules(std::move(From.Rules)), Literals(std::move(From.Literals)) {
  if (Json)
    Numbers = Json->Numbers;
  state(Mode::Dead);
  Loops.emplace_back(); // of states that have none
  Seqs.emplace_back();
  Tails.emplace_back();
  Texts.emplace_back();
  Captures.resize(2); // 0: none, 1: the empty text.
  TextSets.emplace_back();
  TextSetIds.add({}, 0);
  Place First;
  intern(First); // NoConfig
  if (Json)
    SpaceSymbol = terminal(state(Mode::Space, Json->MaxWhitespace));
  if (!Rules.empty())
    close(First, seq({symbol(Kind::Rule, 0)}), 0);
  else if (Json)
    close(First, seq({SpaceSymbol, symbol(Kind::Value, 0), SpaceSymbol}), 0);
  Start = intern(First);
}

void Machine::allowSteps(size_t Count) {
  Steps = 0;
  MostSteps = Count;
  Pool.allowSteps(Count);
  IsSpent = false;
}

bool Machine::takeStep() {
  ++Steps;
  IsSpent |= stepsTaken() > MostSteps;
  return !IsSpent;
}

SymbolId Machine::symbol(Kind K, uint32_t A, uint32_t B, uint32_t C) {
  auto [Id, IsNew] =
      SymbolIds.add({uint32_t(K), A, B, C}, SymbolId(Symbols.size()));
  if (IsNew) {
    Symbols.push_back({K, A, B, C});
    Bytes += sizeof(Symbol) + 60;
  }
  return Id;
}

SymbolId Machine::terminal(StateId Id, bool IsKept) {
  return symbol(Kind::Terminal, Id, IsKept);
}

SymbolId Machine::bytesTerminal(std::string Text) {
  return terminal(state(Mode::Bytes, text(Text), 0));
}

SeqId Machine::cons(SymbolId First, SeqId Rest) {
  auto [Id, IsNew] = SeqIds.add({First, Rest}, SeqId(Seqs.size()));
  if (IsNew) {
    Seqs.push_back({First, Rest});
    Bytes += 50;
  }
  return Id;
}

SeqId Machine::seq(std::initializer_list<SymbolId> Symbols) {
  SeqId Made = 0;
  for (auto S = std::rbegin(Symbols); S != std::rend(Symbols); ++S)
    Made = cons(*S, Made);
  return Made;
}

/// `Edges` are sorted and differ.
TailId Machine::tail(std::span<const Edge> Edges) {
  if (Edges.empty())
    return 0;
  Row.clear();
  for (auto [Rest, Behind] : Edges)
    Row.insert(Row.end(), {Rest, Behind});
  auto [Id, IsNew] = TailIds.add(Row, TailId(Tails.size()));
  if (IsNew) {
    Bytes += 60 + Edges.size() * 16;
    Tails.emplace_back(Edges.begin(), Edges.end());
  }
  return Id;
}

/// Of edges in any order.
TailId Machine::tailOfAll(std::vector<Edge> &Edges) {
  std::sort(Edges.begin(), Edges.end());
  Edges.erase(std::unique(Edges.begin(), Edges.end()), Edges.end());
  return Edges.size() == 1 && Edges[0] == Edge{0, 0} ? 0 : tail(Edges);
}

void Machine::Place::clear() {
  Heads.clear();
  Beginnings.clear();
  Calls.clear();
  Callers.clear();
  Left.clear();
  Seen.clear();
  SeenLater.clear();
  Ends = false;
}

/// Whether it is seen for the first time.
bool Machine::Place::see(SeqId From, Return Behind) {
  constexpr size_t Few = 32; // Most places have no more.
  const std::pair Edge(From, Behind);
  if (std::find(Seen.begin(), Seen.end(), Edge) != Seen.end())
    return false;
  if (Seen.size() == Few)
    return SeenLater.insert(Edge).second;
  Seen.push_back(Edge);
  return true;
}

/// Adds the heads of what may be read where `From` comes next, then `Behind`.
void Machine::close(Place &To, SeqId From, TailId Behind) {
  To.Left.push_back({From, Behind});
  while (!To.Left.empty()) {
    auto [At, Return] = To.Left.back();
    To.Left.pop_back();
    if (!To.see(At, Return))
      continue;
    if (!takeStep())
      return To.clear();
    if (At != 0) {
      auto [First, Rest] = Seqs[At];
      if (Symbols[First].K != Kind::Terminal) {
        call(To, First, Rest, Return);
        continue;
      }
      StateId State = Symbols[First].A;
      if (goesOn(State))
        To.Beginnings.push_back({State, Symbols[First].B, Rest, Return});
      if (accepts(State))
        To.Left.push_back({Rest, Return});
    } else if (Return < CallBit) {
      To.Ends |= Return == 0;
      To.Left.insert(To.Left.end(), Tails[Return].begin(), Tails[Return].end());
    } else if (Place::Call &Of = To.Calls[Return - CallBit]; !Of.MayBeNothing) {
      Of.MayBeNothing = true;
      for (uint32_t I = Of.Callers; I != UINT32_MAX; I = To.Callers[I].Next)
        To.Left.push_back({To.Callers[I].Rest, To.Callers[I].Behind});
    }
  }
}

/// Where `Callee` comes next, and then the rest.
void Machine::call(Place &To, SymbolId Callee, SeqId Rest, Return Behind) {
  uint32_t Number = Symbols[Callee].Call;
  if (Number >= To.Calls.size() || To.Calls[Number].Callee != Callee) {
    Number = uint32_t(To.Calls.size());
    To.Calls.push_back({Callee});
    for (SeqId Way : ways(Callee))
      To.Left.push_back({Way, CallBit | Number});
    Symbols[Callee].Call = Number;
  }
  Place::Call &Of = To.Calls[Number];
  To.Callers.push_back({Rest, Behind, Of.Callers});
  Of.Callers = uint32_t(To.Callers.size() - 1);
  if (Of.MayBeNothing)
    To.Left.push_back({Rest, Behind});
}

TailId Machine::tailBehind(Place &At, SeqId Rest, Return Behind) {
  // The end of a rule is no place of its own: recursion at the end is a loop.
  TailId Known = tailOf(At, Behind);
  Edge Only{Rest, Known};
  return Rest == 0 ? Known : tail({&Only, 1});
}

/// The tail of a call is what all of its callers go on with.
TailId Machine::tailOf(Place &At, Return Behind) {
  if (Behind < CallBit)
    return Behind;
  uint32_t Number = Behind - CallBit;
  if (At.Calls[Number].Tail)
    return *At.Calls[Number].Tail;
  uint32_t First = At.Calls[Number].Callers;
  TailId Made = 0;
  if (At.Callers[First].Next == UINT32_MAX) {
    Made = tailBehind(At, At.Callers[First].Rest, At.Callers[First].Behind);
  } else {
    std::vector<Edge> All;
    for (uint32_t I = First; I != UINT32_MAX; I = At.Callers[I].Next) {
      auto [Rest, By, Next] = At.Callers[I];
      TailId Known = tailOf(At, By);
      if (Rest != 0 || Known == 0)
        All.push_back({Rest, Known});
      else
        All.insert(All.end(), Tails[Known].begin(), Tails[Known].end());
    }
    Made = tailOfAll(All);
  }
  At.Calls[Number].Tail = Made;
  return Made;
}

/// Adds what follows a terminal that ends with the head.
void Machine::end(Place &To, const Head &H, bool IsAnyKey) {
  if (H.Tail == 0)
    return close(To, 0, 0);
  for (size_t I = 0; I < Tails[H.Tail].size(); ++I) {
    auto [From, Behind] = Tails[H.Tail][I];
    if (From == 0) {
      close(To, From, Behind);
      continue;
    }
    auto [First, Rest] = Seqs[From];
    const Symbol S = Symbols[First];
    if (S.K == Kind::TakeKey) {
      uint32_t Key = rulesOf(S.A).Trie[States[H.State].B].Key;
      if (mayAddKey(S.A, Key))
        close(To, cons(symbol(Kind::AfterKey, S.A, Key), Rest), Behind);
    } else if (S.K == Kind::TakeOther) {
      uint32_t Name = 0;
      if (!IsAnyKey) {
        std::string Text = meaningOfString(rawOfCapture(H.Captured));
        if (isExcluded(S.A, Text))
          continue;
        Name = text(Text);
      }
      close(To, cons(symbol(Kind::AfterOther, S.A, S.B, Name), Rest), Behind);
    } else {
      close(To, From, Behind);
    }
  }
}

/// Heads in the same state are one head with all that may follow.
ConfigId Machine::intern(Place &From) {
  std::vector<Head> &Heads = From.Heads;
  for (const Place::Begun &B : From.Beginnings)
    Heads.push_back({B.State, B.Captured, tailBehind(From, B.Rest, B.Behind)});
  std::sort(Heads.begin(), Heads.end());
  size_t Count = 0;
  for (size_t I = 0; I < Heads.size();) {
    size_t End = I + 1;
    while (End < Heads.size() && Heads[End].State == Heads[I].State &&
           Heads[End].Captured == Heads[I].Captured)
      ++End;
    Head H = Heads[I];
    if (End - I > 1 && Heads[End - 1].Tail != H.Tail) {
      std::vector<Edge> All;
      for (size_t K = I; K < End; ++K) {
        if (Heads[K].Tail == 0)
          All.push_back({0, 0});
        const std::vector<Edge> &More = Tails[Heads[K].Tail];
        All.insert(All.end(), More.begin(), More.end());
      }
      H.Tail = tailOfAll(All);
    }
    Heads[Count++] = H;
    I = End;
  }
  Heads.resize(Count);
  Row.assign(1, From.Ends);
  for (const Head &H : Heads)
    Row.insert(Row.end(), {H.State, H.Captured, H.Tail});
  auto [Id, IsNew] = ConfigIds.add(Row, ConfigId(Configs.size()));
  if (IsNew) {
    Bytes += sizeof(Config) + 60 + Heads.size() * 2 * sizeof(Head);
    Configs.push_back({Heads, From.Ends});
  }
  return Id;
}

ConfigId Machine::step(ConfigId From, unsigned char Byte) {
  const std::array<uint32_t, 2> Key{From, Byte};
  if (auto Known = Following.find(Key))
    return *Known;
  Place &To = Stepping;
  To.clear();
  for (size_t I = 0; I < Configs[From].Heads.size(); ++I) {
    Head H = Configs[From].Heads[I];
    if (H.Captured != 0) {
      if (!stepKey(H, Byte))
        continue;
    } else if ((H.State = stepState(H.State, Byte)) == Dead) {
      continue;
    }
    if (goesOn(H.State))
      To.Heads.push_back(H);
    if (accepts(H.State))
      end(To, H);
  }
  ConfigId Made = intern(To);
  Following.add(Key, Made);
  Bytes += 40;
  return Made;
}

ConfigId Machine::configOf(const Head &H) {
  Place Only;
  Only.Heads.push_back(H);
  return intern(Only);
}

ConfigId Machine::after(const Head &H) {
  // Only behind keys it depends on more.
  bool IsByTail = H.Captured == 0 && !isKey(H.State);
  if (IsByTail && H.Tail < Afters.size() && Afters[H.Tail] != Unknown)
    return Afters[H.Tail];
  Place To;
  end(To, H);
  ConfigId Made = intern(To);
  if (IsByTail) {
    if (H.Tail >= Afters.size())
      Afters.resize(std::max(Tails.size(), 2 * Afters.size()), Unknown);
    Afters[H.Tail] = Made;
  }
  return Made;
}

ConfigId Machine::afterSomeKey(const Head &H) {
  Place To;
  end(To, H, /*IsAnyKey=*/true);
  return intern(To);
}

bool Machine::isComplete(ConfigId Id) const {
  const Config &C = Configs[Id];
  return C.Ends &&
         std::all_of(C.Heads.begin(), C.Heads.end(), [&](const Head &H) {
           return Json && States[H.State].M == Mode::Space;
         });
}

const std::bitset<256> &Machine::nextBytes(ConfigId Id) {
  if (Configs[Id].Next < 0) {
    std::bitset<256> Set;
    for (size_t I = 0; I < Configs[Id].Heads.size(); ++I)
      Set |= firstBytes(Configs[Id].Heads[I].State);
    Configs[Id].Next = int32_t(NextBytes.size());
    NextBytes.push_back(Set);
    Bytes += sizeof(Set);
  }
  return NextBytes[size_t(Configs[Id].Next)];
}

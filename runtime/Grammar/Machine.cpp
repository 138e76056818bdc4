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
  Building First;
  intern(First); // NoConfig
  if (Json)
    SpaceSymbol = terminal(state(Mode::Space, Json->MaxWhitespace));
  if (!Rules.empty())
    close(First, seq({symbol(Kind::Rule, 0)}), 0);
  else if (Json)
    close(First, seq({SpaceSymbol, symbol(Kind::Value, 0), SpaceSymbol}), 0);
  Start = intern(First);
}

SymbolId Machine::symbol(Kind K, uint32_t A, uint32_t B, uint32_t C) {
  auto [Id, IsNew] =
      SymbolIds.add({uint32_t(K), A, B, C}, SymbolId(Symbols.size()));
  if (IsNew) {
    Symbols.push_back({K, A, B, C, false, {}});
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

/// What may follow where the rest of a rule comes first.
TailId Machine::follow(SeqId Rest, TailId Behind) {
  // The end of a rule is no place of its own: recursion at the end is a loop.
  Edge Only{Rest, Behind};
  return Rest == 0 ? Behind : tail({&Only, 1});
}

/// Adds the heads of what may be read where `From` comes next, then `Behind`.
void Machine::close(Building &To, SeqId From, TailId Behind) {
  if (std::find(To.Seen.begin(), To.Seen.end(), std::pair(From, Behind)) !=
      To.Seen.end())
    return;
  To.Seen.push_back({From, Behind});
  if (From == 0) {
    if (Behind == 0)
      To.Ends = true;
    for (size_t I = 0; I < Tails[Behind].size(); ++I) {
      auto [Rest, Next] = Tails[Behind][I];
      close(To, Rest, Next);
    }
    return;
  }
  auto [First, Rest] = Seqs[From];
  if (Symbols[First].K != Kind::Terminal) {
    TailId Following = follow(Rest, Behind);
    // Looked up each time: what is new moves the others.
    size_t Count = ways(First).size();
    for (size_t I = 0; I < Count; ++I)
      close(To, ways(First)[I], Following);
    return;
  }
  StateId State = Symbols[First].A;
  uint32_t Captured = Symbols[First].B;
  if (goesOn(State))
    To.Heads.push_back({State, Captured, follow(Rest, Behind)});
  if (accepts(State))
    close(To, Rest, Behind);
}

/// Adds what follows a terminal that ends with the head.
void Machine::end(Building &To, const Head &H, bool IsAnyKey) {
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
ConfigId Machine::intern(Building &From) {
  std::vector<Head> &Heads = From.Heads;
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
      std::sort(All.begin(), All.end());
      All.erase(std::unique(All.begin(), All.end()), All.end());
      H.Tail = tail(All);
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
  if (auto Known = Steps.find(Key))
    return *Known;
  Building &To = Stepping;
  To.Heads.clear();
  To.Seen.clear();
  To.Ends = false;
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
  Steps.add(Key, Made);
  Bytes += 40;
  return Made;
}

ConfigId Machine::configOf(const Head &H) {
  Building Only;
  Only.Heads.push_back(H);
  return intern(Only);
}

ConfigId Machine::after(const Head &H) {
  // Only behind keys it depends on more.
  bool IsByTail = H.Captured == 0 && !isKey(H.State);
  if (IsByTail && H.Tail < Afters.size() && Afters[H.Tail] != Unknown)
    return Afters[H.Tail];
  Building To;
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
  Building To;
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

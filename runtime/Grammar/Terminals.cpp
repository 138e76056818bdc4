//===- Terminals.cpp - Automata over bytes --------------------------------===//
//
// States of texts in UTF-8, of JSON's strings with their escapes, of numbers,
// of keys and of white space. A state is there only if some text completes it.
//
//===----------------------------------------------------------------------===//

#include "runtime/Grammar/Machine.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::grammar;

StateId Machine::state(Mode M, uint32_t A, uint32_t B, uint32_t C) {
  auto [Id, IsNew] =
      StateIds.add({uint32_t(M), A, B, C}, StateId(States.size()));
  if (!IsNew)
    return Id;
  State S{M};
  S.A = A;
  S.B = B;
  S.C = C;
  switch (M) {
  case Mode::Text:
    S.Accepts = Pool.nullable(A);
    break;
  case Mode::Done:
  case Mode::Space:
    S.Accepts = true;
    break;
  case Mode::Key:
    S.Accepts = C == 1;
    break;
  case Mode::Number:
    S.Accepts = Numbers[A].accepts(B);
    break;
  case Mode::Bytes:
    S.Accepts = B == Texts[A].size();
    break;
  default:
    break;
  }
  States.push_back(S);
  Bytes += sizeof(State) + 60;
  return Id;
}

bool Machine::anyLive(NodeId N, char32_t First, char32_t Last) {
  for (const RegexPool::Edge &E : Pool.edges(N))
    if (E.First <= Last && First <= E.Last)
      return true;
  return false;
}

/// A character of which `Bits` are known and `Missing` bytes are not.
StateId Machine::partly(NodeId N, uint32_t Bits, uint32_t Missing, Mode Whole,
                        Mode Tail, Mode Any) {
  char32_t First = Bits << (6 * Missing);
  char32_t Last = First + (1u << (6 * Missing)) - 1;
  // Without spellings that are too long, and surrogates.
  if (Missing == 2)
    First = std::max<char32_t>(First, 0x800);
  if (Missing == 3)
    First = std::max<char32_t>(First, 0x10000);
  Last = std::min<char32_t>(Last, 0x10ffff);
  if (First > Last || !anyLive(N, First, Last))
    return Dead;
  // Where all go to the same node, it does not matter which it is.
  bool IsPlain = First == Bits << (6 * Missing) &&
                 Last == First + (1u << (6 * Missing)) - 1 &&
                 (Last < 0xd800 || First > 0xdfff);
  for (const RegexPool::Edge &E : Pool.edges(N))
    if (IsPlain && E.First <= First && Last <= E.Last)
      return state(Any, E.Next, uint32_t(Whole), Missing);
  return state(Tail, N, Bits, Missing);
}

/// The first byte of a character.
StateId Machine::character(const State &From, unsigned char Byte, Mode Whole,
                           Mode Tail, Mode Any) {
  if (Byte < 0x80) {
    NodeId Next = Pool.next(From.A, Byte);
    return Next == RegexPool::Nothing ? Dead : state(Whole, Next);
  }
  if (Byte < 0xc2 || Byte > 0xf4)
    return Dead;
  uint32_t Missing = Byte < 0xe0 ? 1 : Byte < 0xf0 ? 2 : 3;
  return partly(From.A, Byte & (0x3f >> Missing), Missing, Whole, Tail, Any);
}

StateId Machine::restOfCharacter(const State &From, unsigned char Byte,
                                 Mode Whole, Mode Tail) {
  if ((Byte & 0xc0) != 0x80)
    return Dead;
  uint32_t Bits = From.B << 6 | (Byte & 0x3f);
  if (From.C == 1) {
    NodeId Next = Pool.next(From.A, Bits);
    return Next == RegexPool::Nothing ? Dead : state(Whole, Next);
  }
  // What the second byte may be depends on the first.
  uint32_t Missing = From.C - 1;
  char32_t First = Bits << (6 * Missing);
  char32_t Last = First + (1u << (6 * Missing)) - 1;
  bool IsLong = From.M == Tail && From.C == 2 && Last < 0x800;
  bool IsLonger = From.C == 3 && Last < 0x10000;
  if (IsLong || IsLonger || First > 0x10ffff || !anyLive(From.A, First, Last))
    return Dead;
  return state(Tail, From.A, Bits, Missing);
}

/// One digit more of \uHHHH.
StateId Machine::hex(const State &From, unsigned Digit) {
  uint32_t Value = From.B << 4 | Digit, Count = From.C + 1;
  if (From.M == Mode::LowHex) {
    // The high surrogate is in the upper bits; a low one is \uDC00 to \uDFFF.
    uint32_t High = From.B >> 16, Low = (From.B & 0xffff) << 4 | Digit;
    if ((Count == 1 && Digit != 0xd) || (Count == 2 && Digit < 0xc))
      return Dead;
    uint32_t Shift = 4 * (4 - Count);
    char32_t Base = 0x10000 + ((High - 0xd800) << 10);
    char32_t First = Base, Last = Base + 0x3ff;
    if (Count > 1) {
      First = Base + ((Low << Shift) & 0x3ff);
      Last = First + (1u << Shift) - 1;
    }
    if (Count == 4) {
      NodeId Next = Pool.next(From.A, First);
      return Next == RegexPool::Nothing ? Dead : state(Mode::Chars, Next);
    }
    if (!anyLive(From.A, First, Last))
      return Dead;
    return state(Mode::LowHex, From.A, High << 16 | Low, Count);
  }
  if (Count == 4) {
    if (Value >= 0xd800 && Value < 0xdc00) {
      char32_t First = 0x10000 + ((Value - 0xd800) << 10);
      return anyLive(From.A, First, First + 0x3ff)
                 ? state(Mode::LowSlash, From.A, Value)
                 : Dead;
    }
    NodeId Next = Pool.next(From.A, Value);
    return Next == RegexPool::Nothing ? Dead : state(Mode::Chars, Next);
  }
  uint32_t Shift = 4 * (4 - Count);
  char32_t First = Value << Shift, Last = First + (1u << Shift) - 1;
  bool Lives = anyLive(From.A, First, Last);
  // High surrogates lead beyond U+FFFF.
  char32_t High = std::max<char32_t>(First, 0xd800);
  char32_t HighEnd = std::min<char32_t>(Last, 0xdbff);
  if (!Lives && High <= HighEnd)
    Lives = anyLive(From.A, 0x10000 + ((High - 0xd800) << 10),
                    0x10000 + ((HighEnd - 0xd800) << 10) + 0x3ff);
  return Lives ? state(Mode::Hex, From.A, Value, Count) : Dead;
}

static int hexDigit(unsigned char Byte) {
  if (Byte >= '0' && Byte <= '9')
    return Byte - '0';
  unsigned char Lower = Byte | 32;
  return Lower >= 'a' && Lower <= 'f' ? Lower - 'a' + 10 : -1;
}

StateId Machine::compute(StateId Id, unsigned char Byte) {
  const State S = States[Id];
  if (!takeStep())
    return Dead;
  switch (S.M) {
  case Mode::Dead:
  case Mode::Done:
    return Dead;
  case Mode::Text:
    return character(S, Byte, Mode::Text, Mode::TextTail, Mode::TextAny);
  case Mode::TextTail:
    return restOfCharacter(S, Byte, Mode::Text, Mode::TextTail);
  case Mode::CharsTail:
    return restOfCharacter(S, Byte, Mode::Chars, Mode::CharsTail);
  case Mode::TextAny:
  case Mode::CharsAny:
    if ((Byte & 0xc0) != 0x80)
      return Dead;
    return S.C == 1 ? state(Mode(S.B), S.A) : state(S.M, S.A, S.B, S.C - 1);
  case Mode::Open:
    return Byte == '"' ? state(Mode::Chars, S.A) : Dead;
  case Mode::Chars:
    if (Byte == '"')
      return Pool.nullable(S.A) ? state(Mode::Done) : Dead;
    if (Byte == '\\')
      return Pool.edges(S.A).empty() ? Dead : state(Mode::Escape, S.A);
    if (Byte < 0x20)
      return Dead;
    return character(S, Byte, Mode::Chars, Mode::CharsTail, Mode::CharsAny);
  case Mode::Escape: {
    constexpr std::string_view Letters = "\"\\/bfnrt";
    constexpr std::string_view Meanings = "\"\\/\b\f\n\r\t";
    if (Byte == 'u')
      return state(Mode::Hex, S.A);
    size_t At = Letters.find(static_cast<char>(Byte));
    if (At == Letters.npos)
      return Dead;
    NodeId Next = Pool.next(S.A, static_cast<unsigned char>(Meanings[At]));
    return Next == RegexPool::Nothing ? Dead : state(Mode::Chars, Next);
  }
  case Mode::Hex:
  case Mode::LowHex: {
    int Digit = hexDigit(Byte);
    return Digit < 0 ? Dead : hex(S, unsigned(Digit));
  }
  case Mode::LowSlash:
    return Byte == '\\' ? state(Mode::LowU, S.A, S.B) : Dead;
  case Mode::LowU:
    return Byte == 'u' ? state(Mode::LowHex, S.A, S.B << 16) : Dead;
  case Mode::Key: {
    const ObjectRules &R = rulesOf(S.A);
    if (S.C == 1)
      return Dead;
    // The first quote is before the trie, the last in it.
    if (S.C == 2)
      return Byte == '"' ? state(Mode::Key, S.A, 0, 0) : Dead;
    for (auto [Known, Child] : R.Trie[S.B].Children) {
      if (Known != Byte)
        continue;
      const ObjectRules::TrieNode &N = R.Trie[Child];
      bool Any = std::any_of(N.Below.begin(), N.Below.end(),
                             [&](uint32_t K) { return mayAddKey(S.A, K); });
      return Any ? state(Mode::Key, S.A, Child, N.Key != UINT32_MAX) : Dead;
    }
    return Dead;
  }
  case Mode::Number: {
    uint32_t Next = Numbers[S.A].next(S.B, Byte);
    return Next == NumberAutomaton::Dead ? Dead
                                         : state(Mode::Number, S.A, Next);
  }
  case Mode::Bytes:
    return S.B < Texts[S.A].size() &&
                   static_cast<unsigned char>(Texts[S.A][S.B]) == Byte
               ? state(Mode::Bytes, S.A, S.B + 1)
               : Dead;
  case Mode::Space: {
    uint32_t Cost = Byte == ' '                    ? 1
                    : Byte == '\t'                 ? 2
                    : Byte == '\n' || Byte == '\r' ? 16
                                                   : UINT32_MAX;
    return Cost <= S.A ? state(Mode::Space, S.A - Cost) : Dead;
  }
  }
  return Dead;
}

StateId Machine::stepState(StateId From, unsigned char Byte) {
  if (States[From].Table < 0) {
    // Of many states little is asked.
    constexpr uint32_t Few = 16;
    if (States[From].Asked++ < Few)
      return compute(From, Byte);
    States[From].Table = int32_t(Tables.size());
    Tables.emplace_back().fill(UINT32_MAX);
    Bytes += sizeof(Tables.back());
  }
  size_t Table = size_t(States[From].Table);
  if (StateId Known = Tables[Table][Byte]; Known != UINT32_MAX)
    return Known;
  StateId Next = compute(From, Byte);
  Tables[Table][Byte] = Next;
  return Next;
}

bool Machine::goesOn(StateId Id) {
  if (States[Id].GoesOn >= 0)
    return States[Id].GoesOn == 1;
  bool Any = false;
  // All but these states of texts end only where nothing can follow.
  switch (States[Id].M) {
  case Mode::Dead:
  case Mode::Done:
    break;
  case Mode::Text:
    Any = Pool.goesOn(States[Id].A);
    break;
  case Mode::Number:
  case Mode::Bytes:
  case Mode::Space:
  case Mode::Key: {
    const std::bitset<256> First = firstBytes(Id);
    for (unsigned Byte = 0; Byte < 256 && !Any; ++Byte)
      if (First.test(Byte))
        Any = stepState(Id, static_cast<unsigned char>(Byte)) != Dead;
    break;
  }
  default:
    Any = true;
  }
  States[Id].GoesOn = Any;
  return Any;
}

std::optional<std::pair<uint32_t, uint32_t>>
Machine::lengths(StateId Id) const {
  if (States[Id].M != Mode::Chars)
    return std::nullopt;
  return Pool.lengths(States[Id].A);
}

std::bitset<256> Machine::firstBytes(StateId Id) {
  const State S = States[Id];
  std::bitset<256> Set;
  auto Add = [&](std::string_view Some) {
    for (char C : Some)
      Set.set(static_cast<unsigned char>(C));
  };
  auto AddRange = [&](unsigned First, unsigned Last) {
    for (unsigned Byte = First; Byte <= Last; ++Byte)
      Set.set(Byte);
  };
  switch (S.M) {
  case Mode::Dead:
  case Mode::Done:
    break;
  case Mode::Text:
  case Mode::Chars:
    for (const RegexPool::Edge &E : Pool.edges(S.A)) {
      if (E.First < 0x80)
        AddRange(E.First, std::min<char32_t>(E.Last, 0x7f));
      if (E.Last >= 0x80)
        AddRange(0xc2, 0xf4);
    }
    if (S.M == Mode::Chars)
      Add("\"\\");
    break;
  case Mode::TextTail:
  case Mode::TextAny:
  case Mode::CharsTail:
  case Mode::CharsAny:
    AddRange(0x80, 0xbf);
    break;
  case Mode::Open:
    Add("\"");
    break;
  case Mode::Escape:
    Add("\"\\/bfnrtu");
    break;
  case Mode::Hex:
  case Mode::LowHex:
    Add("0123456789abcdefABCDEF");
    break;
  case Mode::LowSlash:
    Add("\\");
    break;
  case Mode::LowU:
    Add("u");
    break;
  case Mode::Key:
    if (S.C == 2)
      Add("\"");
    if (S.C == 0)
      for (auto [Byte, Child] : rulesOf(S.A).Trie[S.B].Children)
        Set.set(Byte);
    break;
  case Mode::Number:
    Add("-+.eE0123456789");
    break;
  case Mode::Bytes:
    if (S.B < Texts[S.A].size())
      Add(std::string_view(Texts[S.A]).substr(S.B, 1));
    break;
  case Mode::Space:
    Add(" \t\n\r");
    break;
  }
  return Set;
}

std::optional<Machine::Run> Machine::run(StateId Id) {
  const State S = States[Id];
  if (S.M != Mode::Chars && S.M != Mode::Text)
    return std::nullopt;
  std::optional<RegexPool::Run> Of = Pool.run(S.A);
  if (!Of)
    return std::nullopt;
  return Run{state(S.M, Of->Any), Of->Min, Of->Max, S.M == Mode::Chars};
}

namespace {

/// The characters of UTF-8 that begin with a byte.
struct Lead {
  char32_t First = 0, Last = 0;
  uint32_t Count = 0; ///< None begins with some bytes.
};

} // namespace

/// Of the bytes from 0xc0 on.
static constexpr auto Leads = [] {
  std::array<Lead, 64> All{};
  for (uint32_t Byte = 0xc2; Byte <= 0xf4; ++Byte) {
    Lead &L = All[Byte - 0xc0];
    if (Byte < 0xe0)
      L = {(Byte & 0x1f) << 6, ((Byte & 0x1f) << 6) + 0x3f};
    else if (Byte < 0xf0)
      L = {(Byte & 0xf) << 12, ((Byte & 0xf) << 12) + 0xfff};
    else
      L = {(Byte & 7) << 18, ((Byte & 7) << 18) + 0x3ffff};
    // Shorter forms, surrogates, and what is beyond Unicode.
    L.First = Byte == 0xe0 ? 0x800 : Byte == 0xf0 ? 0x10000 : L.First;
    L.Last = Byte == 0xed ? 0xd7ff : Byte == 0xf4 ? 0x10ffff : L.Last;
    L.Count = L.Last - L.First + 1;
  }
  return All;
}();

const Machine::Loop &Machine::loopOf(StateId Id) {
  if (States[Id].Loop >= 0)
    return Loops[size_t(States[Id].Loop)];
  const State S = States[Id];
  Loop Made;
  if ((S.M == Mode::Chars || S.M == Mode::Text) && Pool.mayLoop(S.A)) {
    std::array<uint32_t, Leads.size()> Stay{}, Leave{};
    for (const RegexPool::Edge &E : Pool.edges(S.A)) {
      bool IsLoop = E.Next == S.A;
      for (char32_t Code = E.First; Code <= E.Last && Code < 128; ++Code)
        if (S.M == Mode::Text ||
            (Code >= 0x20 && Code != U'"' && Code != U'\\'))
          (IsLoop ? Made.Stay : Made.Leave).set(static_cast<uint8_t>(Code));
      // Ranges do not overlap, and have no surrogates.
      for (size_t I = 0; I < Leads.size(); ++I)
        if (Leads[I].Count > 0 && E.First <= Leads[I].Last &&
            E.Last >= Leads[I].First)
          (IsLoop ? Stay : Leave)[I] += std::min(E.Last, Leads[I].Last) -
                                        std::max(E.First, Leads[I].First) + 1;
    }
    for (size_t I = 0; I < Leads.size(); ++I) {
      auto Byte = static_cast<uint8_t>(0xc0 + I);
      if (Leads[I].Count > 0 && Stay[I] == Leads[I].Count)
        Made.Stay.set(Byte);
      else if (Stay[I] + Leave[I] > 0)
        Made.Leave.set(Byte);
    }
    if (S.M == Mode::Chars)
      for (uint8_t Byte : {'"', '\\'})
        Made.Leave.set(Byte);
  }
  States[Id].Loop = 0;
  if (Made.Stay.any()) {
    States[Id].Loop = int32_t(Loops.size());
    Loops.push_back(Made);
    Bytes += sizeof(Loop);
  }
  return Loops[size_t(States[Id].Loop)];
}

StateId Machine::behindCharacter(StateId Id, uint8_t Byte) {
  if (Byte < 0x80)
    return stepState(Id, Byte);
  const State S = States[Id];
  if (Byte < 0xc0 || (S.M != Mode::Chars && S.M != Mode::Text))
    return Dead;
  const Lead &L = Leads[size_t(Byte) - 0xc0];
  for (const RegexPool::Edge &E : Pool.edges(S.A))
    if (L.Count > 0 && E.First <= L.First && L.Last <= E.Last)
      return state(S.M, E.Next);
  return Dead;
}

StateId Machine::withoutFarBounds(StateId Id, uint32_t Near) {
  const State S = States[Id];
  if (S.M != Mode::Chars && S.M != Mode::Text && S.M != Mode::Open)
    return Id;
  NodeId Same = Pool.withoutFarBounds(S.A, Near);
  return Same == S.A || Same == RegexPool::Nothing ? Id : state(S.M, Same);
}

bool Machine::isEndless(StateId Id) const {
  Mode M = States[Id].M;
  return (M == Mode::Chars || M == Mode::Open) && Pool.endless(States[Id].A);
}

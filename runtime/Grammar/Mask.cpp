//===- Mask.cpp - Which tokens may follow ---------------------------------===//

#include "runtime/Grammar/Mask.h"

#include "runtime/Grammar/MaskBits.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::grammar;

void MaskMaker::addTokens(uint32_t Node) {
  const TokenTable::Node &N = Tokens.nodes()[Node];
  for (uint32_t I = 0; I < N.Count; ++I)
    setBit(Out, Tokens.ids()[N.Begin + I]);
}

/// All tokens below the node, of which the text so far is a part.
void MaskMaker::walk(ConfigId Id, uint32_t Node) {
  const auto &Nodes = Tokens.nodes();
  // What many tokens do in one terminal is looked up.
  constexpr uint32_t ManyNodes = 64;
  if (Nodes[Node].End - Node > ManyNodes) {
    for (size_t I = 0; I < M.heads(Id).size(); ++I) {
      Machine::Head H = M.heads(Id)[I];
      if (H.Captured == 0 && !M.isKey(H.State))
        addPlain(H, Node);
      else
        step(M.heads(Id).size() == 1 ? Id : M.configOf(H), Node);
    }
    return;
  }
  step(Id, Node);
}

/// The same, byte after byte.
void MaskMaker::step(ConfigId Id, uint32_t Node) {
  const auto &Nodes = Tokens.nodes();
  for (uint32_t Child = Node + 1; Child < Nodes[Node].End;
       Child = Nodes[Child].End) {
    if (!M.nextBytes(Id).test(Nodes[Child].Byte))
      continue;
    ConfigId Next = M.step(Id, Nodes[Child].Byte);
    if (Next == Machine::NoConfig)
      continue;
    addTokens(Child);
    walk(Next, Child);
  }
}

std::string MaskMaker::pathOf(uint32_t Node) const {
  std::string Path;
  for (; Node != 0; Node = Tokens.nodes()[Node].Parent)
    Path += static_cast<char>(Tokens.nodes()[Node].Byte);
  std::reverse(Path.begin(), Path.end());
  return Path;
}

/// A token's first bytes, up to `Node`, end the terminal of the head, which is
/// a key.
void MaskMaker::addCrossing(const Machine::Head &H, uint32_t Node,
                            StateId Ended, const std::string &Bytes) {
  if (H.Captured != 0)
    return addKeyEnd(H, Node, Bytes);
  if (!HasLast || LastEnded != Ended) {
    Machine::Head Behind = H;
    Behind.State = Ended;
    LastAfter = M.after(Behind);
    LastEnded = Ended;
    HasLast = true;
  }
  if (LastAfter == Machine::NoConfig)
    return;
  addTokens(Node);
  walk(LastAfter, Node);
}

/// The same of a key that has no name in the schema.
void MaskMaker::addKeyEnd(const Machine::Head &H, uint32_t Node,
                          const std::string &Bytes) {
  bool IsPlain = Bytes.find('\\') == Bytes.npos;
  bool MayBeExcluded =
      !Missing.empty() &&
      (!IsPlain || Missing.contains(Bytes.substr(0, Bytes.size() - 1)) ||
       !M.lengths(H.State));
  if (MayBeExcluded && !M.mayEndKey(H, Bytes))
    return;
  // To write the same key again takes ':0,"', the key and a quote.
  if (Tokens.nodes()[Node].Height >= 5 + KeyLength) {
    ConfigId Id = M.configOf(H);
    for (char C : Bytes)
      Id = M.step(Id, static_cast<unsigned char>(C));
    if (Id == Machine::NoConfig)
      return;
    addTokens(Node);
    return walk(Id, Node);
  }
  if (!HasLast) {
    LastAfter = M.afterSomeKey(H);
    HasLast = true;
  }
  if (LastAfter == Machine::NoConfig)
    return;
  addTokens(Node);
  walk(LastAfter, Node);
}

/// Takes out the tokens behind which every key would be an excluded one.
void MaskMaker::dropExcluded(const Machine::Head &H, uint32_t Node) {
  const auto &Nodes = Tokens.nodes();
  for (uint32_t Child = Node + 1; Child < Nodes[Node].End;
       Child = Nodes[Child].End) {
    Machine::Head Next = H;
    if (M.stepState(H.State, Nodes[Child].Byte) == Machine::Dead)
      continue;
    if (!M.stepKey(Next, Nodes[Child].Byte)) {
      for (uint32_t Below = Child; Below < Nodes[Child].End; ++Below)
        for (uint32_t I = 0; I < Nodes[Below].Count; ++I)
          clearBit(Own, Tokens.ids()[Nodes[Below].Begin + I]);
      continue;
    }
    size_t Length = 0;
    if (!M.missingOf(Next, Length).empty())
      dropExcluded(Next, Child);
  }
}

/// Tokens that go on with what follows.
void MaskMaker::addExits(ConfigId After, const Exits &From, uint32_t Min,
                         uint32_t Max) {
  if (From.empty())
    return;
  const std::bitset<256> First = M.nextBytes(After);
  for (unsigned Byte = 0; Byte < 256; ++Byte) {
    if (!First.test(Byte))
      continue;
    std::span<const Exits::Exit> Some = From.of(static_cast<uint8_t>(Byte));
    if (Some.empty())
      continue;
    ConfigId Next = M.step(After, static_cast<unsigned char>(Byte));
    if (Next == Machine::NoConfig)
      continue;
    for (const Exits::Exit &E : Some) {
      if (E.Chars < Min || E.Chars > Max)
        continue;
      addTokens(E.Node);
      walk(Next, E.Node);
    }
  }
}

/// Of a head that ends in one way, wherever it ends: the tokens below `Node`.
void MaskMaker::addPlain(const Machine::Head &H, uint32_t Node) {
  ConfigId After = M.after(H);
  bool Ends = After != Machine::NoConfig;
  if (auto Lengths = M.lengths(H.State); Lengths && Node == 0) {
    const StringTokens &Strings = Tokens.strings();
    auto [Min, Max] = *Lengths;
    Strings.Inside.addUpTo(Max, Out);
    if (!Ends)
      return;
    for (const StringTokens::Quote &Q : Strings.Quotes)
      if (Q.Chars >= Min && Q.Chars <= Max)
        addTokens(Q.Node);
    return addExits(After, Strings.Behind, Min, Max);
  }
  StateId Near = nearOf(H.State, Node);
  // A state of its own for each number of characters would be a walk for each.
  if (auto Of = M.run(Near); Of && Ends && Node == 0 && Of->Any != Near &&
                             (Of->Min > 1 || Of->Max != RegexPool::Unbounded))
    return addRun(*Of, After);
  Inside &Found = insideOf(Near, Node);
  addBits(Out, Found.Bits);
  for (int32_t Token : Found.Few)
    setBit(Out, Token);
  if (!Ends)
    return;
  for (const Crossing &C : Found.Ends)
    addTokens(C.Node);
  addExits(After, Found.Behind, 0, UINT32_MAX);
  addExits(
      After,
      freeEnds(Near, Node, /*IsCounted=*/false, M.nextBytes(After), Found.Free),
      0, UINT32_MAX);
}

void MaskMaker::addRun(const Machine::Run &Of, ConfigId After) {
  const Inside &Any = insideOf(Of.Any, 0);
  std::vector<uint64_t> Few;
  if (Any.Bits.empty()) {
    Few.resize(Tokens.words());
    for (int32_t Token : Any.Few)
      setBit(Few, Token);
  }
  const TokensByLength &Lengths =
      Of.IsString ? Tokens.strings().Inside : Tokens.byLength();
  Lengths.addUpTo(Of.Max, Out, Any.Bits.empty() ? Few : Any.Bits);
  Counted &Found = countedOf(Of);
  for (const Counted::Quote &Q : Found.Quotes)
    if (Q.Chars >= Of.Min && Q.Chars <= Of.Max)
      addTokens(Q.Node);
  addExits(After, Found.Behind, Of.Min, Of.Max);
  addExits(
      After,
      freeEnds(Of.Any, 0, /*IsCounted=*/true, M.nextBytes(After), Found.Free),
      Of.Min, Of.Max);
}

void MaskMaker::addHead(const Machine::Head &H) {
  if (H.Captured == 0 && !M.isKey(H.State))
    return addPlain(H, 0);
  HasLast = false;
  Missing.clear();
  if (H.Captured != 0)
    for (std::string &Name : M.missingOf(H, KeyLength))
      Missing.insert(std::move(Name));
  // Of keys of which there are not endlessly many, those that are excluded may
  // be all that are left.
  bool Drops = !Missing.empty() && !M.isEndless(H.State);
  std::span<uint64_t> To = Out;
  if (Drops) {
    Own.assign(Out.size(), 0);
    To = Own;
  }
  auto AddOwn = [&] {
    if (!Drops)
      return;
    dropExcluded(H, 0);
    addBits(Out, Own);
  };
  if (auto Lengths = M.lengths(H.State)) {
    const StringTokens &Strings = Tokens.strings();
    auto [Min, Max] = *Lengths;
    Strings.Inside.addUpTo(Max, To);
    AddOwn();
    for (const StringTokens::Quote &Q : Strings.Quotes)
      if (Q.Chars >= Min && Q.Chars <= Max)
        addCrossing(H, Q.Node, M.done(), Q.Bytes);
    return;
  }
  const Inside &Found = insideOf(nearOf(H.State, 0), 0);
  addBits(To, Found.Bits);
  for (int32_t Token : Found.Few)
    setBit(To, Token);
  AddOwn();
  for (const Crossing &C : Found.Ends)
    addCrossing(H, C.Node, C.State, pathOf(C.Node));
}

void MaskMaker::fill(ConfigId Id, std::span<uint64_t> Words) {
  std::fill(Words.begin(), Words.end(), 0);
  auto Known = Masks.find(Id);
  if (Known == Masks.end()) {
    std::vector<uint64_t> Made(Tokens.words());
    Out = Made;
    for (size_t I = 0; I < M.heads(Id).size(); ++I)
      addHead(Machine::Head(M.heads(Id)[I]));
    constexpr size_t MostMasks = 128;
    if (Masks.size() >= MostMasks)
      Masks.clear();
    Known = Masks.emplace(Id, std::move(Made)).first;
  }
  std::copy_n(Known->second.begin(),
              std::min(Words.size(), Known->second.size()), Words.begin());
}

//===- Mask.cpp - Which tokens may follow ---------------------------------===//

#include "runtime/Grammar/Mask.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::grammar;

static void setBit(std::span<uint64_t> Words, int32_t Token) {
  Words[static_cast<size_t>(Token) / 64] |= uint64_t{1} << (Token % 64);
}

void MaskMaker::addTokens(uint32_t Node) {
  const TokenTable::Node &N = Tokens.nodes()[Node];
  for (uint32_t I = 0; I < N.Count; ++I)
    setBit(Out, Tokens.ids()[N.Begin + I]);
}

/// All tokens below the node, of which the text so far is a part.
void MaskMaker::walk(ConfigId Id, uint32_t Node) {
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

void MaskMaker::visit(StateId Id, uint32_t Node, Inside &Found) {
  const auto &Nodes = Tokens.nodes();
  for (uint32_t Child = Node + 1; Child < Nodes[Node].End;
       Child = Nodes[Child].End) {
    StateId Next = M.stepState(Id, Nodes[Child].Byte);
    if (Next == Machine::Dead)
      continue;
    if (M.accepts(Next))
      Found.Crossings.push_back({Child, Next});
    if (!M.goesOn(Next))
      continue;
    const TokenTable::Node &N = Nodes[Child];
    for (uint32_t I = 0; I < N.Count; ++I)
      Found.Few.push_back(Tokens.ids()[N.Begin + I]);
    visit(Next, Child, Found);
  }
}

const MaskMaker::Inside &MaskMaker::insideOf(StateId Id) {
  auto [At, IsNew] = Insides.try_emplace(Id);
  Inside &Found = At->second;
  if (!IsNew)
    return Found;
  visit(Id, 0, Found);
  if (Found.Few.size() > Tokens.words()) {
    Found.Bits.resize(Tokens.words());
    for (int32_t Token : Found.Few)
      setBit(Found.Bits, Token);
    Found.Few = {};
  }
  Found.Crossings.shrink_to_fit();
  Bytes += 150 + Found.Bits.size() * 8 + Found.Few.capacity() * 4 +
           Found.Crossings.size() * sizeof(Crossing);
  return Found;
}

std::string MaskMaker::pathOf(uint32_t Node) const {
  std::string Path;
  for (; Node != 0; Node = Tokens.nodes()[Node].Parent)
    Path += static_cast<char>(Tokens.nodes()[Node].Byte);
  std::reverse(Path.begin(), Path.end());
  return Path;
}

/// A token's first bytes, up to `Node`, end the terminal of the head.
void MaskMaker::addCrossing(const Machine::Head &H, uint32_t Node,
                            StateId Ended) {
  if (H.Captured != 0)
    return addKeyEnd(H, Node, pathOf(Node));
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
        for (uint32_t I = 0; I < Nodes[Below].Count; ++I) {
          auto Id = static_cast<size_t>(Tokens.ids()[Nodes[Below].Begin + I]);
          Own[Id / 64] &= ~(uint64_t{1} << (Id % 64));
        }
      continue;
    }
    size_t Length = 0;
    if (!M.missingOf(Next, Length).empty())
      dropExcluded(Next, Child);
  }
}

void MaskMaker::addHead(const Machine::Head &H) {
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
    for (size_t I = 0; I < Own.size(); ++I)
      Out[I] |= Own[I];
  };
  if (auto Lengths = M.lengths(H.State)) {
    const StringTokens &Strings = Tokens.strings();
    auto [Min, Max] = *Lengths;
    const std::vector<uint64_t> &Bits = Strings.upTo(Max);
    for (size_t I = 0; I < Bits.size(); ++I)
      To[I] |= Bits[I];
    AddOwn();
    for (const StringTokens::Quote &Q : Strings.Quotes) {
      if (Q.Chars < Min || Q.Chars > Max)
        continue;
      if (H.Captured != 0)
        addKeyEnd(H, Q.Node, Q.Bytes);
      else
        addCrossing(H, Q.Node, M.done());
    }
    return;
  }
  // Bounds that no token reaches make no difference.
  uint32_t Longest = Tokens.nodes()[0].Height;
  const Inside &Found =
      insideOf(Longest < 255 ? M.withoutFarBounds(H.State, Longest) : H.State);
  for (size_t I = 0; I < Found.Bits.size(); ++I)
    To[I] |= Found.Bits[I];
  for (int32_t Token : Found.Few)
    setBit(To, Token);
  AddOwn();
  for (const Crossing &C : Found.Crossings)
    addCrossing(H, C.Node, C.State);
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

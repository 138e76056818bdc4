//===- TerminalMask.cpp - What a terminal allows by itself ----------------===//

#include "runtime/Grammar/Mask.h"

#include "runtime/Grammar/MaskBits.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::grammar;

static uint64_t keyOf(StateId Id, uint32_t Node) {
  return uint64_t(Id) << 32 | Node;
}

/// Whether all that lies below a node only leads around the loop.
static bool isWithin(const TokenTable::Below &Below,
                     const Machine::Loop &Loop) {
  return Below.Leads.isWithin(Loop.Stay) && (!Below.Others || Below.IsUtf8);
}

/// Subtrees that are smaller are not worth to be looked at as a whole.
static constexpr uint32_t FewNodes = 4;

/// The children of a node, at the root those that the state may step to: it has
/// a child for nearly every byte.
template <typename Visitor>
void MaskMaker::eachChild(StateId Id, uint32_t Node, Visitor Visit) {
  const auto &Nodes = Tokens.nodes();
  if (Node != 0) {
    for (uint32_t Child = Node + 1; Child < Nodes[Node].End;
         Child = Nodes[Child].End)
      Visit(Child);
    return;
  }
  const std::bitset<256> First = M.firstBytes(Id);
  for (unsigned Byte = 0; Byte < 256; ++Byte)
    if (First.test(Byte))
      if (uint32_t Child = Tokens.childOfRoot(static_cast<uint8_t>(Byte)))
        Visit(Child);
}

/// Tokens [Begin, End) of ids().
void MaskMaker::addIds(uint32_t Begin, uint32_t End, Inside &Found) {
  const int32_t *Ids = Tokens.ids().data();
  if (Found.Bits.empty())
    Found.Few.insert(Found.Few.end(), Ids + Begin, Ids + End);
  else
    for (uint32_t I = Begin; I < End; ++I)
      setBit(Found.Bits, Ids[I]);
}

/// The tokens at and below a node, those of `Of` if it is not empty.
void MaskMaker::addBelow(uint32_t Node, std::span<const uint64_t> Of,
                         Inside &Found) {
  uint32_t Begin = Tokens.nodes()[Node].Begin, End = Tokens.idsEnd(Node);
  std::span<const uint64_t> All = Tokens.index().below(Node);
  if (!All.empty()) {
    Found.Bits.resize(Tokens.words());
    addCommonBits(Found.Bits, All, Of.empty() ? All : Of);
    return;
  }
  if (Of.empty())
    return addIds(Begin, End, Found);
  Found.Bits.resize(Tokens.words());
  for (uint32_t I = Begin; I < End; ++I)
    if (int32_t Id = Tokens.ids()[I]; testBit(Of, Id))
      setBit(Found.Bits, Id);
}

/// The tokens of `Of` that begin with bytes of the set, of which there are
/// `Count` or fewer.
void MaskMaker::addBeginning(const LeadSet &With, size_t Count,
                             std::span<const uint64_t> Of, Inside &Found) {
  const auto &Nodes = Tokens.nodes();
  // The smaller part is looked at one by one.
  bool TakesOut = Count > Tokens.ids().size() / 2;
  std::vector<uint64_t> Left;
  if (TakesOut)
    Left.assign(Of.begin(), Of.end());
  for (uint32_t Child = 1; Child < Nodes.size(); Child = Nodes[Child].End) {
    if (With.test(Nodes[Child].Byte) == TakesOut)
      continue;
    if (!TakesOut)
      addBelow(Child, Of, Found);
    else if (auto All = Tokens.index().below(Child); !All.empty())
      clearBits(Left, All);
    else
      for (uint32_t I = Nodes[Child].Begin; I < Tokens.idsEnd(Child); ++I)
        clearBit(Left, Tokens.ids()[I]);
  }
  Found.Bits.resize(Tokens.words());
  addBits(Found.Bits, Left);
}

/// So many tokens are better found by their characters than by a walk.
static constexpr size_t ManyTokens = 256;

/// Whether the node's path, but for the first character, is within the loop,
/// and many tokens are below.
bool MaskMaker::isManyOfLoop(uint32_t Node, const Machine::Loop &Loop) const {
  const auto &Nodes = Tokens.nodes();
  if (!Loop.Stay.any() || Tokens.idsEnd(Node) - Nodes[Node].Begin < ManyTokens)
    return false;
  for (; Node != 0; Node = Nodes[Node].Parent)
    if (Nodes[Node].Byte >= 0x80 ||
        (Nodes[Node].Parent != 0 && !Loop.Stay.test(Nodes[Node].Byte)))
      return false;
  return true;
}

std::span<const uint64_t> MaskMaker::onlyOf(const LeadSet &Leads) {
  auto [At, IsNew] = Onlys.try_emplace(Leads);
  if (IsNew) {
    At->second = Tokens.index().only(Leads);
    Bytes += 100 + At->second.size() * 8;
  }
  return At->second;
}

/// What is not around the loop of a state, below a node where it is reached.
void MaskMaker::leaveLoop(StateId Id, uint32_t Node, const Machine::Loop &Loop,
                          Inside &Found) {
  if (!Tokens.below(Node).Leads.meets(Loop.Leave))
    return;
  eachChild(Id, Node, [&](uint32_t Child) {
    const TokenTable::Node &N = Tokens.nodes()[Child];
    if (!Loop.Stay.test(N.Byte))
      visitChild(Id, Child, Found);
    else if (N.End == Child + 1)
      return; // Most are leaves: nothing of them needs to be read.
    else if (N.Byte < 0x80)
      leaveLoop(Id, Child, Loop, Found);
    else if (Tokens.below(Child).Leads.meets(Loop.Leave))
      visitChild(Id, Child, Found);
  });
}

/// Whether the bytes before a node lead to the loop of `Next`, by a character
/// of `First` that leads there from `Id`.
bool MaskMaker::isBehindLoop(StateId Id, const LeadSet &First, StateId Next,
                             const Machine::Loop &Loop, uint32_t Node) {
  const auto &Nodes = Tokens.nodes();
  bool IsAscii = true;
  uint32_t At = Nodes[Node].Parent;
  for (; Nodes[At].Parent != 0; At = Nodes[At].Parent) {
    uint8_t Byte = Nodes[At].Byte;
    IsAscii &= Byte < 0x80;
    if (beginsCharacter(Byte) && !Loop.Stay.test(Byte))
      return false;
  }
  if (!First.test(Nodes[At].Byte))
    return false;
  if (IsAscii && Nodes[At].Byte < 0x80)
    return true;
  for (char Byte : pathOf(Nodes[Node].Parent))
    Id = M.stepState(Id, static_cast<unsigned char>(Byte));
  return Id == Next;
}

/// What is not around the loop of `Next`, of many tokens that begin with
/// characters of `First`, where the bytes that lead out of it are rare.
bool MaskMaker::leaveByBytes(StateId Id, const LeadSet &First, size_t Count,
                             StateId Next, const Machine::Loop &Loop,
                             Inside &Found) {
  size_t Nodes = 0;
  std::vector<uint8_t> Bytes;
  for (unsigned Byte = 0; Byte < 256; ++Byte)
    if (Loop.Leave.test(static_cast<uint8_t>(Byte))) {
      Bytes.push_back(static_cast<uint8_t>(Byte));
      Nodes += Tokens.nodesOf(Bytes.back()).size();
    }
  if (Nodes > Count / 4)
    return false;
  for (uint8_t Byte : Bytes)
    for (uint32_t Node : Tokens.nodesOf(Byte))
      if (Tokens.nodes()[Node].Parent != 0 &&
          isBehindLoop(Id, First, Next, Loop, Node))
        visitChild(Next, Node, Found);
  return true;
}

/// All tokens. Where one character leads to a loop, those of many tokens that
/// stay there are found by their characters.
void MaskMaker::visitRoot(StateId Id, Inside &Found) {
  struct Group {
    LeadSet First;
    size_t Count = 0;
    std::vector<uint32_t> Children;
  };
  std::map<StateId, Group> Groups; // Few states are behind one character.
  std::vector<uint32_t> Others;
  eachChild(Id, 0, [&](uint32_t Child) {
    const TokenTable::Node &N = Tokens.nodes()[Child];
    StateId Next = M.behindCharacter(Id, N.Byte);
    if (Next == Machine::Dead || !M.loopOf(Next).Stay.any())
      return Others.push_back(Child);
    Group &G = Groups[Next];
    G.First.set(N.Byte);
    G.Count += Tokens.idsEnd(Child) - N.Begin;
    G.Children.push_back(Child);
  });
  for (const auto &[Next, G] : Groups) {
    if (G.Count < ManyTokens) {
      Others.insert(Others.end(), G.Children.begin(), G.Children.end());
      continue;
    }
    const Machine::Loop Loop = M.loopOf(Next);
    addBeginning(G.First, G.Count, onlyOf(Loop.Stay), Found);
    if (leaveByBytes(Id, G.First, G.Count, Next, Loop, Found))
      continue;
    for (uint32_t Child : G.Children)
      if (Tokens.nodes()[Child].Byte < 0x80)
        leaveLoop(Next, Child, Loop, Found);
      else if (Tokens.below(Child).Leads.meets(Loop.Leave))
        Others.push_back(Child);
  }
  for (uint32_t Child : Others)
    visitChild(Id, Child, Found);
}

void MaskMaker::visit(StateId Id, uint32_t Node, Inside &Found) {
  if (Node == 0)
    return visitRoot(Id, Found);
  const Machine::Loop Loop = M.loopOf(Id);
  if (isManyOfLoop(Node, Loop)) {
    addBelow(Node, onlyOf(Loop.Stay), Found);
    return leaveLoop(Id, Node, Loop, Found);
  }
  eachChild(Id, Node, [&](uint32_t Child) { visitChild(Id, Child, Found); });
}

void MaskMaker::visitChild(StateId Id, uint32_t Child, Inside &Found) {
  const auto &Nodes = Tokens.nodes();
  const TokenTable::Node &N = Nodes[Child];
  StateId Next = M.stepState(Id, N.Byte);
  if (Next == Machine::Dead)
    return;
  if (!M.goesOn(Next)) {
    if (!M.accepts(Next))
      return;
    Found.Ends.push_back({Child, Next});
    for (uint32_t After = Child + 1; After < N.End; After = Nodes[After].End)
      Found.Behind.add({After, 0, Nodes[After].Byte});
    return;
  }
  if (N.End - Child > FewNodes && isWithin(Tokens.below(Child), M.loopOf(Next)))
    return addBelow(Child, {}, Found);
  addIds(N.Begin, N.Begin + N.Count, Found);
  if (N.End > Child + 1)
    visit(Next, Child, Found);
}

MaskMaker::Inside &MaskMaker::insideOf(StateId Id, uint32_t Node) {
  auto [At, IsNew] = Insides.try_emplace(keyOf(Id, Node));
  Inside &Found = At->second;
  if (!IsNew)
    return Found;
  visit(Id, Node, Found);
  if (!Found.Bits.empty() || Found.Few.size() > Tokens.words()) {
    Found.Bits.resize(Tokens.words());
    for (int32_t Token : Found.Few)
      setBit(Found.Bits, Token);
    Found.Few = {};
  }
  // By the order of nodes, which the root's children may not have kept.
  std::sort(
      Found.Ends.begin(), Found.Ends.end(),
      [](const Crossing &A, const Crossing &B) { return A.Node < B.Node; });
  Found.Ends.shrink_to_fit();
  Found.Behind.seal();
  Bytes += sizeof(Inside) + 100 + Found.Bits.size() * 8 +
           Found.Few.capacity() * 4 + Found.Ends.size() * sizeof(Crossing) +
           Found.Behind.bytes();
  return Found;
}

MaskMaker::Counted &MaskMaker::countedOf(const Machine::Run &Of) {
  auto [At, IsNew] = Counts.try_emplace(Of.Any);
  Counted &Found = At->second;
  if (!IsNew)
    return Found;
  // Only strings end where they cannot go on. Both are in the order of nodes.
  const auto &Nodes = Tokens.nodes();
  auto Quote = Tokens.strings().Quotes.begin();
  for (const Crossing &C : insideOf(Of.Any, 0).Ends) {
    while (Quote->Node != C.Node)
      ++Quote;
    Found.Quotes.push_back({C.Node, Quote->Chars});
    for (uint32_t After = C.Node + 1; After < Nodes[C.Node].End;
         After = Nodes[After].End)
      Found.Behind.add({After, Quote->Chars, Nodes[After].Byte});
  }
  Found.Behind.seal();
  Bytes += sizeof(Counted) + 100 +
           Found.Quotes.capacity() * sizeof(Counted::Quote) +
           Found.Behind.bytes();
  return Found;
}

/// Whether a byte of `First` is below a node.
static bool mayBegin(const std::bitset<256> &First,
                     const TokenTable::Below &Below) {
  const std::bitset<256> Word(UINT64_MAX);
  return (Below.Leads.word(0) & (First & Word).to_ullong()) != 0 ||
         (Below.Leads.word(1) & (First >> 64 & Word).to_ullong()) != 0 ||
         (Below.Others && (First >> 128).any());
}

/// `Chars` of the terminal come before the node.
void MaskMaker::findFreeEnds(StateId Id, uint32_t Node, uint32_t Chars,
                             bool IsCounted, const std::bitset<256> &First,
                             Exits &Found) {
  const auto &Nodes = Tokens.nodes();
  eachChild(Id, Node, [&](uint32_t Child) {
    const TokenTable::Node &N = Nodes[Child];
    if (!mayBegin(First, Tokens.below(Child)))
      return;
    StateId Next = M.stepState(Id, N.Byte);
    if (Next == Machine::Dead || !M.goesOn(Next))
      return;
    // What may follow adds nothing to all of them, unless there is a bound.
    if (!IsCounted && N.End - Child > FewNodes &&
        isWithin(Tokens.below(Child), M.loopOf(Next)))
      return;
    uint32_t Now = Chars + beginsCharacter(N.Byte);
    if (M.accepts(Next))
      for (uint32_t After = Child + 1; After < N.End; After = Nodes[After].End)
        if (First.test(Nodes[After].Byte))
          Found.add({After, Now, Nodes[After].Byte});
    findFreeEnds(Next, Child, Now, IsCounted, First, Found);
  });
}

const Exits &MaskMaker::freeEnds(StateId Id, uint32_t Node, bool IsCounted,
                                 const std::bitset<256> &First,
                                 FreeEnds &Found) {
  std::bitset<256> Missing = First & ~Found.Known;
  if (Missing.none())
    return Found.Behind;
  size_t Before = Found.Behind.bytes();
  findFreeEnds(Id, Node, 0, IsCounted, Missing, Found.Behind);
  Found.Behind.seal();
  Found.Known |= First;
  Bytes += Found.Behind.bytes() - Before;
  return Found.Behind;
}

/// The most bytes that the terminal takes of a token below the node.
void MaskMaker::reach(StateId Id, uint32_t Node, uint32_t Depth,
                      uint32_t &Most) {
  const auto &Nodes = Tokens.nodes();
  eachChild(Id, Node, [&](uint32_t Child) {
    const TokenTable::Node &N = Nodes[Child];
    uint32_t Below = N.Height < 255 ? Depth + 1 + N.Height : UINT32_MAX;
    if (Below <= Most)
      return;
    StateId Next = M.stepState(Id, N.Byte);
    if (Next == Machine::Dead || !M.goesOn(Next))
      return;
    Most = std::max(Most, Depth + 1);
    if (isWithin(Tokens.below(Child), M.loopOf(Next)))
      Most = Below;
    else
      reach(Next, Child, Depth + 1, Most);
  });
}

/// A state that allows the same of the tokens below the node, without bounds
/// that none of them reaches.
StateId MaskMaker::nearOf(StateId Id, uint32_t Node) {
  auto [At, IsNew] = Nears.try_emplace(keyOf(Id, Node), Id);
  if (!IsNew)
    return At->second;
  Bytes += 48;
  // Without any bound more is allowed, and no more than it reaches is looked
  // at with them.
  StateId Free = M.withoutFarBounds(Id, 0);
  if (Free == Id)
    return Id;
  auto [Known, IsNewReach] = Reaches.try_emplace(keyOf(Free, Node), 0);
  if (IsNewReach) {
    Bytes += 48;
    reach(Free, Node, 0, Known->second);
  }
  uint32_t Reach = Known->second;
  StateId Near = Reach < UINT32_MAX ? M.withoutFarBounds(Id, Reach + 1) : Id;
  return Nears[keyOf(Id, Node)] = Near;
}

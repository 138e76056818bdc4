//===- TerminalMask.cpp - What a terminal allows by itself ----------------===//

#include "runtime/Grammar/Mask.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::grammar;

static void setBit(std::span<uint64_t> Words, int32_t Token) {
  Words[static_cast<size_t>(Token) / 64] |= uint64_t{1} << (Token % 64);
}

static uint64_t keyOf(StateId Id, uint32_t Node) {
  return uint64_t(Id) << 32 | Node;
}

/// Whether all that lies below a node only leads around the loop.
static bool isWithin(const TokenTable::Below &Below,
                     const Machine::Loop &Loop) {
  return (Below.Ascii[0] & ~Loop.Ascii[0]) == 0 &&
         (Below.Ascii[1] & ~Loop.Ascii[1]) == 0 &&
         (Below.Leads & ~Loop.Leads) == 0 && (!Below.Others || Below.IsUtf8);
}

void MaskMaker::visit(StateId Id, uint32_t Node, uint32_t Depth,
                      Inside &Found) {
  const auto &Nodes = Tokens.nodes();
  // The root has a child for nearly every byte.
  if (Node == 0) {
    const std::bitset<256> First = M.firstBytes(Id);
    for (unsigned Byte = 0; Byte < 256; ++Byte)
      if (First.test(Byte))
        if (uint32_t Child = Tokens.childOfRoot(static_cast<uint8_t>(Byte)))
          visitChild(Id, Child, Depth, Found);
    return;
  }
  for (uint32_t Child = Node + 1; Child < Nodes[Node].End;
       Child = Nodes[Child].End)
    visitChild(Id, Child, Depth, Found);
}

void MaskMaker::visitChild(StateId Id, uint32_t Child, uint32_t Depth,
                           Inside &Found) {
  const auto &Nodes = Tokens.nodes();
  const TokenTable::Node &N = Nodes[Child];
  StateId Next = M.stepState(Id, N.Byte);
  if (Next == Machine::Dead)
    return;
  bool Ends = M.accepts(Next), GoesOn = M.goesOn(Next);
  if (Ends && !GoesOn)
    Found.Ends.push_back({Child, Next});
  constexpr uint32_t FewNodes = 4;
  if (GoesOn && N.End - Child > FewNodes &&
      isWithin(Tokens.below(Child), M.loopOf(Next))) {
    for (uint32_t I = N.Begin; I < Tokens.idsEnd(Child); ++I)
      Found.Few.push_back(Tokens.ids()[I]);
    // What may follow adds nothing to all of them.
    Found.Reach = std::max(Found.Reach,
                           N.Height < 255 ? Depth + 1 + N.Height : UINT32_MAX);
    return;
  }
  if (Ends)
    for (uint32_t After = Child + 1; After < N.End; After = Nodes[After].End)
      Found.Behind.add({After, 0, Nodes[After].Byte});
  if (!GoesOn)
    return;
  Found.Reach = std::max(Found.Reach, Depth + 1);
  for (uint32_t I = 0; I < N.Count; ++I)
    Found.Few.push_back(Tokens.ids()[N.Begin + I]);
  visit(Next, Child, Depth + 1, Found);
}

const MaskMaker::Inside &MaskMaker::insideOf(StateId Id, uint32_t Node) {
  auto [At, IsNew] = Insides.try_emplace(keyOf(Id, Node));
  Inside &Found = At->second;
  if (!IsNew)
    return Found;
  visit(Id, Node, 0, Found);
  if (Found.Few.size() > Tokens.words()) {
    Found.Bits.resize(Tokens.words());
    for (int32_t Token : Found.Few)
      setBit(Found.Bits, Token);
    Found.Few = {};
  }
  Found.Ends.shrink_to_fit();
  Found.Behind.seal();
  Bytes += sizeof(Inside) + 100 + Found.Bits.size() * 8 +
           Found.Few.capacity() * 4 + Found.Ends.size() * sizeof(Crossing) +
           Found.Behind.bytes();
  return Found;
}

/// `Id` is the state that `Any` is, or inside of a character behind it, behind
/// a node of so many characters, `Whole`, of which the run has `Chars`.
void MaskMaker::count(StateId Any, StateId Id, uint32_t Node, uint32_t Whole,
                      uint32_t Chars, Counted &Found) {
  const auto &Nodes = Tokens.nodes();
  for (uint32_t Child = Node + 1; Child < Nodes[Node].End;
       Child = Nodes[Child].End) {
    const TokenTable::Node &N = Nodes[Child];
    StateId Next = M.stepState(Id, N.Byte);
    if (Next == Machine::Dead)
      continue;
    bool IsQuote = !M.goesOn(Next);
    uint32_t Now = Chars + (Next == Any);
    if (IsQuote) {
      Found.Quotes.push_back({Chars, static_cast<int32_t>(Child)});
      for (uint32_t After = Child + 1; After < N.End; After = Nodes[After].End)
        Found.Behind.add({After, Chars, Nodes[After].Byte});
      continue;
    }
    if (Next == Any && isWithin(Tokens.below(Child), M.loopOf(Any))) {
      // All have the node's characters in common; half of one is one.
      const std::vector<uint32_t> &Characters = Tokens.characters();
      uint32_t Shared = Whole + ((N.Byte & 0xc0) != 0x80);
      for (uint32_t I = N.Begin; I < Tokens.idsEnd(Child); ++I)
        Found.Tokens.push_back({Now + Characters[I] - Shared, Tokens.ids()[I]});
      if (M.accepts(Next))
        Found.Loops.push_back({Now, static_cast<int32_t>(Child)});
      continue;
    }
    if (M.accepts(Next))
      for (uint32_t After = Child + 1; After < N.End; After = Nodes[After].End)
        Found.Behind.add({After, Now, Nodes[After].Byte});
    for (uint32_t I = 0; I < N.Count; ++I)
      Found.Tokens.push_back({Now + (Next != Any), Tokens.ids()[N.Begin + I]});
    count(Any, Next, Child, Whole + ((N.Byte & 0xc0) != 0x80), Now, Found);
  }
}

const MaskMaker::Counted &MaskMaker::countedOf(StateId Any) {
  auto [At, IsNew] = Counts.try_emplace(Any);
  Counted &Found = At->second;
  if (!IsNew)
    return Found;
  count(Any, Any, 0, 0, 0, Found);
  std::vector<uint32_t> Begin(256 + 1);
  auto Place = [](const Counted::Token &T) {
    return std::min<uint32_t>(T.Chars, 255);
  };
  for (const Counted::Token &T : Found.Tokens)
    ++Begin[Place(T) + 1];
  for (size_t I = 0; I < 256; ++I)
    Begin[I + 1] += Begin[I];
  std::vector<Counted::Token> Sorted(Found.Tokens.size());
  auto LongBegin = ptrdiff_t(Begin[255]);
  for (const Counted::Token &T : Found.Tokens)
    Sorted[Begin[Place(T)]++] = T;
  std::sort(Sorted.begin() + LongBegin, Sorted.end(),
            [](const Counted::Token &A, const Counted::Token &B) {
              return A.Chars < B.Chars;
            });
  Found.Tokens = std::move(Sorted);
  Found.Bits.resize(Tokens.words());
  for (const Counted::Token &T : Found.Tokens)
    setBit(Found.Bits, T.Id);
  Found.Behind.seal();
  Bytes += sizeof(Counted) + 100 + Found.Bits.size() * 8 +
           (Found.Tokens.capacity() + Found.Quotes.capacity()) *
               sizeof(Counted::Token) +
           Found.Behind.bytes() +
           Found.Loops.capacity() * sizeof(Counted::Token);
  return Found;
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
  uint32_t Reach = insideOf(Free, Node).Reach;
  StateId Near = Reach < UINT32_MAX ? M.withoutFarBounds(Id, Reach + 1) : Id;
  return Nears[keyOf(Id, Node)] = Near;
}

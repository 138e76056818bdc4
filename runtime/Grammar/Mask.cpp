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

static uint64_t keyOf(StateId Id, uint32_t Node) {
  return uint64_t(Id) << 32 | Node;
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

/// Whether all that lies below a node only leads around the loop.
static bool isWithin(const TokenTable::Below &Below,
                     const Machine::Loop &Loop) {
  return (Below.Ascii[0] & ~Loop.Ascii[0]) == 0 &&
         (Below.Ascii[1] & ~Loop.Ascii[1]) == 0 &&
         (!Below.Others || (Loop.Others && Below.IsUtf8));
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
    if (Ends)
      Found.Loops.push_back({Child, Next});
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
           Found.Behind.bytes() + Found.Loops.capacity() * sizeof(Crossing);
  return Found;
}

/// `Id` is the state that `Any` is, or inside of a character behind it.
void MaskMaker::count(StateId Any, StateId Id, uint32_t Node, uint32_t Chars,
                      Counted &Found) {
  const auto &Nodes = Tokens.nodes();
  for (uint32_t Child = Node + 1; Child < Nodes[Node].End;
       Child = Nodes[Child].End) {
    const TokenTable::Node &N = Nodes[Child];
    StateId Next = M.stepState(Id, N.Byte);
    if (Next == Machine::Dead)
      continue;
    bool IsQuote = !M.goesOn(Next);
    uint32_t Now = Chars + (Next == Any);
    if (IsQuote)
      Found.Quotes.push_back({Chars, static_cast<int32_t>(Child)});
    if (M.accepts(Next))
      for (uint32_t After = Child + 1; After < N.End; After = Nodes[After].End)
        Found.Behind.add({After, Now, Nodes[After].Byte});
    if (IsQuote)
      continue;
    for (uint32_t I = 0; I < N.Count; ++I)
      Found.Tokens.push_back({Now + (Next != Any), Tokens.ids()[N.Begin + I]});
    count(Any, Next, Child, Now, Found);
  }
}

const MaskMaker::Counted &MaskMaker::countedOf(StateId Any) {
  auto [At, IsNew] = Counts.try_emplace(Any);
  Counted &Found = At->second;
  if (!IsNew)
    return Found;
  count(Any, Any, 0, 0, Found);
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
           Found.Behind.bytes();
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

/// Tokens that go on with what follows.
void MaskMaker::addExits(ConfigId After, const Exits &From, uint32_t Min,
                         uint32_t Max) {
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

/// The same below a node where, and below which, the terminal goes around a
/// loop and may end.
void MaskMaker::addLoop(ConfigId After, StateId Id, uint32_t Node) {
  const auto &Nodes = Tokens.nodes();
  const std::bitset<256> First = M.nextBytes(After);
  for (uint32_t Child = Node + 1; Child < Nodes[Node].End;
       Child = Nodes[Child].End) {
    if (M.accepts(Id) && First.test(Nodes[Child].Byte))
      if (ConfigId Next = M.step(After, Nodes[Child].Byte);
          Next != Machine::NoConfig) {
        addTokens(Child);
        walk(Next, Child);
      }
    if (StateId Next = M.stepState(Id, Nodes[Child].Byte);
        Next != Machine::Dead)
      addLoop(After, Next, Child);
  }
}

/// Of a head that ends in one way, wherever it ends: the tokens below `Node`.
void MaskMaker::addPlain(const Machine::Head &H, uint32_t Node) {
  ConfigId After = M.after(H);
  bool Ends = After != Machine::NoConfig;
  if (auto Lengths = M.lengths(H.State); Lengths && Node == 0) {
    const StringTokens &Strings = Tokens.strings();
    auto [Min, Max] = *Lengths;
    const std::vector<uint64_t> &Bits = Strings.upTo(Max);
    for (size_t I = 0; I < Bits.size(); ++I)
      Out[I] |= Bits[I];
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
  const Inside &Found = insideOf(Near, Node);
  for (size_t I = 0; I < Found.Bits.size(); ++I)
    Out[I] |= Found.Bits[I];
  for (int32_t Token : Found.Few)
    setBit(Out, Token);
  if (!Ends)
    return;
  for (const Crossing &C : Found.Ends)
    addTokens(C.Node);
  addExits(After, Found.Behind, 0, UINT32_MAX);
  const std::bitset<256> First = M.nextBytes(After);
  std::array<uint64_t, 2> Ascii{};
  bool Others = false;
  for (unsigned Byte = 0; Byte < 256; ++Byte)
    if (First.test(Byte)) {
      if (Byte < 128)
        Ascii[Byte / 64] |= uint64_t{1} << (Byte % 64);
      else
        Others = true;
    }
  for (const Crossing &C : Found.Loops) {
    const TokenTable::Below &Below = Tokens.below(C.Node);
    if ((Below.Ascii[0] & Ascii[0]) != 0 || (Below.Ascii[1] & Ascii[1]) != 0 ||
        (Below.Others && Others))
      addLoop(After, C.State, C.Node);
  }
}

void MaskMaker::addRun(const Machine::Run &Of, ConfigId After) {
  const Counted &Found = countedOf(Of.Any);
  auto Behind = std::upper_bound(
      Found.Tokens.begin(), Found.Tokens.end(), Of.Max,
      [](uint32_t Max, const Counted::Token &T) { return Max < T.Chars; });
  // The smaller part is written down one by one.
  if (Behind - Found.Tokens.begin() <= Found.Tokens.end() - Behind) {
    for (auto T = Found.Tokens.begin(); T != Behind; ++T)
      setBit(Out, T->Id);
  } else {
    std::vector<uint64_t> Bits = Found.Bits;
    for (auto T = Behind; T != Found.Tokens.end(); ++T)
      Bits[static_cast<size_t>(T->Id) / 64] &= ~(uint64_t{1} << (T->Id % 64));
    for (size_t I = 0; I < Bits.size(); ++I)
      Out[I] |= Bits[I];
  }
  for (const Counted::Token &Q : Found.Quotes)
    if (Q.Chars >= Of.Min && Q.Chars <= Of.Max)
      addTokens(static_cast<uint32_t>(Q.Id));
  addExits(After, Found.Behind, Of.Min, Of.Max);
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
    for (const StringTokens::Quote &Q : Strings.Quotes)
      if (Q.Chars >= Min && Q.Chars <= Max)
        addCrossing(H, Q.Node, M.done(), Q.Bytes);
    return;
  }
  const Inside &Found = insideOf(nearOf(H.State, 0), 0);
  for (size_t I = 0; I < Found.Bits.size(); ++I)
    To[I] |= Found.Bits[I];
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

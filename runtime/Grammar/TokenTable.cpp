//===- TokenTable.cpp - The tokens of a model by their bytes --------------===//

#include "runtime/Grammar/TokenTable.h"

#include "runtime/Grammar/Utf8State.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::grammar;

Result<std::shared_ptr<const TokenTable>>
TokenTable::build(const tokenizer::Tokenizer &T, bool HasAdded) {
  std::shared_ptr<TokenTable> Whole(new TokenTable);
  std::unique_ptr<TokenTable> First(new TokenTable);
  for (int32_t Id = 0; Id < T.idEnd(); ++Id)
    for (bool IsFirst : {false, true}) {
      std::string &Made = (IsFirst ? *First : *Whole).Tokens.emplace_back();
      if (std::optional<std::string_view> Added = T.addedToken(Id);
          Added && HasAdded) {
        Made = SpecialMark + std::string(*Added);
        continue;
      }
      Result<std::optional<std::string>> Bytes = T.bytesOf(Id, IsFirst);
      if (!Bytes)
        return Bytes.error();
      Made = Bytes->value_or("");
      // A byte that is no text must not look like a special token.
      if (HasAdded && Made.find(SpecialMark) != Made.npos)
        Made.clear();
    }
  Whole->make();
  if (First->Tokens != Whole->Tokens) {
    First->make();
    Whole->First = std::move(First);
  }
  return std::shared_ptr<const TokenTable>(std::move(Whole));
}

std::shared_ptr<const TokenTable>
TokenTable::build(const std::vector<std::string> &Tokens) {
  std::shared_ptr<TokenTable> Made(new TokenTable);
  Made->Tokens = Tokens;
  Made->make();
  return Made;
}

void TokenTable::make() {
  for (size_t Id = 0; Id < Tokens.size(); ++Id)
    if (!Tokens[Id].empty())
      Ids.push_back(static_cast<int32_t>(Id));
  std::sort(Ids.begin(), Ids.end(), [&](int32_t A, int32_t B) {
    int Order = bytesOf(A).compare(bytesOf(B));
    return Order != 0 ? Order < 0 : A < B;
  });
  for (int32_t Id : Ids)
    ByLength.add(static_cast<uint32_t>(std::count_if(
                     bytesOf(Id).begin(), bytesOf(Id).end(),
                     [](char Byte) {
                       return beginsCharacter(static_cast<uint8_t>(Byte));
                     })),
                 Id);
  ByLength.seal(words());
  Nodes.push_back({1, 0, 0, 0, 0, 0});
  std::vector<uint32_t> Path{0};
  std::string Before;
  auto Leave = [&](size_t Depth) {
    for (; Path.size() > Depth + 1; Path.pop_back()) {
      const Node &N = Nodes[Path.back()];
      Nodes[Path.back()].End = static_cast<uint32_t>(Nodes.size());
      Node &Parent = Nodes[N.Parent];
      Parent.Height = static_cast<uint8_t>(
          std::min(255, std::max<int>(Parent.Height, N.Height + 1)));
    }
  };
  for (uint32_t I = 0; I < Ids.size(); ++I) {
    const std::string &Token = bytesOf(Ids[I]);
    auto [Mine, Theirs] =
        std::mismatch(Token.begin(), Token.end(), Before.begin(), Before.end());
    auto Shared = static_cast<size_t>(Mine - Token.begin());
    if (Shared < Token.size() || Shared < Before.size())
      Leave(Shared);
    for (size_t At = Shared; At < Token.size(); ++At) {
      Nodes.push_back(
          {0, Path.back(), I, 0, static_cast<uint8_t>(Token[At]), 0});
      Path.push_back(static_cast<uint32_t>(Nodes.size() - 1));
    }
    // Equal tokens come one after another.
    Node &N = Nodes[Path.back()];
    if (N.Count == 0)
      N.Begin = I;
    ++N.Count;
    Before = Token;
  }
  Leave(0);
  Nodes[0].End = static_cast<uint32_t>(Nodes.size());
  for (uint32_t Child = 1; Child < Nodes.size(); Child = Nodes[Child].End)
    RootChildren[Nodes[Child].Byte] = Child;
  for (size_t Id = 1; Id < Nodes.size(); ++Id)
    ++ByteBegin[size_t(Nodes[Id].Byte) + 1];
  for (size_t Byte = 0; Byte < 256; ++Byte)
    ByteBegin[Byte + 1] += ByteBegin[Byte];
  std::array<uint32_t, 257> At = ByteBegin;
  ByByte.resize(Nodes.size() - 1);
  for (uint32_t Id = 1; Id < Nodes.size(); ++Id)
    ByByte[At[Nodes[Id].Byte]++] = Id;
  describeBelow();
  Strings = StringTokens::build(*this);
  Index = TokenIndex::build(*this);
}

void TokenTable::describeBelow() {
  Belows.resize(Nodes.size());
  // From which states all that lies below is right.
  std::vector<uint8_t> Right(Nodes.size(), 0xff);
  for (uint32_t Id = static_cast<uint32_t>(Nodes.size()); Id-- > 1;) {
    const Node &N = Nodes[Id];
    Belows[Id].IsUtf8 = Right[Id] & 1;
    Below &Up = Belows[N.Parent];
    Up.Others |= Belows[Id].Others || N.Byte >= 0x80;
    Up.Leads |= Belows[Id].Leads;
    if (beginsCharacter(N.Byte))
      Up.Leads.set(N.Byte);
    for (uint8_t From = 0; From < uint8_t(Utf8State::Wrong); ++From) {
      Utf8State To = stepUtf8(Utf8State(From), N.Byte);
      if (To == Utf8State::Wrong || !(Right[Id] >> uint8_t(To) & 1))
        Right[N.Parent] &= static_cast<uint8_t>(~(1u << From));
    }
  }
  Belows[0].IsUtf8 = Right[0] & 1;
}

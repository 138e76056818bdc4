//===- TokenTable.cpp - The tokens of a model by their bytes --------------===//

#include "runtime/Grammar/TokenTable.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::grammar;

Result<std::shared_ptr<const TokenTable>>
TokenTable::build(const tokenizer::Tokenizer &T) {
  std::shared_ptr<TokenTable> Made(new TokenTable);
  std::unique_ptr<TokenTable> First(new TokenTable);
  for (int32_t Id = 0; Id < T.idEnd(); ++Id)
    for (bool IsFirst : {false, true}) {
      Result<std::optional<std::string>> Bytes = T.bytesOf(Id, IsFirst);
      if (!Bytes)
        return Bytes.error();
      (IsFirst ? *First : *Made).Tokens.push_back(Bytes->value_or(""));
    }
  Made->make();
  if (First->Tokens != Made->Tokens) {
    First->make();
    Made->First = std::move(First);
  }
  return std::shared_ptr<const TokenTable>(std::move(Made));
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
  Strings = StringTokens::build(*this);
}

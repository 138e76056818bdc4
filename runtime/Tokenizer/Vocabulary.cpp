//===- Vocabulary.cpp - A model's tokens and their ids --------------------===//

#include "runtime/Tokenizer/Vocabulary.h"

#include "runtime/Support/Json.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::tokenizer;

Result<Vocabulary>
Vocabulary::build(std::vector<std::pair<std::string, int64_t>> Tokens,
                  const std::string &Where) {
  Vocabulary V;
  V.Tokens = std::move(Tokens);
  V.Ids.reserve(V.Tokens.size());
  for (size_t I = 0; I < V.Tokens.size(); ++I) {
    const auto &[Token, Id] = V.Tokens[I];
    auto Fail = [&](const std::string &Expected) {
      return Error(Where + ": token " + printable(Token) + " has id " +
                   std::to_string(Id) + ": expected " + Expected);
    };
    if (Id < 0 || Id >= MaxTokenId)
      return Fail("an id from 0 to " + std::to_string(MaxTokenId - 1));
    if (!V.Ids.try_emplace(Token, static_cast<int32_t>(Id)).second)
      return Fail("each token once");
    auto Index = static_cast<size_t>(Id);
    if (Index >= V.IndexOfId.size())
      V.IndexOfId.resize(std::max(Index + 1, V.Tokens.size()), -1);
    if (V.IndexOfId[Index] >= 0)
      return Fail(
          "each id once, and " +
          printable(V.Tokens[static_cast<size_t>(V.IndexOfId[Index])].first) +
          " has it too");
    V.IndexOfId[Index] = static_cast<int32_t>(I);
    V.Longest = std::max(V.Longest, Token.size());
  }
  return V;
}

std::optional<int32_t> Vocabulary::idOf(std::string_view Token) const {
  auto Found = Ids.find(Token);
  if (Found == Ids.end())
    return std::nullopt;
  return Found->second;
}

std::optional<std::string_view> Vocabulary::tokenOf(int32_t Id) const {
  if (Id < 0 || static_cast<size_t>(Id) >= IndexOfId.size() ||
      IndexOfId[static_cast<size_t>(Id)] < 0)
    return std::nullopt;
  return Tokens[static_cast<size_t>(IndexOfId[static_cast<size_t>(Id)])].first;
}

//===- grammar.cpp - Constraints on texts, and texts against them ---------===//
//
// Input: "j", "r" or "e", a JSON schema, a regular expression or EBNF, NUL, the
// text.
//
//===----------------------------------------------------------------------===//

#include "runtime/Grammar/Grammar.h"
#include "tests/fuzz/FuzzTarget.h"

using namespace tenon;
using namespace tenon::grammar;

/// A token for each byte, then some of several: all pairs and triples of what
/// grammars tell apart, and runs of what they do not.
static std::shared_ptr<const TokenTable> tokens() {
  static const auto Table = [] {
    std::vector<std::string> Tokens;
    for (int Byte = 0; Byte < 256; ++Byte)
      Tokens.push_back(std::string(1, static_cast<char>(Byte)));
    const std::string Pieces[] = {"a", "1",  "\"", ",",        "}",
                                  " ", "\\", "[",  "\xc3\xa9", "\xe6\xbc"};
    for (const std::string &A : Pieces)
      for (const std::string &B : Pieces) {
        Tokens.push_back(A + B);
        for (const std::string &C : {Pieces[0], Pieces[1], Pieces[2]})
          Tokens.push_back(A + B + C);
        Tokens.push_back(A + A + A + B + B + B);
      }
    return TokenTable::build(Tokens);
  }();
  return Table;
}

static void checkMask(Matcher &M) {
  std::vector<uint64_t> Mask(M.tokens()->words());
  M.mask(Mask);
  bool Any = false;
  for (size_t Id = 0; Id < M.tokens()->size(); ++Id) {
    bool IsIn = Mask[Id / 64] >> (Id % 64) & 1;
    Any |= IsIn;
    fuzz::require(IsIn == M.allows(static_cast<int32_t>(Id)),
                  "the mask has what is allowed");
  }
  fuzz::require(Any || M.canEnd(), "no dead ends");
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  auto [Source, Text] = fuzz::splitAtNul(fuzz::textOf(Data, Size));
  if (Source.empty())
    return 0;
  char Kind = Source.front();
  Source.remove_prefix(1);
  Limits Most;
  Most.Memory = 8u << 20;
  Result<Grammar::Ptr> G = Kind == 'j'
                               ? Grammar::fromJsonSchemaText(Source, {}, Most)
                           : Kind == 'r' ? Grammar::fromRegex(Source, Most)
                                         : Grammar::fromEbnf(Source, Most);
  if (!fuzz::isGood(G))
    return 0;
  Matcher M(*G, tokens());
  constexpr size_t MostMasks = 24;
  size_t Taken = 0;
  for (; Taken < Text.size(); ++Taken) {
    if (Taken < MostMasks)
      checkMask(M);
    if (!M.accept(static_cast<unsigned char>(Text[Taken])))
      break;
  }
  bool CanEnd = M.canEnd();
  if (Kind == 'j' && Taken == Text.size() && CanEnd) {
    constexpr int Deep = 1 << 20;
    fuzz::require(bool(parseJson(Text, "the text", Deep)),
                  "what a schema accepts is JSON without keys that come twice");
  }
  size_t Back = Taken / 2;
  M.rollback(Back);
  for (size_t I = Taken - Back; I < Taken; ++I)
    fuzz::require(M.accept(static_cast<unsigned char>(Text[I])),
                  "what was accepted is accepted again");
  fuzz::require(M.canEnd() == CanEnd, "a rollback leaves nothing behind");
  return 0;
}

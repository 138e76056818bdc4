//===- StringTokens.cpp - Tokens inside of JSON's strings -----------------===//

#include "runtime/Grammar/StringTokens.h"

#include "runtime/Grammar/Machine.h"
#include "runtime/Grammar/TokenTable.h"

#include <functional>

using namespace tenon;
using namespace tenon::grammar;

StringTokens StringTokens::build(const TokenTable &Tokens) {
  StringTokens Made;
  Machine M{Source()};
  StateId Whole = M.anyString();
  std::vector<std::pair<uint32_t, int32_t>> Inside;
  uint32_t Most = 0;
  const auto &Nodes = Tokens.nodes();
  std::string Bytes;
  std::function<void(StateId, uint32_t, uint32_t)> Visit =
      [&](StateId Id, uint32_t Chars, uint32_t Node) {
        for (uint32_t Child = Node + 1; Child < Nodes[Node].End;
             Child = Nodes[Child].End) {
          StateId Next = M.stepState(Id, Nodes[Child].Byte);
          if (Next == Machine::Dead)
            continue;
          if (M.accepts(Next)) {
            Made.Quotes.push_back({Child, Chars, Bytes + '"'});
            for (uint32_t Next = Child + 1; Next < Nodes[Child].End;
                 Next = Nodes[Next].End)
              Made.Behind.add({Next, Chars, Nodes[Next].Byte});
            continue;
          }
          uint32_t Now = Chars + (Next == Whole);
          // Half of a character needs room for all of it.
          uint32_t Needed = Now + (Next != Whole);
          for (uint32_t I = 0; I < Nodes[Child].Count; ++I) {
            Inside.push_back({Needed, Tokens.ids()[Nodes[Child].Begin + I]});
            Most = std::max(Most, Needed);
          }
          Bytes.push_back(static_cast<char>(Nodes[Child].Byte));
          Visit(Next, Now, Child);
          Bytes.pop_back();
        }
      };
  Visit(Whole, 0, 0);
  Made.Behind.seal();
  Made.ByChars.assign(Most + 1, std::vector<uint64_t>(Tokens.words()));
  for (auto [Chars, Token] : Inside)
    Made.ByChars[Chars][static_cast<size_t>(Token) / 64] |= uint64_t{1}
                                                            << (Token % 64);
  for (size_t C = 1; C < Made.ByChars.size(); ++C)
    for (size_t I = 0; I < Tokens.words(); ++I)
      Made.ByChars[C][I] |= Made.ByChars[C - 1][I];
  return Made;
}

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
          for (uint32_t I = 0; I < Nodes[Child].Count; ++I)
            Made.Inside.add(Needed, Tokens.ids()[Nodes[Child].Begin + I]);
          Bytes.push_back(static_cast<char>(Nodes[Child].Byte));
          Visit(Next, Now, Child);
          Bytes.pop_back();
        }
      };
  Visit(Whole, 0, 0);
  Made.Behind.seal();
  Made.Inside.seal(Tokens.words());
  return Made;
}

//===- TokenIndex.cpp - Tokens by the characters that they have -----------===//

#include "runtime/Grammar/TokenIndex.h"

#include "runtime/Grammar/MaskBits.h"
#include "runtime/Grammar/TokenTable.h"
#include "runtime/Grammar/Utf8State.h"

#include <optional>
#include <string_view>

using namespace tenon;
using namespace tenon::grammar;

/// Places of LeadSet, and more to halve.
static constexpr size_t Places = 256;

/// The bytes with which characters behind the first begin; nothing where a
/// token is no UTF-8.
static std::optional<LeadSet> leadsOf(std::string_view Token) {
  LeadSet Leads;
  Utf8State At = Utf8State::Whole;
  for (size_t I = 0; I < Token.size(); ++I) {
    auto Byte = static_cast<uint8_t>(Token[I]);
    At = stepUtf8(At, Byte);
    if (At == Utf8State::Wrong)
      return std::nullopt;
    if (I > 0 && beginsCharacter(Byte))
      Leads.set(Byte);
  }
  return Leads;
}

TokenIndex TokenIndex::build(const TokenTable &Table) {
  TokenIndex Made;
  size_t Words = Table.words();
  Made.Utf8.resize(Words);
  Made.Having.resize(2 * Places);
  for (int32_t Id : Table.ids()) {
    std::optional<LeadSet> Leads = leadsOf(Table.bytesOf(Id));
    if (!Leads)
      continue;
    setBit(Made.Utf8, Id);
    for (size_t Place = 0; Place < LeadSet::End; ++Place)
      if (Leads->testPlace(Place))
        Made.Having[Places + Place].Few.push_back(Id);
  }
  auto Pack = [&](Tokens &Of) {
    if (Of.Few.size() <= Words / 2)
      return;
    Of.Bits.resize(Words);
    for (int32_t Id : Of.Few)
      setBit(Of.Bits, Id);
    Of.Few = {};
  };
  for (size_t Block = 2 * Places - 1; Block > 0; --Block) {
    Tokens &Of = Made.Having[Block];
    if (Block < Places) {
      std::vector<uint64_t> All(Words);
      bool IsLarge = false;
      for (const Tokens *Half :
           {&Made.Having[2 * Block], &Made.Having[2 * Block + 1]}) {
        IsLarge |= !Half->Bits.empty();
        addBits(All, Half->Bits);
        for (int32_t Id : Half->Few)
          setBit(All, Id);
        if (!IsLarge)
          Of.Few.insert(Of.Few.end(), Half->Few.begin(), Half->Few.end());
      }
      if (IsLarge) {
        Of.Bits = std::move(All);
        Of.Few = {};
      }
    }
    Pack(Of);
  }
  const auto &Nodes = Table.nodes();
  for (uint32_t Node = 1; Node < Nodes.size();) {
    size_t Begin = Nodes[Node].Begin, End = Table.idsEnd(Node);
    if (End - Begin <= Words / 2) {
      Node = Nodes[Node].End;
      continue;
    }
    std::vector<uint64_t> &Bits = Made.Nodes[Node++];
    Bits.resize(Words);
    for (size_t I = Begin; I < End; ++I)
      setBit(Bits, Table.ids()[I]);
  }
  return Made;
}

/// Takes out the tokens with a character of one of `Count` places that are not
/// of the set.
void TokenIndex::take(std::vector<uint64_t> &From, const LeadSet &Leads,
                      size_t Block, size_t First, size_t Count) const {
  const Tokens &Of = Having[Block];
  if (Of.Bits.empty() && Of.Few.empty())
    return;
  bool HasAny = false, HasAll = true;
  for (size_t Place = First; Place < First + Count; ++Place) {
    bool Is = Place < LeadSet::End && Leads.testPlace(Place);
    HasAny |= Is;
    HasAll &= Is;
  }
  if (HasAll)
    return;
  if (HasAny) {
    take(From, Leads, 2 * Block, First, Count / 2);
    take(From, Leads, 2 * Block + 1, First + Count / 2, Count / 2);
    return;
  }
  clearBits(From, Of.Bits);
  for (int32_t Id : Of.Few)
    clearBit(From, Id);
}

std::vector<uint64_t> TokenIndex::only(const LeadSet &Leads) const {
  std::vector<uint64_t> Left = Utf8;
  take(Left, Leads, 1, 0, Places);
  return Left;
}

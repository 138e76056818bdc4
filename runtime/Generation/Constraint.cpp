//===- Constraint.cpp - A grammar beside a text that is generated ---------===//

#include "runtime/Generation/Constraint.h"

#include "runtime/Tokenizer/Unicode.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

using namespace tenon;
using namespace tenon::generation;

// Of an echoed prompt the new tokens go on; else the first begins the text.
Constraint::Constraint(const Request &Wish, const tokenizer::Tokenizer &T)
    : T(&T), Ends(Wish.Rules.EndOfSequence),
      Match(Wish.Grammar, Wish.Tokens, /*Begins=*/!Wish.Echo),
      Mask(Wish.Tokens->words()) {}

bool Constraint::isEnd(int32_t Token) const {
  return std::find(Ends.begin(), Ends.end(), Token) != Ends.end();
}

bool Constraint::allows(int32_t Token) {
  return isEnd(Token) ? Match.canEnd() : Match.allows(Token);
}

static constexpr size_t Bits = 64;

/// Of as many tokens as there are scores.
void Constraint::fillMask(size_t Vocabulary) {
  Mask.resize(
      std::max(Match.tokens()->words(), (Vocabulary + Bits - 1) / Bits));
  Match.mask(Mask);
  bool MayEnd = Match.canEnd();
  for (int32_t Token : Ends) {
    auto Id = static_cast<size_t>(Token);
    if (Token < 0 || Id / Bits >= Mask.size())
      continue;
    uint64_t Bit = uint64_t{1} << (Id % Bits);
    Mask[Id / Bits] = MayEnd ? Mask[Id / Bits] | Bit : Mask[Id / Bits] & ~Bit;
  }
}

/// Of Bits scores those whose bits are set in `Allowed`, -infinity of others.
static void select(const float *Have, uint64_t Allowed, float *Into) {
  // Without branches: masks of vocabularies are as good as random.
  constexpr size_t PackSize = 4;
  using Pack = uint32_t __attribute__((vector_size(PackSize * 4)));
  constexpr auto Excluded =
      std::bit_cast<uint32_t>(-std::numeric_limits<float>::infinity());
  const Pack BitOf = {1, 2, 4, 8};
  for (size_t I = 0; I < Bits; I += PackSize) {
    Pack Values;
    std::memcpy(&Values, Have + I, sizeof(Values));
    auto IsIn = reinterpret_cast<Pack>(
        (BitOf & static_cast<uint32_t>(Allowed >> I)) != 0);
    Values = (Values & IsIn) | (Excluded & ~IsIn);
    std::memcpy(Into + I, &Values, sizeof(Values));
  }
}

void Constraint::apply(std::span<const float> Row, std::vector<float> &Scores) {
  fillMask(Row.size());
  Scores.resize(Row.size());
  size_t From = 0;
  for (; From + Bits <= Row.size(); From += Bits)
    select(Row.data() + From, Mask[From / Bits], Scores.data() + From);
  for (; From < Row.size(); ++From)
    Scores[From] = Mask[From / Bits] >> (From % Bits) & 1
                       ? Row[From]
                       : -std::numeric_limits<float>::infinity();
}

std::optional<int32_t> Constraint::likeliest(std::span<const float> Row) {
  fillMask(Row.size());
  float Largest = -std::numeric_limits<float>::infinity();
  std::optional<int32_t> Best;
  for (size_t From = 0; From < Row.size(); From += Bits) {
    uint64_t Allowed = Mask[From / Bits];
    // Few words have a larger score than those before them.
    bool IsLarger = false;
    size_t End = std::min(From + Bits, Row.size());
    if (Allowed != 0)
      for (size_t Token = From; Token < End; ++Token)
        IsLarger |= Row[Token] > Largest;
    if (!IsLarger)
      continue;
    for (; Allowed != 0; Allowed &= Allowed - 1) {
      size_t Token = From + static_cast<size_t>(std::countr_zero(Allowed));
      if (Token < End && Row[Token] > Largest) {
        Largest = Row[Token];
        Best = static_cast<int32_t>(Token);
      }
    }
  }
  return Best;
}

void Constraint::accept(int32_t Token) {
  if (!isEnd(Token))
    (void)Match.accept(Token); // It was allowed.
}

std::vector<int32_t> Constraint::forced() {
  std::string Text = Match.forced();
  // Bytes of special tokens, or parts of characters.
  if (Text.empty() || tokenizer::findInvalidUtf8(Text))
    return {};
  Result<std::vector<int32_t>> Ids =
      T->encode(Text, /*AddSpecialTokens=*/false);
  if (!Ids)
    return {};
  Ids->resize(Ids->size() - std::min<size_t>(Ids->size(), 1));
  Ids->resize(allowed(*Ids));
  return std::move(*Ids);
}

size_t Constraint::allowed(std::span<const int32_t> Tokens) {
  size_t Count = 0;
  while (Count < Tokens.size() && !isEnd(Tokens[Count]) &&
         Match.accept(Tokens[Count]))
    ++Count;
  Match.rollback(Count);
  return Count;
}

//===- Constraint.cpp - A grammar beside a text that is generated ---------===//

#include "runtime/Generation/Constraint.h"

#include "runtime/Tokenizer/Unicode.h"

#include <algorithm>
#include <bit>
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

void Constraint::apply(std::span<const float> Row, std::vector<float> &Scores) {
  constexpr float Excluded = -std::numeric_limits<float>::infinity();
  fillMask(Row.size());
  Scores.assign(Row.size(), Excluded);
  for (size_t From = 0; From < Row.size(); From += Bits) {
    uint64_t Allowed = Mask[From / Bits];
    const float *Have = Row.data() + From;
    float *Into = Scores.data() + From;
    // What is fewer is written one by one.
    bool CopiesAll =
        From + Bits <= Row.size() && std::popcount(Allowed) > int(Bits / 2);
    if (CopiesAll)
      std::copy_n(Have, Bits, Into);
    for (uint64_t Left = CopiesAll ? ~Allowed : Allowed; Left != 0;
         Left &= Left - 1) {
      auto Bit = static_cast<size_t>(std::countr_zero(Left));
      if (From + Bit < Row.size())
        Into[Bit] = CopiesAll ? Excluded : Have[Bit];
    }
  }
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

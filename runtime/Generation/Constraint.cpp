//===- Constraint.cpp - A grammar beside a text that is generated ---------===//

#include "runtime/Generation/Constraint.h"

#include "runtime/Grammar/MaskBits.h"
#include "runtime/Tokenizer/Unicode.h"

#include <algorithm>

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

std::span<const uint64_t> Constraint::mask(size_t Vocabulary) {
  constexpr size_t Bits = 64;
  Mask.resize(
      std::max(Match.tokens()->words(), (Vocabulary + Bits - 1) / Bits));
  Match.mask(Mask);
  bool MayEnd = Match.canEnd();
  for (int32_t Token : Ends) {
    if (Token < 0 || static_cast<size_t>(Token) / Bits >= Mask.size())
      continue;
    if (MayEnd)
      grammar::setBit(Mask, Token);
    else
      grammar::clearBit(Mask, Token);
  }
  return Mask;
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

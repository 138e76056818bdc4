//===- StagedPages.h - Where sequences lie in staged pages ------*- C++ -*-===//

#ifndef TENON_RUNTIME_ABI_STAGEDPAGES_H
#define TENON_RUNTIME_ABI_STAGEDPAGES_H

#include "runtime/Abi/Types.h"

#include <cstdint>

namespace tenon {

/// Places the keys and values of a step's sequences in staged pages, so that a
/// sequence's results are to the bit what they are alone. Sums go page by page,
/// in a page over pairs of keys: a sequence begins a page, or it ends in the
/// page that it begins in and begins at an even slot.
class StagedPages {
public:
  /// Places the next sequence of the step, of `Tokens` tokens: the slot of its
  /// first token, counted over all pages.
  constexpr int64_t add(int64_t Tokens) {
    int64_t Begin = roundUp(Next, 2);
    if (Begin % PageTokens + Tokens > PageTokens)
      Begin = roundUp(Next, PageTokens);
    Next = Begin + Tokens;
    return Begin;
  }

  /// Pages begun so far.
  constexpr int64_t count() const {
    return (Next + PageTokens - 1) / PageTokens;
  }

  /// The most pages of a step of `Tokens` tokens, at least 1. The slots of a
  /// page and the first sequence of the next are more than a page, and at most
  /// every second of these slots lies empty.
  static constexpr int64_t most(int64_t Tokens) {
    return Tokens / (PageTokens / 2) + 1;
  }

private:
  int64_t Next = 0;
};

} // namespace tenon

#endif // TENON_RUNTIME_ABI_STAGEDPAGES_H

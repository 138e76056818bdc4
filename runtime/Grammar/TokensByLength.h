//===- TokensByLength.h - Tokens of at most so many characters --*- C++ -*-===//

#ifndef TENON_RUNTIME_GRAMMAR_TOKENSBYLENGTH_H
#define TENON_RUNTIME_GRAMMAR_TOKENSBYLENGTH_H

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace tenon::grammar {

/// Tokens by a number of characters: with these a bound of it costs no more
/// than none.
class TokensByLength {
public:
  void add(uint32_t Chars, int32_t Token) { All.push_back({Chars, Token}); }
  /// When all are there; `Words` are of a mask.
  void seal(size_t Words);

  /// Adds to a mask those of at most `Max` characters.
  void addUpTo(uint32_t Max, std::span<uint64_t> To) const;
  /// Of these those that are in `Of`, too.
  void addUpTo(uint32_t Max, std::span<uint64_t> To,
               std::span<const uint64_t> Of) const;

private:
  /// Most tokens are short: longer ones are looked at one by one.
  static constexpr uint32_t Short = 32;

  /// By their number, and those only that are not short once it is known.
  std::vector<std::pair<uint32_t, int32_t>> All;
  std::vector<std::vector<uint64_t>> UpTo;
};

} // namespace tenon::grammar

#endif // TENON_RUNTIME_GRAMMAR_TOKENSBYLENGTH_H

//===- MaskedScores.h - Scores of the tokens that are allowed ---*- C++ -*-===//

#ifndef TENON_RUNTIME_SAMPLING_MASKEDSCORES_H
#define TENON_RUNTIME_SAMPLING_MASKEDSCORES_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tenon::sampling {

/// Tokens whose scores are looked at together.
inline constexpr size_t BlockSize = 256;

/// Scores [vocabulary] of the next token, read in blocks; those that a mask
/// leaves out are -infinity. Both must outlive it.
class MaskedScores {
public:
  using Room = std::array<float, BlockSize>;

  /// `Mask`: a bit for each token, the lowest first, set where it is allowed,
  /// and possibly more; without words all are allowed.
  explicit MaskedScores(std::span<const float> Scores,
                        std::span<const uint64_t> Mask = {})
      : Scores(Scores), Mask(Mask) {}

  size_t size() const { return Scores.size(); }
  size_t blocks() const { return (size() + BlockSize - 1) / BlockSize; }
  float operator[](size_t Token) const;
  /// The scores of tokens from Block * BlockSize on: as they are, or copied
  /// into `Copy` without those that the mask leaves out.
  std::span<const float> block(size_t Block, Room &Copy) const;
  /// Whether the mask leaves out all of them.
  bool isLeftOut(size_t Block) const;
  /// Whether all are -infinity.
  bool isEmpty() const;

private:
  std::span<const uint64_t> wordsOf(size_t Block) const;

  std::span<const float> Scores;
  std::span<const uint64_t> Mask;
};

} // namespace tenon::sampling

#endif // TENON_RUNTIME_SAMPLING_MASKEDSCORES_H

//===- KeyValueCache.h - Keys and values between steps ----------*- C++ -*-===//

#ifndef TENON_COMPILER_EVALUATOR_KEYVALUECACHE_H
#define TENON_COMPILER_EVALUATOR_KEYVALUECACHE_H

#include "compiler/Checkpoint/ElementType.h"
#include "compiler/Evaluator/Tensor2D.h"
#include "runtime/Abi/Types.h"
#include "runtime/Support/Result.h"

#include <map>
#include <span>

namespace tenon {

/// `Value` as an element of `Type` holds it.
float roundTo(ElementType Type, float Value);

/// Rounds values that share a scale, a head's of one token, as a cache of
/// `Format` stores them: to nearest, ties to even.
void roundTo(CacheFormat Format, std::span<float> Head);

/// Rounds plain numbers the same way.
void roundTo(StorageFormat Format, std::span<float> Row);

/// One kind of cache of all layers and sequences. Latent vectors are keys
/// without values.
class KeyValueCache {
public:
  /// Rows of heads of `HeadDim` values, stored in `Format`.
  KeyValueCache(int64_t KeyWidth, int64_t ValueWidth, CacheFormat Format,
                int64_t HeadDim = 1)
      : KeyWidth(KeyWidth), ValueWidth(ValueWidth), HeadDim(HeadDim),
        Format(Format) {}

  /// Stores a key and a value row at `Position`, which may be one already
  /// stored, or the next. An error when it lies further on.
  Status store(int64_t Layer, int64_t Sequence, int64_t Position,
               const float *Key, const float *Value);

  /// How many positions are stored.
  int64_t length(int64_t Layer, int64_t Sequence) const;
  /// The key row at a stored position.
  const float *key(int64_t Layer, int64_t Sequence, int64_t Position) const;
  /// The value row at a stored position.
  const float *value(int64_t Layer, int64_t Sequence, int64_t Position) const;

  void forget(int64_t Sequence);

private:
  /// Rows by position, one after another.
  struct Rows {
    std::vector<float> Keys, Values;
  };

  int64_t KeyWidth, ValueWidth, HeadDim;
  CacheFormat Format;
  std::map<std::pair<int64_t, int64_t>, Rows> Stored; // by layer and sequence
};

} // namespace tenon

#endif // TENON_COMPILER_EVALUATOR_KEYVALUECACHE_H

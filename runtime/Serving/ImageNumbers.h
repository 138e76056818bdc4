//===- ImageNumbers.h - Prompts with images, to compare ---------*- C++ -*-===//

#ifndef TENON_RUNTIME_SERVING_IMAGENUMBERS_H
#define TENON_RUNTIME_SERVING_IMAGENUMBERS_H

#include "runtime/Generation/Request.h"

#include <array>
#include <cstdint>
#include <map>
#include <unordered_set>
#include <vector>

namespace tenon::serving {

/// Gives different images different numbers, below all token ids, so that
/// prompts can be kept and compared as sequences of numbers. One that is
/// forgotten is never given again.
class ImageNumbers {
public:
  /// The prompt of `R`, in which each image token is its image's number; empty
  /// where there are no more numbers.
  std::vector<int32_t> promptOf(const engine::Model &M,
                                const generation::Request &R);

  size_t size() const { return Known.size(); }
  /// Forgets all images but those of these numbers.
  void keepOnly(const std::unordered_set<int32_t> &Used);

private:
  std::map<std::array<uint32_t, 8>, int32_t> Known; ///< By digest.
  int32_t Next = -1;
};

/// Whether a prompt of numbers has an image.
bool hasImage(std::span<const int32_t> Prompt);

} // namespace tenon::serving

#endif // TENON_RUNTIME_SERVING_IMAGENUMBERS_H

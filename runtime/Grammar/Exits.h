//===- Exits.h - Where tokens leave a terminal ------------------*- C++ -*-===//

#ifndef TENON_RUNTIME_GRAMMAR_EXITS_H
#define TENON_RUNTIME_GRAMMAR_EXITS_H

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace tenon::grammar {

/// Nodes of a token table of which the byte comes behind the end of a terminal,
/// by that byte: what follows allows few bytes, and needs to look at no others.
class Exits {
public:
  struct Exit {
    uint32_t Node;
    uint32_t Chars; ///< That the terminal has had, where they are counted.
    uint8_t Byte;
  };

  void add(Exit E) { All.push_back(E); }
  /// When all are there that are asked for next.
  void seal() {
    std::stable_sort(All.begin(), All.end(), [](const Exit &A, const Exit &B) {
      return A.Byte < B.Byte;
    });
  }
  bool empty() const { return All.empty(); }
  std::span<const Exit> of(uint8_t Byte) const {
    auto [Begin, End] = std::equal_range(
        All.begin(), All.end(), Exit{0, 0, Byte},
        [](const Exit &A, const Exit &B) { return A.Byte < B.Byte; });
    return {Begin, End};
  }
  size_t bytes() const { return All.capacity() * sizeof(Exit); }

private:
  std::vector<Exit> All;
};

} // namespace tenon::grammar

#endif // TENON_RUNTIME_GRAMMAR_EXITS_H

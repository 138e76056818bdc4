//===- Exits.h - Where tokens leave a terminal ------------------*- C++ -*-===//

#ifndef TENON_RUNTIME_GRAMMAR_EXITS_H
#define TENON_RUNTIME_GRAMMAR_EXITS_H

#include <array>
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
  /// When all are there.
  void seal() {
    for (const Exit &E : All)
      ++Begin[size_t(E.Byte) + 1];
    for (size_t Byte = 0; Byte < 256; ++Byte)
      Begin[Byte + 1] += Begin[Byte];
    std::array<uint32_t, 257> At = Begin;
    std::vector<Exit> Sorted(All.size());
    for (const Exit &E : All)
      Sorted[At[E.Byte]++] = E;
    All = std::move(Sorted);
  }
  std::span<const Exit> of(uint8_t Byte) const {
    return std::span(All).subspan(Begin[Byte],
                                  Begin[size_t(Byte) + 1] - Begin[Byte]);
  }
  size_t bytes() const { return All.capacity() * sizeof(Exit); }

private:
  std::vector<Exit> All;
  std::array<uint32_t, 257> Begin{};
};

} // namespace tenon::grammar

#endif // TENON_RUNTIME_GRAMMAR_EXITS_H

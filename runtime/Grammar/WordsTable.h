//===- WordsTable.h - Numbers of rows of words ------------------*- C++ -*-===//

#ifndef TENON_RUNTIME_GRAMMAR_WORDSTABLE_H
#define TENON_RUNTIME_GRAMMAR_WORDSTABLE_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace tenon::grammar {

/// Gives rows of words a number each. Nothing is allocated for a row of its
/// own, and a table that grows is copied in parts: to do it all at once would
/// be a pause while a text is written.
class WordsTable {
public:
  using Row = std::span<const uint32_t>;

  std::optional<uint32_t> find(Row Of) const;
  /// The number of a row, or `Number` for one that is new: true.
  std::pair<uint32_t, bool> add(Row Of, uint32_t Number);
  std::pair<uint32_t, bool> add(std::initializer_list<uint32_t> Of,
                                uint32_t Number) {
    return add(Row(Of.begin(), Of.size()), Number);
  }

private:
  struct Slot {
    uint32_t Hash = 0;
    uint32_t Number = 0;
    uint32_t Begin = Free; ///< In Words.
    uint32_t Size = 0;
  };
  struct Part {
    std::vector<Slot> Slots; ///< A power of two, of which a quarter is free.
    std::vector<uint32_t> Words;
    size_t Count = 0;

    size_t placeOf(uint32_t Hash, Row Of) const;
    void grow();
  };
  static constexpr uint32_t Free = UINT32_MAX;
  static constexpr size_t PartBits = 4;

  static uint64_t hashOf(Row Of);

  std::array<Part, size_t{1} << PartBits> Parts;
};

} // namespace tenon::grammar

#endif // TENON_RUNTIME_GRAMMAR_WORDSTABLE_H

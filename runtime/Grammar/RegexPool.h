//===- RegexPool.h - Regular languages by derivatives -----------*- C++ -*-===//
//
// Regular expressions over code points, with intersection and complement, as
// nodes of a pool in which equal ones are the same. What may follow a character
// is a node again, its derivative (Brzozowski 1964): nodes are the states of an
// automaton that is built as far as texts go. Counts are numbers in nodes and
// never unrolled; sets of words are tries.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_GRAMMAR_REGEXPOOL_H
#define TENON_RUNTIME_GRAMMAR_REGEXPOOL_H

#include "runtime/Grammar/CharSet.h"
#include "runtime/Grammar/WordsTable.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace tenon::grammar {

using NodeId = uint32_t;

class RegexPool {
public:
  static constexpr NodeId Nothing = 0, Epsilon = 1, AnyChar = 2, AnyText = 3;
  static constexpr uint32_t Unbounded = UINT32_MAX;

  RegexPool();

  NodeId set(const CharSet &S);
  NodeId literal(std::u32string_view Text);
  NodeId concat(NodeId A, NodeId B);
  NodeId unite(std::vector<NodeId> Parts);
  NodeId unite(NodeId A, NodeId B) { return unite(std::vector{A, B}); }
  NodeId intersect(std::vector<NodeId> Parts);
  NodeId intersect(NodeId A, NodeId B) { return intersect(std::vector{A, B}); }
  NodeId complement(NodeId A);
  NodeId repeat(NodeId A, uint32_t Min, uint32_t Max);
  /// Texts of Min to Max code points.
  NodeId anyOfLength(uint32_t Min, uint32_t Max);
  /// One of the words, in any order.
  NodeId words(std::vector<std::u32string> Words);

  bool nullable(NodeId N) const { return Nodes[N].Nullable; }
  /// Whether some text is accepted.
  bool live(NodeId N);
  /// Whether texts may be without bound; where not, no state comes twice.
  bool mayLoop(NodeId N) const { return Nodes[N].HasLoop; }
  /// Whether some character may follow.
  bool goesOn(NodeId N);
  /// Whether the language is known to be without end.
  bool endless(NodeId N) const { return Nodes[N].HasLoop && !Nodes[N].IsLogic; }
  /// Of a node that is any text of bounded length, those bounds.
  std::optional<std::pair<uint32_t, uint32_t>> lengths(NodeId N) const;
  /// The same without bounds that lie more than `Near` characters ahead, for
  /// texts no longer than that: of characters of one set, repeated, alone or
  /// with something else that they must fulfil.
  NodeId withoutFarBounds(NodeId N, uint32_t Near);
  /// Of characters of one set, repeated: how often, and the same repeated as
  /// often as one likes.
  struct Run {
    NodeId Any;
    uint32_t Min, Max;
  };
  std::optional<Run> run(NodeId N);
  /// The words of a node that words() made, or of a part of them; none of
  /// others.
  std::vector<std::u32string> wordsOf(NodeId N) const;
  /// All texts of `N` if there are at most `Most`.
  std::optional<std::vector<std::u32string>> list(NodeId N, size_t Most);

  /// The live nodes behind the characters of each range, in order.
  struct Edge {
    char32_t First, Last;
    NodeId Next;
  };
  const std::vector<Edge> &edges(NodeId N);
  /// The live node behind `Code`, or Nothing.
  NodeId next(NodeId N, char32_t Code);
  bool matches(NodeId N, std::u32string_view Text);

  size_t size() const { return Nodes.size(); }
  /// Rough memory, in bytes.
  size_t bytes() const { return Bytes; }
  /// Allows so many steps from here on, parts of nodes that are looked up.
  void allowSteps(size_t Count) {
    Steps = 0;
    MostSteps = Count;
  }
  size_t stepsTaken() const { return Steps; }
  /// A search for an accepted text was given up; what follows is no answer.
  bool exhausted() const { return Exhausted; }
  void setMaxNodes(size_t Count) { MaxNodes = Count; }

private:
  enum class Kind : uint8_t {
    Nothing,
    Epsilon,
    Set,
    Concat,
    Or,
    And,
    Not,
    Repeat,
    Words
  };
  struct Node {
    Kind K;
    bool Nullable = false;
    bool IsLogic = false; ///< Holds And or Not.
    bool HasLoop = false;
    uint32_t Least = 0; ///< No text is shorter; there may be none so short.
    uint32_t A = 0, B = 0, Min = 0, Max = 0;
  };
  struct WordNode {
    bool IsEnd = false;
    std::vector<std::pair<char32_t, uint32_t>> Children;
  };

  NodeId make(Node N, WordsTable::Row Key);
  NodeId make(Node N, std::initializer_list<uint32_t> Key) {
    return make(N, WordsTable::Row(Key.begin(), Key.size()));
  }
  NodeId wordsNode(uint32_t Trie);
  std::optional<bool> knownLive(NodeId N) const;
  uint32_t trieOf(const std::vector<std::u32string> &Sorted, size_t Begin,
                  size_t End, size_t Depth);
  NodeId filterWords(NodeId Words, const std::vector<NodeId> &Others);
  NodeId derive(NodeId N, char32_t Code);
  NodeId deriveOnce(NodeId N, char32_t Code);
  struct Ends {
    uint32_t Most;
    bool GoOn;
  };
  std::optional<Ends> waysToEnd(NodeId N);
  const std::vector<Edge> &rawEdges(NodeId N);
  void collect(NodeId N, std::vector<NodeId> &Leaves,
               std::vector<NodeId> &Seen);

  std::vector<Node> Nodes;
  WordsTable Ids;
  std::vector<CharSet> Sets;
  std::map<std::vector<CharRange>, uint32_t> SetIds;
  std::vector<std::vector<NodeId>> Lists;
  std::vector<WordNode> Tries;
  WordsTable TrieIds;
  std::unordered_map<NodeId, std::vector<Edge>> Raw, Live;
  std::unordered_map<NodeId, bool> IsLive;
  std::unordered_map<NodeId, std::optional<Ends>> EndsOf; ///< See waysToEnd().
  std::unordered_map<NodeId, NodeId> Derived; ///< By the present character.
  size_t Bytes = 0;
  size_t MaxNodes = 1u << 20;
  size_t Steps = 0, MostSteps = SIZE_MAX;
  bool Exhausted = false;
};

} // namespace tenon::grammar

#endif // TENON_RUNTIME_GRAMMAR_REGEXPOOL_H

//===- Graphemes.cpp - Where grapheme clusters end ------------------------===//

#include "runtime/Tokenizer/Graphemes.h"

#include "runtime/Tokenizer/Unicode.h"

#include <algorithm>
#include <iterator>

using namespace tenon;
using namespace tenon::tokenizer;

namespace {

/// What the rules tell apart; Linker and Extend both extend a cluster.
enum class ClusterClass {
  Other,
  Control,
  Prepend,
  Spacing,
  Extend,
  Linker,
  NonJoiner,
  Joiner,
  Consonant,
  Pictograph,
  Flag,
  Lead,
  Vowel,
  Tail,
  LeadVowel,
  LeadVowelTail
};

struct ClusterRange {
  char32_t First;
  char32_t Last;
  ClusterClass Class;
};

#include "runtime/Tokenizer/GraphemeTables.inc"

} // namespace

static bool within(char32_t Code, char32_t First, char32_t Last) {
  return Code >= First && Code <= Last;
}

static ClusterClass classOf(char32_t Code) {
  if (within(Code, 0x20, 0x7e))
    return ClusterClass::Other;
  if (Code == 0x200c)
    return ClusterClass::NonJoiner;
  if (Code == 0x200d)
    return ClusterClass::Joiner;
  if (within(Code, 0x1f1e6, 0x1f1ff))
    return ClusterClass::Flag;
  if (within(Code, 0x1100, 0x115f) || within(Code, 0xa960, 0xa97c))
    return ClusterClass::Lead;
  if (within(Code, 0x1160, 0x11a7) || within(Code, 0xd7b0, 0xd7c6))
    return ClusterClass::Vowel;
  if (within(Code, 0x11a8, 0x11ff) || within(Code, 0xd7cb, 0xd7fb))
    return ClusterClass::Tail;
  // Of each 28 syllables, the first has no tail.
  if (within(Code, 0xac00, 0xd7a3))
    return (Code - 0xac00) % 28 == 0 ? ClusterClass::LeadVowel
                                     : ClusterClass::LeadVowelTail;
  const auto *Above = std::upper_bound(
      std::begin(ClusterRanges), std::end(ClusterRanges), Code,
      [](char32_t C, const ClusterRange &R) { return C < R.First; });
  if (Above == std::begin(ClusterRanges) || Code > std::prev(Above)->Last)
    return ClusterClass::Other;
  return std::prev(Above)->Class;
}

namespace {

/// What of the cluster so far later rules ask for.
class ClusterState {
public:
  explicit ClusterState(char32_t First) { take(First, classOf(First)); }

  /// Takes `Code` into the cluster, or says that it begins another.
  bool extendBy(char32_t Code) {
    ClusterClass Class = classOf(Code);
    if (!joins(Code, Class))
      return false;
    take(Code, Class);
    return true;
  }

private:
  using C = ClusterClass;

  // Comments name the rules of the annex.
  bool joins(char32_t Code, C Class) const {
    if (LastCode == '\r' && Code == '\n') // GB3
      return true;
    if (Last == C::Control || Class == C::Control) // GB4, GB5
      return false;
    switch (Class) {
    case C::Extend:
    case C::Linker:
    case C::NonJoiner:
    case C::Joiner:
    case C::Spacing: // GB9, GB9a
      return true;
    case C::Lead:
    case C::LeadVowel:
    case C::LeadVowelTail: // GB6
      if (Last == C::Lead)
        return true;
      break;
    case C::Vowel: // GB6, GB7
      if (Last == C::Lead || Last == C::LeadVowel || Last == C::Vowel)
        return true;
      break;
    case C::Tail: // GB7, GB8
      if (Last == C::LeadVowel || Last == C::Vowel ||
          Last == C::LeadVowelTail || Last == C::Tail)
        return true;
      break;
    case C::Consonant: // GB9c
      if (Conjunct == Linked)
        return true;
      break;
    case C::Pictograph: // GB11
      if (Emoji == Joined)
        return true;
      break;
    case C::Flag: // GB12, GB13
      if (OddFlags)
        return true;
      break;
    default:
      break;
    }
    return Last == C::Prepend; // GB9b
  }

  void take(char32_t Code, C Class) {
    LastCode = Code;
    Last = Class;
    OddFlags = Class == C::Flag && !OddFlags;

    bool Extends =
        Class == C::Extend || Class == C::Linker || Class == C::NonJoiner;
    if (Class == C::Pictograph)
      Emoji = Begun;
    else if (Class == C::Joiner && Emoji == Begun)
      Emoji = Joined;
    else if (!Extends || Emoji == Joined)
      Emoji = None;

    if (Class == C::Consonant)
      Conjunct = Begun;
    else if (Class == C::Linker && Conjunct != None)
      Conjunct = Linked;
    else if (Class != C::Extend && Class != C::Joiner)
      Conjunct = None;
  }

  enum Progress { None, Begun, Joined, Linked = Joined };

  char32_t LastCode = 0;
  C Last = C::Other;
  Progress Emoji = None;    ///< A pictograph, extended, then a joiner.
  Progress Conjunct = None; ///< A consonant, extended, with a linker.
  bool OddFlags = false;
};

} // namespace

size_t tokenizer::graphemeEnd(std::string_view Text, size_t Begin) {
  auto Plain = [](char C) { return C >= 0x20 && C < 0x7f; };
  if (Plain(Text[Begin]) &&
      (Begin + 1 == Text.size() || Plain(Text[Begin + 1])))
    return Begin + 1;
  size_t End = Begin;
  ClusterState State(nextCode(Text, End));
  while (End < Text.size()) {
    size_t Next = End;
    if (!State.extendBy(nextCode(Text, Next)))
      break;
    End = Next;
  }
  return End;
}

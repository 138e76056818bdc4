//===- CharacterMap.cpp - SentencePiece's normalization rules -------------===//

#include "runtime/Tokenizer/CharacterMap.h"

#include "runtime/Tokenizer/Unicode.h"

using namespace tenon;
using namespace tenon::tokenizer;

/// The longest that a rule may make of a few characters: the text must not grow
/// without end.
static constexpr size_t MaxReplacementBytes = 1024;

/// A unit is a node or, with the highest bit, a value. A node has the byte that
/// leads to it, whether a value is at its base, and what to combine its own
/// place with to get its base; a child is at the base combined with its byte.
static bool isValue(uint32_t Unit) { return Unit >> 31 != 0; }
static uint32_t valueOf(uint32_t Unit) { return Unit & 0x7fffffff; }
static bool hasValue(uint32_t Unit) { return (Unit >> 8 & 1) != 0; }
static bool hasLabel(uint32_t Unit, unsigned char Byte) {
  return (Unit & 0x800000ff) == Byte;
}
static size_t baseOf(size_t Place, uint32_t Unit) {
  size_t Offset = size_t{Unit >> 10} << ((Unit >> 9 & 1) * 8);
  return Place ^ Offset;
}

static uint32_t littleEndian(std::string_view Bytes, size_t At) {
  uint32_t Value = 0;
  for (size_t I = 4; I-- > 0;)
    Value = Value << 8 | static_cast<unsigned char>(Bytes[At + I]);
  return Value;
}

Result<CharacterMap> CharacterMap::fromBytes(std::string_view Blob) {
  if (Blob.size() < 4)
    return Error("has " + std::to_string(Blob.size()) +
                 " bytes: expected 4 with the size of the trie first");
  size_t TrieBytes = littleEndian(Blob, 0);
  Blob.remove_prefix(4);
  if (TrieBytes > Blob.size() || TrieBytes % 4 != 0 || TrieBytes == 0)
    return Error("has a trie of " + std::to_string(TrieBytes) +
                 " bytes: expected a multiple of 4 from 4 to " +
                 std::to_string(Blob.size()));
  CharacterMap Map;
  Map.Texts = Blob.substr(TrieBytes);
  if (std::optional<size_t> Bad = findInvalidUtf8(Map.Texts))
    return Error("has replacements that are not UTF-8 at byte " +
                 std::to_string(*Bad) + ": expected UTF-8");
  Map.Units.resize(TrieBytes / 4);
  for (size_t I = 0; I < Map.Units.size(); ++I)
    Map.Units[I] = littleEndian(Blob, 4 * I);

  for (size_t I = 0; I < Map.Units.size(); ++I) {
    uint32_t Unit = Map.Units[I];
    if (isValue(Unit))
      continue;
    auto Fail = [&](std::string_view What, size_t Value,
                    std::string_view Expected) {
      std::string Text = "has a unit " + std::to_string(I) + " with the ";
      Text.append(What).append(" ").append(std::to_string(Value));
      return Error(Text.append(": expected ").append(Expected));
    };
    size_t Base = baseOf(I, Unit);
    if (Base >= Map.Units.size())
      return Fail("base", Base,
                  "less than " + std::to_string(Map.Units.size()));
    if (!hasValue(Unit))
      continue;
    if (!isValue(Map.Units[Base]))
      return Fail("base", Base, "a value there");
    size_t Begin = valueOf(Map.Units[Base]);
    if (Begin >= Map.Texts.size())
      return Fail("value", Begin,
                  "less than " + std::to_string(Map.Texts.size()));
    if ((static_cast<unsigned char>(Map.Texts[Begin]) & 0xc0) == 0x80)
      return Fail("value", Begin, "the start of a character");
    std::string_view Longest =
        std::string_view(Map.Texts).substr(Begin, MaxReplacementBytes + 1);
    if (Longest.find('\0') == std::string_view::npos)
      return Fail("value", Begin,
                  "a text of at most " + std::to_string(MaxReplacementBytes) +
                      " bytes with a NUL behind it");
  }
  return Map;
}

std::optional<std::string_view>
CharacterMap::find(std::string_view Text) const {
  size_t Base = baseOf(0, Units[0]);
  for (char C : Text) {
    auto Byte = static_cast<unsigned char>(C);
    size_t Place = Base ^ Byte;
    // Units that were checked have bases within the trie; the children around
    // the last base need not be.
    if (Byte == 0 || Place >= Units.size() || !hasLabel(Units[Place], Byte))
      return std::nullopt;
    Base = baseOf(Place, Units[Place]);
    if (!hasValue(Units[Place]))
      continue;
    size_t Begin = valueOf(Units[Base]);
    return std::string_view(Texts).substr(Begin,
                                          Texts.find('\0', Begin) - Begin);
  }
  return std::nullopt;
}

//===- ToJson.cpp - Values as Python's json.dumps writes them -------------===//

#include "runtime/Chat/Limits.h"
#include "runtime/Chat/Operators.h"
#include "runtime/Tokenizer/Unicode.h"

#include <algorithm>
#include <cmath>

using namespace tenon;
using namespace tenon::chat;

namespace {

class Writer {
public:
  explicit Writer(const JsonStyle &Style) : Style(Style) {}

  Status write(const Value &V, unsigned Depth) {
    if (Depth > MaxValueDepth)
      return Error("a value for JSON is nested deeper than " +
                   std::to_string(MaxValueDepth) + " levels");
    if (Out.size() > MaxTextBytes)
      return Error("a value for JSON takes more than " +
                   std::to_string(MaxTextBytes) + " bytes");
    Of = mixed(Of, V.origin());
    switch (V.kind()) {
    case Kind::None:
      Out += "null";
      return {};
    case Kind::Boolean:
      Out += V.asBoolean() ? "true" : "false";
      return {};
    case Kind::Integer:
      Out += std::to_string(V.asInteger());
      return {};
    case Kind::Float:
      Out += numberText(V.asReal());
      return {};
    case Kind::String:
      writeString(V.str());
      return {};
    case Kind::List:
    case Kind::Tuple:
      return writeItems(V.items(), Depth);
    case Kind::Mapping:
      return writeMembers(V.members(), Depth);
    default:
      return Error(describe(V) + " has no JSON: expected strings, numbers, "
                                 "lists and mappings");
    }
  }

  std::string Out;
  Origin Of = Origin::Template;

private:
  static std::string numberText(double Number) {
    if (std::isnan(Number))
      return "NaN";
    if (std::isinf(Number))
      return Number < 0 ? "-Infinity" : "Infinity";
    return floatText(Number);
  }

  void breakLine(unsigned Depth) {
    if (!Style.Indent)
      return;
    Out += '\n';
    for (unsigned I = 0; I < Depth; ++I)
      Out += *Style.Indent;
  }

  Status writeItems(const std::vector<Value> &Items, unsigned Depth) {
    Out += '[';
    for (size_t I = 0; I < Items.size(); ++I) {
      Out += I == 0 ? "" : Style.BetweenItems;
      breakLine(Depth + 1);
      if (Status Done = write(Items[I], Depth + 1); !Done)
        return Done;
    }
    if (!Items.empty())
      breakLine(Depth);
    Out += ']';
    return {};
  }

  static Result<std::string> keyText(const Value &Key) {
    switch (Key.kind()) {
    case Kind::String:
      return Key.str();
    case Kind::None:
      return std::string("null");
    case Kind::Boolean:
      return std::string(Key.asBoolean() ? "true" : "false");
    case Kind::Integer:
      return std::to_string(Key.asInteger());
    case Kind::Float:
      return numberText(Key.asReal());
    default:
      return Error("a key for JSON is " + describe(Key) +
                   ": expected a string or a number");
    }
  }

  Status writeMembers(const Mapping &All, unsigned Depth) {
    std::vector<const std::pair<Value, Value> *> Members;
    for (const auto &Member : All.Members)
      Members.push_back(&Member);
    if (Style.SortKeys) {
      bool Comparable = true;
      std::stable_sort(Members.begin(), Members.end(),
                       [&](const auto *A, const auto *B) {
                         std::optional<int> Order = compare(A->first, B->first);
                         Comparable &= Order.has_value();
                         return Order.value_or(0) < 0;
                       });
      if (!Comparable)
        return Error("keys to sort are of different kinds: expected strings");
    }
    Out += '{';
    for (size_t I = 0; I < Members.size(); ++I) {
      Out += I == 0 ? "" : Style.BetweenItems;
      breakLine(Depth + 1);
      Result<std::string> Key = keyText(Members[I]->first);
      if (!Key)
        return Key.error();
      Of = mixed(Of, Members[I]->first.origin());
      writeString(*Key);
      Out += Style.BehindKeys;
      if (Status Done = write(Members[I]->second, Depth + 1); !Done)
        return Done;
    }
    if (!Members.empty())
      breakLine(Depth);
    Out += '}';
    return {};
  }

  void writeEscape(uint32_t Unit) {
    char Escape[16];
    std::snprintf(Escape, sizeof(Escape), "\\u%04x", Unit);
    Out += Escape;
  }

  void writeString(const std::string &Content) {
    Out += '"';
    for (size_t At = 0; At < Content.size();) {
      size_t Begin = At;
      char32_t Code = tokenizer::nextCode(Content, At);
      constexpr std::string_view Signs = "\"\\\n\r\t\b\f";
      constexpr std::string_view Letters = "\"\\nrtbf";
      size_t Found = Code < 0x80 ? Signs.find(static_cast<char>(Code))
                                 : std::string_view::npos;
      if (Found != Signs.npos) {
        Out += '\\';
        Out += Letters[Found];
      } else if (Code < 0x20 || (Style.OnlyAscii && Code >= 0x7f)) {
        if (Code >= 0x10000) {
          writeEscape(0xd800 + ((Code - 0x10000) >> 10));
          writeEscape(0xdc00 + ((Code - 0x10000) & 0x3ff));
        } else {
          writeEscape(Code);
        }
      } else {
        Out.append(Content, Begin, At - Begin);
      }
    }
    Out += '"';
  }

  const JsonStyle &Style;
};

} // namespace

Result<Text> chat::toJson(const Value &V, const JsonStyle &Style) {
  Writer W(Style);
  if (Status Done = W.write(V, 0); !Done)
    return Done.error();
  return Text(std::move(W.Out), W.Of);
}

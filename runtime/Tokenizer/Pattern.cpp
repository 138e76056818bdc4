//===- Pattern.cpp - What splitting and replacing look for ----------------===//

#include "runtime/Tokenizer/Pattern.h"

#include "runtime/Tokenizer/Fields.h"
#include "runtime/Tokenizer/Unicode.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::tokenizer;

Result<Pattern> Pattern::fromJson(const JsonField &Field) {
  if (Status Known = expectOnly(Field, {"String", "Regex"}); !Known)
    return Known.error();
  if (Field.json().size() != 1)
    return Field.expected("either \"String\" or \"Regex\"");
  if (Field.has("String")) {
    Result<std::string> Text = requiredString(Field, "String");
    if (!Text)
      return Text.error();
    return Pattern(std::move(*Text));
  }
  Result<JsonField> Text = Field.member("Regex");
  if (!Text)
    return Text.error();
  Result<Regex> Compiled = Regex::fromJson(*Text);
  if (!Compiled)
    return Compiled.error();
  return Pattern(std::move(*Compiled));
}

Status Pattern::forEachPart(std::string_view Text, const OnPart &Found) const {
  size_t Done = 0;
  auto Match = [&](size_t Begin, size_t End) -> Status {
    if (Begin > Done)
      if (Status Before = Found(Done, Begin, false); !Before)
        return Before;
    Done = End;
    return Found(Begin, End, true);
  };
  if (const auto *Expression = std::get_if<Regex>(&What)) {
    if (Status Searched = Expression->forEachMatch(Text, Match); !Searched)
      return Searched;
  } else if (const auto &Literal = std::get<std::string>(What);
             Literal.empty()) {
    // The empty string is found before each character and at the end.
    for (size_t At = 0;;) {
      if (Status Seen = Match(At, At); !Seen)
        return Seen;
      if (At == Text.size())
        break;
      nextCode(Text, At);
    }
  } else {
    for (size_t At = 0; (At = Text.find(Literal, At)) != std::string_view::npos;
         At += Literal.size())
      if (Status Seen = Match(At, At + Literal.size()); !Seen)
        return Seen;
  }
  if (Done < Text.size())
    return Found(Done, Text.size(), false);
  return {};
}

Result<std::string> Pattern::replace(std::string_view Text,
                                     std::string_view Content,
                                     size_t *AtStart) const {
  auto TooLong = [&] {
    return Error("replacing makes more than " + std::to_string(MaxTextBytes) +
                 " bytes of a text of " + std::to_string(Text.size()) +
                 ": expected less");
  };
  // A text that would grow too far should not do so first.
  if (const auto *Literal = std::get_if<std::string>(&What);
      Literal && !Literal->empty() && Content.size() > Literal->size()) {
    size_t Added = 0;
    for (size_t At = 0;
         (At = Text.find(*Literal, At)) != std::string_view::npos;
         At += Literal->size())
      Added += Content.size() - Literal->size();
    if (Text.size() + Added > MaxTextBytes)
      return TooLong();
  }
  std::string Out;
  size_t Kept = 0;
  Status Done =
      forEachPart(Text, [&](size_t Begin, size_t End, bool IsMatch) -> Status {
        std::string_view Part =
            IsMatch ? Content : Text.substr(Begin, End - Begin);
        if (Part.size() > MaxTextBytes - Out.size())
          return TooLong();
        Out += Part;
        // What replaces a match stems from the match's last byte.
        if (AtStart && *AtStart > 0 && IsMatch && End <= *AtStart)
          Kept = Out.size();
        else if (AtStart && !IsMatch && Begin < *AtStart)
          Kept = Out.size() - (End - std::min(End, *AtStart));
        return {};
      });
  if (!Done)
    return Done.error();
  if (AtStart)
    *AtStart = Kept;
  return Out;
}

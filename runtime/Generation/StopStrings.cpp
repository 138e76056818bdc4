//===- StopStrings.cpp - Texts that end a text ----------------------------===//

#include "runtime/Generation/StopStrings.h"

#include <algorithm>
#include <utility>

using namespace tenon::generation;

StopStrings::Pattern::Pattern(std::string Of)
    : Text(std::move(Of)), Borders(Text.size()) {
  size_t Border = 0;
  for (size_t I = 1; I < Text.size(); ++I) {
    while (Border != 0 && Text[I] != Text[Border])
      Border = Borders[Border - 1];
    Border += Text[I] == Text[Border];
    Borders[I] = Border;
  }
}

/// Whether `Byte` completes it.
bool StopStrings::Pattern::accept(char Byte) {
  while (Matched != 0 && Text[Matched] != Byte)
    Matched = Borders[Matched - 1];
  Matched += Text[Matched] == Byte;
  return Matched == Text.size();
}

StopStrings::StopStrings(const std::vector<std::string> &Texts) {
  for (const std::string &Text : Texts)
    Patterns.emplace_back(Text);
}

std::string StopStrings::push(std::string_view Text) {
  if (Found)
    return {};
  if (Patterns.empty())
    return std::string(Text);
  for (char Byte : Text) {
    Held += Byte;
    for (size_t I = 0; I < Patterns.size(); ++I)
      if (Patterns[I].accept(Byte) &&
          (!Found || Patterns[I].Text.size() > Patterns[*Found].Text.size()))
        Found = I;
    if (Found)
      break;
  }
  size_t Kept = Found ? Patterns[*Found].Text.size() : 0;
  if (!Found)
    for (const Pattern &P : Patterns)
      Kept = std::max(Kept, P.Matched);
  std::string Certain = Held.substr(0, Held.size() - Kept);
  Held.erase(0, Held.size() - Kept);
  if (Found)
    Held.clear();
  return Certain;
}

std::string StopStrings::finish() { return std::exchange(Held, {}); }

//===- AddedTokens.cpp - Tokens found before all else ---------------------===//

#include "runtime/Tokenizer/AddedTokens.h"

#include "runtime/Tokenizer/Fields.h"
#include "runtime/Tokenizer/Unicode.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::tokenizer;

static constexpr size_t MaxContentBytes = 1024;

void AddedTokens::Trie::insert(std::string_view Text, size_t Token) {
  size_t At = 0;
  Starts[static_cast<unsigned char>(Text[0])] = true;
  for (char Byte : Text) {
    size_t Child = childOf(At, Byte);
    if (Child == None) {
      Child = Nodes.size();
      Nodes.push_back({None, Nodes[At].FirstChild, None, Byte});
      Nodes[At].FirstChild = Child;
    }
    At = Child;
  }
  if (Nodes[At].Token == None)
    Nodes[At].Token = Token;
}

size_t AddedTokens::Trie::childOf(size_t Parent, char Byte) const {
  size_t Child = Nodes[Parent].FirstChild;
  while (Child != None && Nodes[Child].Byte != Byte)
    Child = Nodes[Child].Sibling;
  return Child;
}

template <typename Predicate>
std::optional<AddedTokens::Trie::Match>
AddedTokens::Trie::longestAt(std::string_view Text, size_t Begin,
                             Predicate Counts) const {
  std::optional<Match> Longest;
  if (!Starts[static_cast<unsigned char>(Text[Begin])])
    return Longest;
  size_t At = 0;
  for (size_t I = Begin; I < Text.size(); ++I) {
    At = childOf(At, Text[I]);
    if (At == None)
      break;
    if (Nodes[At].Token == None)
      continue;
    if (Match Found{I + 1 - Begin, Nodes[At].Token}; Counts(Found))
      Longest = Found;
  }
  return Longest;
}

Result<AddedTokens::Token> AddedTokens::readToken(const JsonField &Field) {
  Status Known = expectOnly(Field, {"id", "content", "single_word", "lstrip",
                                    "rstrip", "normalized", "special"});
  if (!Known)
    return Known.error();
  Token Made;
  Result<JsonField> Id = Field.member("id");
  if (!Id)
    return Id.error();
  Result<int64_t> Value = Id->asInteger(0, MaxTokenId - 1);
  if (!Value)
    return Value.error();
  Made.Id = static_cast<int32_t>(*Value);
  Result<JsonField> Content = Field.member("content");
  if (!Content)
    return Content.error();
  Result<std::string> Text = Content->asString();
  if (!Text)
    return Text.error();
  if (Text->empty() || Text->size() > MaxContentBytes)
    return Content->expected("1 to " + std::to_string(MaxContentBytes) +
                             " bytes");
  Made.Content = std::move(*Text);
  struct {
    const char *Name;
    bool &Option;
  } Switches[] = {{"single_word", Made.SingleWord},
                  {"lstrip", Made.StripLeft},
                  {"rstrip", Made.StripRight},
                  {"normalized", Made.Normalized},
                  {"special", Made.Special}};
  for (auto &[Name, Option] : Switches) {
    Result<bool> Switch = requiredBool(Field, Name);
    if (!Switch)
      return Switch.error();
    Option = *Switch;
  }
  return Made;
}

Result<AddedTokens> AddedTokens::fromJson(const JsonField &Field,
                                          const Vocabulary &Model,
                                          const Normalizer *Rules) {
  AddedTokens Made;
  Result<size_t> Count = Field.arraySize();
  if (!Count)
    return Count.error();
  auto Size = static_cast<int32_t>(Model.size());
  std::optional<int32_t> Highest;
  for (size_t I = 0; I < *Count; ++I) {
    Result<JsonField> Element = Field.element(I);
    if (!Element)
      return Element.error();
    Result<Token> Read = readToken(*Element);
    if (!Read)
      return Read.error();
    auto Fail = [&](const std::string &Expected) {
      return Error(Field.file() + ": field " + printable(Element->path()) +
                   " gives " + printable(Read->Content) + " the id " +
                   std::to_string(Read->Id) + ": expected " + Expected);
    };
    if (Made.IndexOf.contains(Read->Content))
      return Fail("each token once");
    std::optional<int32_t> InModel = Model.idOf(Read->Content);
    // The next id is after the highest given so far, but not below the number
    // of the model's tokens.
    int32_t Id = InModel ? *InModel : std::max(Highest.value_or(-1) + 1, Size);
    if (Read->Id != Id)
      return Fail(std::to_string(Id) +
                  (InModel ? ", its id in the vocabulary" : ", the next free"));
    // The next free id can be one that the model has, when those leave gaps.
    if (Made.IndexOfId.contains(Id) || (!InModel && Model.tokenOf(Id)))
      return Fail("each id once");
    Highest = std::max(Highest.value_or(-1), Id);
    Made.BeyondModel += !InModel;
    Made.IndexOf[Read->Content] = Made.Tokens.size();
    Made.IndexOfId[Id] = Made.Tokens.size();
    Made.Tokens.push_back(std::move(*Read));
  }

  // Special tokens come first: of tokens that normalize to the same text, the
  // first is found.
  for (bool Special : {true, false})
    for (size_t I = 0; I < Made.Tokens.size(); ++I) {
      Token &One = Made.Tokens[I];
      if (One.Special != Special)
        continue;
      if (!One.Normalized) {
        Made.Raw.insert(One.Content, I);
        One.Decoded = One.Content;
        continue;
      }
      std::string Content = One.Content;
      if (Rules)
        if (Status Done = Rules->apply(Content); !Done)
          return Done.error();
      if (Content.empty())
        return Error(Field.file() + ": field " + printable(Field.path()) +
                     " has the token " + printable(One.Content) +
                     ", which normalizes to nothing: expected some text");
      Made.AfterRules.insert(Content, I);
      Made.HasNormalizedSpecial |= Special;
      One.Decoded = std::move(Content);
    }
  return Made;
}

std::optional<int32_t> AddedTokens::idOf(std::string_view Token) const {
  auto Found = IndexOf.find(std::string(Token));
  if (Found == IndexOf.end())
    return std::nullopt;
  return Tokens[Found->second].Id;
}

std::optional<std::string_view> AddedTokens::tokenOf(int32_t Id) const {
  auto Found = IndexOfId.find(Id);
  if (Found == IndexOfId.end())
    return std::nullopt;
  return Tokens[Found->second].Decoded;
}

bool AddedTokens::isSpecial(std::string_view Token) const {
  auto Found = IndexOf.find(std::string(Token));
  return Found != IndexOf.end() && Tokens[Found->second].Special;
}

std::optional<std::string_view> AddedTokens::specialOf(int32_t Id) const {
  auto Found = IndexOfId.find(Id);
  if (Found == IndexOfId.end() || !Tokens[Found->second].Special)
    return std::nullopt;
  return Tokens[Found->second].Content;
}

Status AddedTokens::split(std::string_view Text, bool Normalized,
                          const Sink &Found, const Permit &MaySpecial) const {
  const Trie &Strings = Normalized ? AfterRules : Raw;
  size_t Done = 0;
  // The white space last stripped on the right: tokens that are white space
  // themselves must not walk it again and again.
  size_t SpaceBegin = 0, SpaceEnd = 0;
  for (size_t At = 0; At < Text.size();) {
    auto Counts = [&](const Trie::Match &M) {
      return !MaySpecial || !Tokens[M.Token].Special ||
             MaySpecial(At, At + M.Length);
    };
    std::optional<Trie::Match> Match = Strings.longestAt(Text, At, Counts);
    if (!Match) {
      ++At;
      continue;
    }
    const Token &T = Tokens[Match->Token];
    size_t Begin = At, End = At + Match->Length;
    // Searching goes on behind the token, taken or not.
    At = End;
    if (T.SingleWord) {
      size_t Before = Begin, After = End;
      if ((Begin > 0 && isWordCharacter(previousCode(Text, Before))) ||
          (End < Text.size() && isWordCharacter(nextCode(Text, After))))
        continue;
    }
    while (T.StripLeft && Begin > Done) {
      size_t Before = Begin;
      if (!isWhiteSpace(previousCode(Text, Before)))
        break;
      Begin = Before;
    }
    if (T.StripRight && (End < SpaceBegin || End > SpaceEnd)) {
      SpaceBegin = SpaceEnd = End;
      while (SpaceEnd < Text.size()) {
        size_t After = SpaceEnd;
        if (!isWhiteSpace(nextCode(Text, After)))
          break;
        SpaceEnd = After;
      }
    }
    if (T.StripRight)
      End = SpaceEnd;
    // As in `tokenizers`, a token of white space is found again where the token
    // before it has stripped; not when it strips to the left itself.
    if (T.StripLeft && Begin < Done) {
      Begin = Done;
      if (Begin >= End)
        continue;
    }
    if (Done < Begin)
      if (Status Handled = Found(std::nullopt, Text.substr(Done, Begin - Done));
          !Handled)
        return Handled;
    if (Status Handled = Found(T.Id, Text.substr(Begin, End - Begin)); !Handled)
      return Handled;
    Done = End;
  }
  return Done < Text.size() ? Found(std::nullopt, Text.substr(Done)) : Status();
}

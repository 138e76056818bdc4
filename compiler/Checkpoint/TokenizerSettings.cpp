//===- TokenizerSettings.cpp - What lies beside a vocabulary --------------===//

#include "compiler/Checkpoint/TokenizerSettings.h"

#include "runtime/Tokenizer/Vocabulary.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <unordered_map>

using namespace tenon;

/// The roles that every class knows, in the order in which they are added.
static constexpr std::string_view StandardRoles[] = {
    "bos_token", "eos_token", "unk_token", "sep_token",
    "pad_token", "cls_token", "mask_token"};

/// A text, or an object with the text as "content". Objects are special only
/// if they say so.
static Result<AddedToken> readToken(const JsonField &Field) {
  AddedToken Token;
  if (Field.json().is_string()) {
    Token.Content = Field.json().get<std::string>();
    return Token;
  }
  if (!Field.json().is_object())
    return Field.expected("a token, a text or an object with \"content\"");
  auto Content = Field.member("content");
  if (!Content)
    return Content.error();
  auto Text = Content->asString();
  if (!Text)
    return Text.error();
  Token.Content = std::move(*Text);
  Token.Special = Token.IsText = false;
  bool Normalized = false;
  struct {
    const char *Name;
    bool &Option;
  } Switches[] = {{"single_word", Token.SingleWord},
                  {"lstrip", Token.StripLeft},
                  {"rstrip", Token.StripRight},
                  {"normalized", Normalized},
                  {"special", Token.Special}};
  for (auto &[Name, Option] : Switches) {
    if (!Field.has(Name))
      continue;
    auto Flag = Field.member(Name)->asBool();
    if (!Flag)
      return Flag.error();
    Option = *Flag;
  }
  if (Field.has("normalized"))
    Token.Normalized = Normalized;
  return Token;
}

/// The object in a file; null when there is no such file.
static Result<Json> readObject(const std::string &Path) {
  std::error_code Ignored;
  if (!std::filesystem::exists(std::filesystem::symlink_status(Path, Ignored)))
    return Json();
  auto Object = readJsonFile(Path);
  if (Object && !Object->is_object())
    return Error(Path + ": expected a JSON object");
  return Object;
}

Result<TokenizerSettings>
TokenizerSettings::read(const std::string &Directory) {
  TokenizerSettings Made;
  Made.Directory = Directory;
  for (std::string_view Name : StandardRoles)
    Made.Roles.push_back({std::string(Name), std::nullopt});
  if (Status Read = Made.readConfig(); !Read)
    return Read.error();
  // A config that has ids of tokens stands for the other files.
  if (Made.config().has("added_tokens_decoder"))
    return Made;
  if (Status Read = Made.readMap(); !Read)
    return Read.error();
  if (Status Read = Made.readAdded(); !Read)
    return Read.error();
  return Made;
}

Status TokenizerSettings::setRole(const std::string &Name,
                                  const JsonField &Value, bool IsSpecial) {
  auto At = std::find_if(Roles.begin(), Roles.end(),
                         [&](const Role &R) { return R.Name == Name; });
  if (At == Roles.end())
    At = Roles.insert(Roles.end(), {Name, std::nullopt});
  At->IsInFile = true;
  At->Token.reset();
  if (Value.json().is_null())
    return {};
  auto Token = readToken(Value);
  if (!Token)
    return Token.error();
  Token->Special |= IsSpecial;
  // An empty text is how some files say that there is none.
  if (!Token->Content.empty())
    At->Token = std::move(*Token);
  return {};
}

Status TokenizerSettings::readTokenList(const JsonField &Field,
                                        std::vector<AddedToken> &Into) {
  auto Size = Field.arraySize();
  if (!Size)
    return Size.error();
  for (size_t I = 0; I < *Size; ++I) {
    auto Token = readToken(*Field.element(I));
    if (!Token)
      return Token.error();
    Into.push_back(std::move(*Token));
  }
  return {};
}

/// Whether a setting is a token: a class may have some of its own.
static bool isToken(std::string_view Key, const Json &Value) {
  return std::find(std::begin(StandardRoles), std::end(StandardRoles), Key) !=
             std::end(StandardRoles) ||
         (Key.ends_with("_token") &&
          (Value.is_string() ||
           (Value.is_object() && Value.contains("content"))));
}

Status TokenizerSettings::readConfig() {
  ConfigFile = Directory + "/tokenizer_config.json";
  auto Object = readObject(ConfigFile);
  if (!Object)
    return Object.error();
  if (Object->is_null())
    return {};
  Config = std::move(*Object);
  auto At = [&](const std::string &Key) {
    return JsonField(Config[Key], ConfigFile, Key);
  };
  for (const auto &[Key, Value] : Config.items())
    if (isToken(Key, Value))
      if (Status Set = setRole(Key, At(Key)); !Set)
        return Set;
  // The older name counts unless the newer one says something.
  std::string Lists = "extra_special_tokens";
  if (const std::string Older = "additional_special_tokens";
      Config.contains(Older) &&
      (!Config.contains(Lists) || Config[Lists].empty()))
    Lists = Older;
  if (Config.contains(Lists)) {
    const Json &Value = Config[Lists];
    if (Value.is_object()) {
      for (const auto &[Name, Token] : Value.items())
        if (Status Set =
                setRole(Name, JsonField(Token, ConfigFile, Lists + "." + Name));
            !Set)
          return Set;
    } else {
      Extra.emplace();
      if (!Value.is_null())
        if (Status Read = readTokenList(At(Lists), *Extra); !Read)
          return Read;
    }
  }
  if (!config().has("added_tokens_decoder"))
    return {};
  const std::string Key = "added_tokens_decoder";
  if (!Config[Key].is_object())
    return At(Key).expected("an object of tokens by their ids");
  for (const auto &[Name, Value] : Config[Key].items()) {
    JsonField Field(Value, ConfigFile, Key + "." + Name);
    int64_t Id = -1;
    auto Read = std::from_chars(Name.data(), Name.data() + Name.size(), Id);
    if (Read.ec != std::errc() || Read.ptr != Name.data() + Name.size() ||
        Id < 0 || Id >= tokenizer::MaxTokenId)
      return Error(ConfigFile + ": field '" + Key + "' has the key " +
                   printable(Name) + ": expected an id below " +
                   std::to_string(tokenizer::MaxTokenId));
    auto Token = readToken(Field);
    if (!Token)
      return Token.error();
    WithIds.insert_or_assign(Id, std::move(*Token));
  }
  return {};
}

Status TokenizerSettings::readMap() {
  const std::string File = Directory + "/special_tokens_map.json";
  auto Object = readObject(File);
  if (!Object)
    return Object.error();
  if (Object->is_null())
    return {};
  for (const auto &[Key, Value] : Object->items()) {
    JsonField Field(Value, File, Key);
    Status Read;
    if (isToken(Key, Value))
      Read = setRole(Key, Field, /*IsSpecial=*/true);
    else if (Key == "additional_special_tokens" && Value.is_array())
      Read = readTokenList(Field, MapExtra);
    else if (Key == "extra_special_tokens" && Value.is_array())
      Read = readTokenList(Field, Extra ? *Extra : Extra.emplace());
    if (!Read)
      return Read;
  }
  // All tokens of this file are special.
  auto MakeSpecial = [](std::vector<AddedToken> &Tokens) {
    for (AddedToken &Token : Tokens)
      Token.Special = true;
  };
  MakeSpecial(MapExtra);
  if (Extra)
    MakeSpecial(*Extra);
  return {};
}

Status TokenizerSettings::readAdded() {
  const std::string File = Directory + "/added_tokens.json";
  auto Object = readObject(File);
  if (!Object)
    return Object.error();
  if (Object->is_null())
    return {};
  auto IsSpecial = [&](const std::string &Text) {
    auto Is = [&](const AddedToken &T) { return T.Content == Text; };
    return std::any_of(Roles.begin(), Roles.end(),
                       [&](const Role &R) {
                         return R.IsInFile && R.Token && Is(*R.Token);
                       }) ||
           (Extra && std::any_of(Extra->begin(), Extra->end(), Is));
  };
  for (const auto &[Text, Value] : Object->items()) {
    auto Id =
        JsonField(Value, File, Text).asInteger(0, tokenizer::MaxTokenId - 1);
    if (!Id)
      return Id.error();
    AddedToken Token;
    Token.Content = Text;
    Token.Special = IsSpecial(Text);
    Token.Normalized = !Token.Special;
    WithIds.insert_or_assign(*Id, std::move(Token));
  }
  return {};
}

Result<std::optional<std::string>> TokenizerSettings::className() const {
  if (!config().has("tokenizer_class"))
    return std::optional<std::string>();
  auto Name = config().member("tokenizer_class")->asString();
  if (!Name)
    return Name.error();
  return std::optional(std::move(*Name));
}

Result<std::optional<bool>>
TokenizerSettings::optionalFlag(std::string_view Key) const {
  if (!config().has(Key))
    return std::optional<bool>();
  auto Flag = config().member(Key)->asBool();
  if (!Flag)
    return Flag.error();
  return std::optional(*Flag);
}

Result<bool> TokenizerSettings::flagOr(std::string_view Key,
                                       bool Default) const {
  auto Flag = optionalFlag(Key);
  if (!Flag)
    return Flag.error();
  return Flag->value_or(Default);
}

Result<int64_t> TokenizerSettings::integerOr(std::string_view Key,
                                             int64_t Default, int64_t Min,
                                             int64_t Max) const {
  if (!config().has(Key))
    return Default;
  return config().member(Key)->asInteger(Min, Max);
}

void TokenizerSettings::setDefault(std::string_view Name,
                                   std::string_view Text) {
  for (Role &R : Roles)
    if (R.Name == Name && !R.IsInFile) {
      R.Token.emplace();
      R.Token->Content = Text;
    }
}

std::optional<std::string>
TokenizerSettings::optionalToken(std::string_view Name) const {
  for (const Role &R : Roles)
    if (R.Name == Name && R.Token)
      return R.Token->Content;
  return std::nullopt;
}

Result<std::string> TokenizerSettings::token(std::string_view Name) const {
  if (auto Text = optionalToken(Name))
    return *Text;
  return Error(ConfigFile + ": field '" + std::string(Name) +
               "' is null or empty: expected a token");
}

std::vector<AddedToken> TokenizerSettings::addedTokens(
    const std::optional<std::vector<AddedToken>> &Own, bool ArePlain) const {
  auto IsRole = [&](const AddedToken &Token) {
    return std::any_of(Roles.begin(), Roles.end(), [&](const Role &R) {
      return R.Token && R.Token->Content == Token.Content;
    });
  };
  std::vector<AddedToken> All;
  std::unordered_map<std::string, size_t> IndexOf;
  auto Add = [&](AddedToken Token) {
    Token.Special |= IsRole(Token);
    Token.Normalized = Token.Normalized.value_or(!Token.Special);
    auto [At, IsNew] = IndexOf.emplace(Token.Content, All.size());
    if (IsNew)
      All.push_back(std::move(Token));
    else
      All[At->second] = std::move(Token);
  };
  for (const auto &[Id, Token] : WithIds)
    Add(Token);
  const size_t HaveIds = All.size();
  std::vector<AddedToken> Seen;
  auto AddOther = [&](AddedToken Token) {
    if (ArePlain) {
      AddedToken Plain;
      Plain.Content = Token.Content;
      Token = std::move(Plain);
    }
    auto At = IndexOf.find(Token.Content);
    bool HasId = At != IndexOf.end() && At->second < HaveIds;
    if (Token.Content.empty() || (HasId && !ArePlain) ||
        std::find(Seen.begin(), Seen.end(), Token) != Seen.end())
      return;
    Seen.push_back(Token);
    Add(std::move(Token));
  };
  for (const Role &R : Roles)
    if (R.Token)
      AddOther(*R.Token);
  for (const AddedToken &Token : Extra ? *Extra : Own ? *Own : MapExtra)
    AddOther(Token);
  return All;
}

//===- TokenizerNotes.cpp - Files beside a tokenizer.json -----------------===//

#include "compiler/Driver/TokenizerNotes.h"

#include "runtime/Support/Json.h"

#include <cstdlib>
#include <filesystem>

using namespace tenon;

namespace {

/// What one file says otherwise than the tokenizer that is used.
class Contradictions {
public:
  Contradictions(const tokenizer::Tokenizer &Used, const std::string &Source)
      : Used(Used), Source(Source) {}

  /// That token `Id` is spelled `Token`.
  void token(const std::string &Token, int64_t Id) {
    std::optional<int32_t> Own = Used.idOf(Token);
    if (!Own)
      add("token " + printable(Token) + " is not in it");
    else if (*Own != Id)
      add("token " + printable(Token) + " is " + std::to_string(Id) + ", and " +
          std::to_string(*Own) + " in it");
  }

  /// bos_token and the like: text, or an object with the text as "content".
  void special(const Json &Object) {
    for (const char *Key : {"bos_token", "eos_token", "unk_token", "sep_token",
                            "pad_token", "cls_token", "mask_token"}) {
      auto Found = Object.find(Key);
      if (Found == Object.end())
        continue;
      std::optional<std::string> Token = contentOf(*Found);
      if (Token && !Used.idOf(*Token))
        add(std::string(Key) + " " + printable(*Token) + " is not in it");
    }
  }

  /// The keys by which Transformers' classes change a tokenizer.
  void settings(const Json &Object) {
    auto Flag = [&](const char *Key) -> std::optional<bool> {
      auto Found = Object.find(Key);
      if (Found == Object.end() || !Found->is_boolean())
        return std::nullopt;
      return Found->get<bool>();
    };
    if (auto Lower = Flag("do_lower_case")) {
      auto Upper = Used.encode("Some TEXT", false);
      auto Plain = Used.encode("some text", false);
      if (Upper && Plain && (*Upper == *Plain) != *Lower)
        add(std::string("do_lower_case is ") + (*Lower ? "true" : "false"));
    }
    auto Text = Used.encode("a", true);
    auto Around = [&](const char *Key, const char *TokenKey, bool AtEnd) {
      auto Adds = Flag(Key);
      auto Found = Object.find(TokenKey);
      if (!Adds || Found == Object.end() || !Text || Text->empty())
        return;
      std::optional<std::string> Token = contentOf(*Found);
      std::optional<int32_t> Id = Token ? Used.idOf(*Token) : std::nullopt;
      if (Id && ((AtEnd ? Text->back() : Text->front()) == *Id) != *Adds)
        add(std::string(Key) + " is " + (*Adds ? "true" : "false"));
    };
    Around("add_bos_token", "bos_token", false);
    Around("add_eos_token", "eos_token", true);
  }

  /// "FILE: contradicts SOURCE, which is used: ..." if it does.
  void note(const std::string &File, std::vector<std::string> &Notes) const {
    if (Count == 0)
      return;
    Notes.push_back(
        File + ": contradicts " + Source + ", which is used: " + First +
        (Count > 1 ? " (and " + std::to_string(Count - 1) + " more)" : ""));
  }

private:
  static std::optional<std::string> contentOf(const Json &Value) {
    if (Value.is_string())
      return Value.get<std::string>();
    if (Value.is_object() && Value.contains("content") &&
        Value["content"].is_string())
      return Value["content"].get<std::string>();
    return std::nullopt;
  }

  void add(std::string What) {
    if (Count++ == 0)
      First = std::move(What);
  }

  const tokenizer::Tokenizer &Used;
  const std::string &Source;
  std::string First;
  size_t Count = 0;
};

} // namespace

std::vector<std::string>
tenon::notesOnTokenizer(const std::string &Directory,
                        const tokenizer::Tokenizer &Used,
                        const std::string &Source) {
  std::vector<std::string> Notes;
  auto Check = [&](const char *Name, auto Compare) {
    std::string Path = Directory + "/" + Name;
    std::error_code Ignored;
    if (!std::filesystem::is_regular_file(Path, Ignored))
      return;
    Result<Json> Object = readJsonFile(Path);
    if (!Object || !Object->is_object())
      return;
    Contradictions Found(Used, Source);
    Compare(*Object, Found);
    Found.note(Path, Notes);
  };
  Check("tokenizer_config.json", [](const Json &Object, Contradictions &Found) {
    Found.special(Object);
    Found.settings(Object);
    auto Added = Object.find("added_tokens_decoder");
    if (Added == Object.end() || !Added->is_object())
      return;
    for (const auto &[Id, Token] : Added->items())
      if (Token.is_object() && Token.contains("content") &&
          Token["content"].is_string())
        Found.token(Token["content"].get<std::string>(),
                    std::strtoll(Id.c_str(), nullptr, 10));
  });
  Check(
      "special_tokens_map.json",
      [](const Json &Object, Contradictions &Found) { Found.special(Object); });
  Check("added_tokens.json", [](const Json &Object, Contradictions &Found) {
    for (const auto &[Token, Id] : Object.items())
      if (Id.is_number_integer())
        Found.token(Token, Id.get<int64_t>());
  });
  return Notes;
}

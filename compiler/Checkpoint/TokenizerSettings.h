//===- TokenizerSettings.h - What lies beside a vocabulary ------*- C++ -*-===//
//
// tokenizer_config.json, special_tokens_map.json and added_tokens.json of a
// Hugging Face directory, as Transformers takes them together: the settings of
// a tokenizer's class, and the tokens that are found before all else.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_CHECKPOINT_TOKENIZERSETTINGS_H
#define TENON_COMPILER_CHECKPOINT_TOKENIZERSETTINGS_H

#include "runtime/Support/Json.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenon {

/// An element of "added_tokens" of a tokenizer.json, without its id.
struct AddedToken {
  std::string Content;
  bool SingleWord = false;
  bool StripLeft = false;
  bool StripRight = false;
  /// By default what is not special.
  std::optional<bool> Normalized;
  bool Special = true;
  /// Given as a text alone; never the same as one that is an object.
  bool IsText = true;

  bool operator==(const AddedToken &) const = default;
};

class TokenizerSettings {
public:
  /// Reads those of the three files that `Directory` has.
  static Result<TokenizerSettings> read(const std::string &Directory);

  const std::string &directory() const { return Directory; }

  /// "tokenizer_class" of tokenizer_config.json.
  Result<std::optional<std::string>> className() const;

  /// A setting of tokenizer_config.json; one that is null counts as absent.
  Result<std::optional<bool>> optionalFlag(std::string_view Key) const;
  Result<bool> flagOr(std::string_view Key, bool Default) const;
  Result<int64_t> integerOr(std::string_view Key, int64_t Default, int64_t Min,
                            int64_t Max) const;

  /// Gives the token `Name` ("bos_token") the text that its class has by
  /// default, unless a file says what it is, or that there is none.
  void setDefault(std::string_view Name, std::string_view Text);
  /// The text of the token `Name`; an error if there is none.
  Result<std::string> token(std::string_view Name) const;
  std::optional<std::string> optionalToken(std::string_view Name) const;
  /// All tokens to add, in the order in which they get ids: those with an id in
  /// a file, those with a role, and those without, which are `Own` unless
  /// tokenizer_config.json lists them. Without `Own`, special_tokens_map.json
  /// may list them too. Each text is there once, with the properties that it
  /// has last, where those that are given again do not count; with `ArePlain`,
  /// those with a role and without have none.
  std::vector<AddedToken>
  addedTokens(const std::optional<std::vector<AddedToken>> &Own,
              bool ArePlain = false) const;

private:
  struct Role {
    std::string Name;
    /// None: there is no such token, by default or because a file says so.
    std::optional<AddedToken> Token;
    bool IsInFile = false;
  };

  Status readConfig();
  Status readMap();
  Status readAdded();
  Status readTokenList(const JsonField &Field, std::vector<AddedToken> &Into);
  JsonField config() const { return JsonField(Config, ConfigFile); }
  Status setRole(const std::string &Name, const JsonField &Value,
                 bool IsSpecial = false);

  std::string Directory;
  std::string ConfigFile;
  Json Config = Json::object();
  /// Those that Transformers names first, in its order.
  std::vector<Role> Roles;
  std::optional<std::vector<AddedToken>> Extra;
  /// "additional_special_tokens" of special_tokens_map.json.
  std::vector<AddedToken> MapExtra;
  std::map<int64_t, AddedToken> WithIds;
};

} // namespace tenon

#endif // TENON_COMPILER_CHECKPOINT_TOKENIZERSETTINGS_H

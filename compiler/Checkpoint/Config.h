//===- Config.h - The settings files of a model directory -------*- C++ -*-===//
//
// Typed access to config.json that records which keys were read, so that a
// key which changes the result and is not handled can be refused.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_CHECKPOINT_CONFIG_H
#define TENON_COMPILER_CHECKPOINT_CONFIG_H

#include "runtime/Support/Json.h"
#include "runtime/Support/Result.h"

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon {

/// True when the top-level key `Key` of a config.json, with this value, never
/// changes the numbers of a forward pass in any family.
bool isInertKey(std::string_view Key, const Json &Value);

/// A JSON object of settings. Copies and nested objects share one record of
/// the keys read. A key that is null counts as absent, except for isNull.
/// Every error names the file, the field's path, the value and what was
/// expected.
class Config {
public:
  /// Reads config.json of a model directory, and generation_config.json when
  /// there is one.
  static Result<Config> open(const std::string &Directory);
  /// Reads one JSON file, whose top must be an object.
  static Result<Config> openFile(const std::string &Path);
  /// Parses `Text`; `File` names it in errors.
  static Result<Config> parse(std::string_view Text, std::string_view File);

  /// The settings of generation_config.json, if the directory has it.
  std::optional<Config> generation() const;
  /// Makes `Generation` what generation() answers.
  void setGeneration(Config Generation);

  const std::string &file() const;
  /// The path of this object from the top: empty, or such as "rope_scaling".
  const std::string &path() const { return Path; }

  /// True when `Key` is there and not null. Does not count as reading it.
  bool has(std::string_view Key) const;
  /// The string `Key`, or `Default` where there is none. Does not count as
  /// reading it.
  std::string peek(std::string_view Key, std::string_view Default) const;
  /// True when `Key` is there and null: that may mean "off" where an absent
  /// key means a family's default. Reads the key.
  bool isNull(std::string_view Key) const;

  /// Reads `Key` and all below it, whatever it is.
  void discard(std::string_view Key) const;
  /// Reads all inert keys of this object, which is a whole model's config
  /// inside of another.
  void discardInert() const;
  /// Adds the members of `Defaults` that this object lacks. Nothing of this
  /// object may have been read yet.
  void setDefaults(const Json &Defaults);

  /// A whole number in [Min, Max]. Sizes that divide or allocate need both.
  Result<int64_t> integer(std::string_view Key, int64_t Min, int64_t Max) const;
  Result<int64_t> integerOr(std::string_view Key, int64_t Default, int64_t Min,
                            int64_t Max) const;
  Result<std::optional<int64_t>>
  optionalInteger(std::string_view Key, int64_t Min, int64_t Max) const;

  /// A finite number in [Min, Max].
  Result<double> number(std::string_view Key, double Min = Lowest,
                        double Max = Highest) const;
  Result<double> numberOr(std::string_view Key, double Default,
                          double Min = Lowest, double Max = Highest) const;
  Result<std::optional<double>> optionalNumber(std::string_view Key,
                                               double Min = Lowest,
                                               double Max = Highest) const;

  Result<bool> boolean(std::string_view Key) const;
  Result<bool> booleanOr(std::string_view Key, bool Default) const;
  Result<std::optional<bool>> optionalBoolean(std::string_view Key) const;

  Result<std::string> string(std::string_view Key) const;
  Result<std::string> stringOr(std::string_view Key,
                               std::string_view Default) const;
  Result<std::optional<std::string>> optionalString(std::string_view Key) const;

  /// The object `Key`; its own keys are recorded one by one.
  Result<Config> object(std::string_view Key) const;
  Result<std::optional<Config>> optionalObject(std::string_view Key) const;

  /// An array of one kind.
  Result<std::vector<int64_t>> integers(std::string_view Key, int64_t Min,
                                        int64_t Max) const;
  Result<std::vector<double>> numbers(std::string_view Key) const;
  Result<std::vector<std::string>> strings(std::string_view Key) const;
  /// A whole number or an array of them, as eos_token_id is; empty when
  /// absent.
  Result<std::vector<int64_t>> optionalIntegers(std::string_view Key,
                                                int64_t Min, int64_t Max) const;
  Result<std::vector<std::string>> optionalStrings(std::string_view Key) const;
  /// An array of arrays of whole numbers; empty when absent.
  Result<std::vector<std::vector<int64_t>>>
  optionalIntegerLists(std::string_view Key, int64_t Min, int64_t Max) const;

  /// The error that the value of `Key` is not what was expected:
  /// "FILE: field 'a.b' is VALUE: expected EXPECTED". Reads the key.
  Error expected(std::string_view Key, std::string_view Expected) const;

  /// "'a.b' is VALUE", of a key that is there. Reads the key.
  std::string described(std::string_view Key) const;

  /// The paths of the keys below this object that nobody has read, in the
  /// file's order; an object that nobody opened is one path.
  std::vector<std::string> unreadKeys() const;

  /// An error that names all unread keys that are neither inert nor among the
  /// paths `Ignored`; `Reader` names who read the others, such as a model
  /// family, and `Option` the one of tenon compile that has keys ignored, if
  /// there is one.
  /// Also an error: an ignored path that is not there or was read.
  Status refuseUnreadKeys(std::string_view Reader,
                          const std::vector<std::string> &Ignored = {},
                          std::string_view Option = {}) const;

private:
  static constexpr double Lowest = std::numeric_limits<double>::lowest();
  static constexpr double Highest = std::numeric_limits<double>::max();

  struct Document;
  Config(std::shared_ptr<Document> Doc, const Json *Object, std::string Path)
      : Doc(std::move(Doc)), Object(Object), Path(std::move(Path)) {}

  std::string pathOf(std::string_view Key) const;
  /// The value of `Key`, recorded as read; an error when absent.
  Result<JsonField> require(std::string_view Key,
                            std::string_view Expected) const;
  /// The value of `Key`, recorded as read; nothing when absent or null.
  std::optional<JsonField> optional(std::string_view Key) const;
  void collectUnread(
      std::vector<std::pair<std::string, const Json *>> &Unread) const;

  std::shared_ptr<Document> Doc;
  const Json *Object;
  std::string Path;
};

} // namespace tenon

#endif // TENON_COMPILER_CHECKPOINT_CONFIG_H

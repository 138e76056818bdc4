//===- Json.h - Checked reading of JSON files -------------------*- C++ -*-===//
//
// JSON from untrusted files: depth limit, no duplicate keys, valid UTF-8, and
// typed access whose errors name the file, the field and the value.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_SUPPORT_JSON_H
#define TENON_RUNTIME_SUPPORT_JSON_H

#include "runtime/Support/Result.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace tenon {

/// Insertion order is kept: tokenizers and plans depend on it.
using Json = nlohmann::ordered_json;

/// Nesting beyond this is refused where nothing else is said.
inline constexpr int MaxJsonDepth = 64;

/// Parses `Text`; `File` names it in errors. Refuses nesting deeper than
/// `MaxDepth`, duplicate keys, and text that is not UTF-8.
Result<Json> parseJson(std::string_view Text, std::string_view File,
                       int MaxDepth = MaxJsonDepth);

/// Reads and parses the file at `Path`, of at most `MaxBytes` bytes.
Result<Json> readJsonFile(const std::string &Path,
                          uint64_t MaxBytes = 100u << 20);

/// `Text` in quotes, fit for one line of a terminal: control characters and
/// bytes that are not UTF-8 as \xNN, and cut after 80 bytes, never inside a
/// character.
std::string printable(std::string_view Text);

/// `Text` with the same escapes, whole and without quotes.
std::string escaped(std::string_view Text);

/// What `Value` is, in an error: "an object", "a number", "null".
std::string jsonKind(const Json &Value);

/// What errors expect of a whole number: "a whole number from 1 to 8", or "1".
std::string wholeNumber(int64_t Min, int64_t Max);

/// A JSON value together with the file and field path it came from.
class JsonField {
public:
  JsonField(const Json &Value, std::string File, std::string Path = "")
      : Value(&Value), File(std::move(File)), Path(std::move(Path)) {}

  const Json &json() const { return *Value; }
  const std::string &file() const { return File; }
  const std::string &path() const { return Path; }

  /// True when this is an object with a member `Key` that is not null.
  bool has(std::string_view Key) const;

  /// The member `Key`; an error when this is no object or lacks it.
  Result<JsonField> member(std::string_view Key) const;
  /// The element `Index` of an array.
  Result<JsonField> element(size_t Index) const;

  Result<std::string> asString() const;
  Result<bool> asBool() const;
  Result<double> asNumber() const;
  /// A whole number within [Min, Max].
  Result<int64_t> asInteger(int64_t Min, int64_t Max) const;
  /// An array's size; an error when this is no array.
  Result<size_t> arraySize() const;

  /// "'a.b' is VALUE".
  std::string described() const;
  /// "FILE: field 'a.b' is VALUE: expected EXPECTED".
  Error expected(std::string_view Expected) const;

private:
  const Json *Value;
  std::string File;
  std::string Path;
};

} // namespace tenon

#endif // TENON_RUNTIME_SUPPORT_JSON_H

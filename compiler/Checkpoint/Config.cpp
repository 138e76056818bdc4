//===- Config.cpp - The settings files of a model directory ---------------===//

#include "compiler/Checkpoint/Config.h"

#include "compiler/Checkpoint/Safetensors.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <unordered_set>

using namespace tenon;

/// Real files are a few kilobytes, or some hundred with many labels. Looking a
/// key up in the order-keeping Json type goes through all of them.
static constexpr uint64_t MaxConfigBytes = 1u << 20;

struct Config::Document {
  std::string File;
  Json Root;
  /// Values read, by address: paths would be ambiguous, for a key may hold a
  /// dot.
  std::unordered_set<const Json *> Read;
  std::optional<Config> Generation;
};

static Result<double> checkedNumber(const JsonField &Field, double Min,
                                    double Max) {
  Result<double> Number = Field.asNumber();
  if (!Number || (*Number >= Min && *Number <= Max))
    return Number;
  char Range[96];
  std::snprintf(Range, sizeof(Range), "a number from %.9g to %.9g", Min, Max);
  return Field.expected(Range);
}

/// The elements of an array, each by `Convert(JsonField)`.
template <typename T, typename Function>
static Result<std::vector<T>> elements(const JsonField &Field,
                                       Function Convert) {
  Result<size_t> Size = Field.arraySize();
  if (!Size)
    return Size.error();
  std::vector<T> Values;
  Values.reserve(*Size);
  for (size_t I = 0; I < *Size; ++I) {
    Result<JsonField> Element = Field.element(I);
    if (!Element)
      return Element.error();
    Result<T> Value = Convert(*Element);
    if (!Value)
      return Value.error();
    Values.push_back(std::move(*Value));
  }
  return Values;
}

/// An optional or defaulted getter from the field, if any, and its conversion.
template <typename T, typename Function>
static Result<std::optional<T>> convert(const std::optional<JsonField> &Field,
                                        Function Convert) {
  if (!Field)
    return std::optional<T>();
  Result<T> Value = Convert(*Field);
  if (!Value)
    return Value.error();
  return std::optional<T>(std::move(*Value));
}

template <typename T>
static Result<T> valueOr(Result<std::optional<T>> Value, T Default) {
  if (!Value)
    return Value.error();
  return Value->has_value() ? std::move(**Value) : std::move(Default);
}

Result<Config> Config::open(const std::string &Directory) {
  Result<Config> Main = openFile(Directory + "/config.json");
  if (!Main)
    return Main;
  std::string Path = Directory + "/generation_config.json";
  std::error_code Ignored;
  // A dangling link counts as there, and is reported by the opening.
  if (!std::filesystem::exists(std::filesystem::symlink_status(Path, Ignored)))
    return Main;
  Result<Config> Generation = openFile(Path);
  if (!Generation)
    return Generation;
  Main->setGeneration(std::move(*Generation));
  return Main;
}

Result<Config> Config::openFile(const std::string &Path) {
  Result<std::string> Text = readFile(Path, MaxConfigBytes);
  if (!Text)
    return Text.error();
  return parse(*Text, Path);
}

Result<Config> Config::parse(std::string_view Text, std::string_view File) {
  if (Status Pointer = refuseGitLfsPointer(Text, std::string(File)); !Pointer)
    return Pointer.error();
  Result<Json> Root = parseJson(Text, File);
  if (!Root)
    return Root.error();
  if (!Root->is_object())
    return Error(std::string(File) + ": is not a JSON object: expected an "
                                     "object of settings");
  auto Doc = std::make_shared<Document>();
  Doc->File = File;
  Doc->Root = std::move(*Root);
  const Json *Top = &Doc->Root;
  return Config(std::move(Doc), Top, "");
}

std::optional<Config> Config::generation() const { return Doc->Generation; }

void Config::setGeneration(Config Generation) {
  Doc->Generation = std::move(Generation);
}

const std::string &Config::file() const { return Doc->File; }

bool Config::has(std::string_view Key) const {
  auto Found = Object->find(std::string(Key));
  return Found != Object->end() && !Found->is_null();
}

std::string Config::peek(std::string_view Key, std::string_view Default) const {
  auto Found = Object->find(std::string(Key));
  return Found != Object->end() && Found->is_string()
             ? Found->get<std::string>()
             : std::string(Default);
}

bool Config::isNull(std::string_view Key) const {
  auto Found = Object->find(std::string(Key));
  if (Found == Object->end() || !Found->is_null())
    return false;
  Doc->Read.insert(&*Found);
  return true;
}

void Config::discard(std::string_view Key) const {
  auto Found = Object->find(std::string(Key));
  if (Found == Object->end())
    return;
  Doc->Read.insert(&*Found);
  if (Found->is_object()) {
    Config Below(Doc, &*Found, pathOf(Key));
    for (const auto &[Name, Value] : Found->items())
      Below.discard(Name);
  }
}

void Config::discardInert() const {
  for (const auto &[Key, Value] : Object->items())
    if (isInertKey(Key, Value))
      discard(Key);
}

void Config::setDefaults(const Json &Defaults) {
  // The document, which owns the object, is ours to complete.
  auto &Members = const_cast<Json &>(*Object);
  for (const auto &[Key, Value] : Defaults.items())
    if (!Members.contains(Key)) {
      Members[Key] = Value;
    }
}

std::string Config::pathOf(std::string_view Key) const {
  return Path.empty() ? std::string(Key) : Path + "." + std::string(Key);
}

Result<JsonField> Config::require(std::string_view Key,
                                  std::string_view Expected) const {
  auto Found = Object->find(std::string(Key));
  if (Found == Object->end())
    return Error(Doc->File + ": missing field " + printable(pathOf(Key)) +
                 ": expected " + std::string(Expected));
  Doc->Read.insert(&*Found);
  return JsonField(*Found, Doc->File, pathOf(Key));
}

std::optional<JsonField> Config::optional(std::string_view Key) const {
  auto Found = Object->find(std::string(Key));
  if (Found == Object->end())
    return std::nullopt;
  Doc->Read.insert(&*Found);
  if (Found->is_null())
    return std::nullopt;
  return JsonField(*Found, Doc->File, pathOf(Key));
}

Result<int64_t> Config::integer(std::string_view Key, int64_t Min,
                                int64_t Max) const {
  Result<JsonField> Field = require(Key, wholeNumber(Min, Max));
  if (!Field)
    return Field.error();
  return Field->asInteger(Min, Max);
}

Result<std::optional<int64_t>>
Config::optionalInteger(std::string_view Key, int64_t Min, int64_t Max) const {
  return convert<int64_t>(optional(Key), [&](const JsonField &Field) {
    return Field.asInteger(Min, Max);
  });
}

Result<int64_t> Config::integerOr(std::string_view Key, int64_t Default,
                                  int64_t Min, int64_t Max) const {
  return valueOr(optionalInteger(Key, Min, Max), Default);
}

Result<double> Config::number(std::string_view Key, double Min,
                              double Max) const {
  Result<JsonField> Field = require(Key, "a number");
  if (!Field)
    return Field.error();
  return checkedNumber(*Field, Min, Max);
}

Result<std::optional<double>>
Config::optionalNumber(std::string_view Key, double Min, double Max) const {
  return convert<double>(optional(Key), [&](const JsonField &Field) {
    return checkedNumber(Field, Min, Max);
  });
}

Result<double> Config::numberOr(std::string_view Key, double Default,
                                double Min, double Max) const {
  return valueOr(optionalNumber(Key, Min, Max), Default);
}

Result<bool> Config::boolean(std::string_view Key) const {
  Result<JsonField> Field = require(Key, "true or false");
  if (!Field)
    return Field.error();
  return Field->asBool();
}

Result<std::optional<bool>>
Config::optionalBoolean(std::string_view Key) const {
  return convert<bool>(optional(Key),
                       [](const JsonField &Field) { return Field.asBool(); });
}

Result<bool> Config::booleanOr(std::string_view Key, bool Default) const {
  return valueOr(optionalBoolean(Key), Default);
}

Result<std::string> Config::string(std::string_view Key) const {
  Result<JsonField> Field = require(Key, "a string");
  if (!Field)
    return Field.error();
  return Field->asString();
}

Result<std::optional<std::string>>
Config::optionalString(std::string_view Key) const {
  return convert<std::string>(
      optional(Key), [](const JsonField &Field) { return Field.asString(); });
}

Result<std::string> Config::stringOr(std::string_view Key,
                                     std::string_view Default) const {
  return valueOr(optionalString(Key), std::string(Default));
}

Result<Config> Config::object(std::string_view Key) const {
  Result<JsonField> Field = require(Key, "an object");
  if (!Field)
    return Field.error();
  if (!Field->json().is_object())
    return Field->expected("an object");
  return Config(Doc, &Field->json(), Field->path());
}

Result<std::optional<Config>>
Config::optionalObject(std::string_view Key) const {
  return convert<Config>(optional(Key),
                         [&](const JsonField &) { return object(Key); });
}

Result<std::vector<int64_t>> Config::integers(std::string_view Key, int64_t Min,
                                              int64_t Max) const {
  Result<JsonField> Field = require(Key, "an array of whole numbers");
  if (!Field)
    return Field.error();
  return elements<int64_t>(*Field, [&](const JsonField &Element) {
    return Element.asInteger(Min, Max);
  });
}

Result<std::vector<double>> Config::numbers(std::string_view Key) const {
  Result<JsonField> Field = require(Key, "an array of numbers");
  if (!Field)
    return Field.error();
  return elements<double>(
      *Field, [](const JsonField &Element) { return Element.asNumber(); });
}

Result<std::vector<std::string>> Config::strings(std::string_view Key) const {
  Result<JsonField> Field = require(Key, "an array of strings");
  if (!Field)
    return Field.error();
  return elements<std::string>(
      *Field, [](const JsonField &Element) { return Element.asString(); });
}

Result<std::vector<int64_t>>
Config::optionalIntegers(std::string_view Key, int64_t Min, int64_t Max) const {
  std::optional<JsonField> Field = optional(Key);
  if (!Field)
    return std::vector<int64_t>();
  if (Field->json().is_array())
    return integers(Key, Min, Max);
  Result<int64_t> Single = Field->asInteger(Min, Max);
  if (!Single)
    return Single.error();
  return std::vector<int64_t>{*Single};
}

Result<std::vector<std::vector<int64_t>>>
Config::optionalIntegerLists(std::string_view Key, int64_t Min,
                             int64_t Max) const {
  std::optional<JsonField> Field = optional(Key);
  if (!Field)
    return std::vector<std::vector<int64_t>>();
  return elements<std::vector<int64_t>>(*Field, [&](const JsonField &List) {
    return elements<int64_t>(List, [&](const JsonField &Element) {
      return Element.asInteger(Min, Max);
    });
  });
}

Result<std::vector<std::string>>
Config::optionalStrings(std::string_view Key) const {
  if (!optional(Key))
    return std::vector<std::string>();
  return strings(Key);
}

Error Config::expected(std::string_view Key, std::string_view Expected) const {
  Result<JsonField> Field = require(Key, Expected);
  return Field ? Field->expected(Expected) : Field.error();
}

std::string Config::described(std::string_view Key) const {
  Result<JsonField> Field = require(Key, "a value");
  return Field ? Field->described() : printable(pathOf(Key)) + " is missing";
}

void Config::collectUnread(
    std::vector<std::pair<std::string, const Json *>> &Unread) const {
  for (const auto &[Key, Value] : Object->items()) {
    if (!Doc->Read.contains(&Value))
      Unread.emplace_back(pathOf(Key), &Value);
    else if (Value.is_object())
      Config(Doc, &Value, pathOf(Key)).collectUnread(Unread);
  }
}

std::vector<std::string> Config::unreadKeys() const {
  std::vector<std::pair<std::string, const Json *>> Unread;
  collectUnread(Unread);
  std::vector<std::string> Paths;
  for (auto &[UnreadPath, Value] : Unread)
    Paths.push_back(std::move(UnreadPath));
  return Paths;
}

Status Config::refuseUnreadKeys(std::string_view Reader,
                                const std::vector<std::string> &Ignored,
                                std::string_view Option) const {
  std::vector<std::pair<std::string, const Json *>> Unread;
  collectUnread(Unread);
  for (const std::string &Wanted : Ignored)
    if (std::none_of(Unread.begin(), Unread.end(),
                     [&](const auto &Key) { return Key.first == Wanted; }))
      return Error(Doc->File + ": " + std::string(Option) + " is " +
                   printable(Wanted) + ": expected a key of this file that " +
                   std::string(Reader) + " does not read");
  std::erase_if(Unread, [&](const auto &Key) {
    // A nested key has a dot in its path, so no inert name matches it.
    return isInertKey(Key.first, *Key.second) ||
           std::find(Ignored.begin(), Ignored.end(), Key.first) !=
               Ignored.end();
  });
  if (Unread.empty())
    return {};
  bool IsOne = Unread.size() == 1;
  std::string Fields, Paths;
  for (const auto &[UnreadPath, Value] : Unread) {
    Fields += (Fields.empty() ? "" : ", ") +
              JsonField(*Value, Doc->File, UnreadPath).described();
    std::string Quoted = printable(UnreadPath);
    Paths += (Paths.empty() ? "" : ",") + Quoted.substr(1, Quoted.size() - 2);
  }
  return Error(Doc->File + (IsOne ? ": field " : ": fields ") + Fields + ": " +
               std::string(Reader) + " does not read " +
               (IsOne ? "this key, which" : "these keys, which") +
               " may change the result" +
               (Option.empty() ? ""
                               : " (if not: tenon compile " +
                                     std::string(Option) + " " + Paths + ")"));
}

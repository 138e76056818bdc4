//===- ManifestReader.h - Checked reading of manifest objects ---*- C++ -*-===//
//
// Reads the members of a JSON object into a struct and keeps the first error,
// so that a reader of many fields needs no check after each.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_ARTIFACT_MANIFESTREADER_H
#define TENON_RUNTIME_ARTIFACT_MANIFESTREADER_H

#include "runtime/Abi/Types.h"
#include "runtime/Support/Json.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenon::artifact {

/// Reads members of one object and keeps the first error, after which every
/// further read is a no-op that leaves its target alone.
class ManifestReader {
public:
  static constexpr int64_t MaxItems = 1000000; ///< Of an array.
  static constexpr size_t MaxName = 1024;      ///< Bytes of a name.

  ManifestReader(JsonField Object, std::optional<Error> &Failure)
      : Object(std::move(Object)), Failure(Failure) {}

  bool failed() const { return Failure.has_value(); }
  void fail(Error E) {
    if (!Failure)
      Failure = std::move(E);
  }
  /// Blames member `Key`.
  void fail(std::string_view Key, const std::string &Expected) {
    if (auto Field = member(Key))
      fail(Field->expected(Expected));
  }

  std::optional<JsonField> member(std::string_view Key) {
    if (Failure)
      return std::nullopt;
    return take(Object.member(Key));
  }

  /// Whether there is such a member at all.
  bool has(std::string_view Key) const {
    return Object.json().is_object() && Object.json().contains(Key);
  }

  /// An optional member is null when it has no value, but always there.
  bool isNull(std::string_view Key) {
    auto Field = member(Key);
    return !Field || Field->json().is_null();
  }

  template <typename T>
  void integer(std::string_view Key, T &Target, int64_t Min, int64_t Max) {
    if (auto Field = member(Key))
      if (auto Value = take(Field->asInteger(Min, Max)))
        Target = static_cast<T>(*Value);
  }

  void boolean(std::string_view Key, bool &Target) {
    if (auto Field = member(Key))
      if (auto Value = take(Field->asBool()))
        Target = *Value;
  }

  /// A name of 1 to `Max` bytes without control characters.
  void name(std::string_view Key, std::string &Target, size_t Max = MaxName) {
    auto Field = member(Key);
    if (!Field)
      return;
    auto Value = take(Field->asString());
    if (!Value)
      return;
    bool Plain = std::none_of(Value->begin(), Value->end(), [](char C) {
      return static_cast<unsigned char>(C) < 0x20 || C == 0x7f;
    });
    if (Value->empty() || Value->size() > Max || !Plain)
      return fail(Field->expected("a name of 1 to " + std::to_string(Max) +
                                  " bytes without control characters"));
    Target = std::move(*Value);
  }

  void checksum(std::string_view Key, uint64_t &Target) {
    auto Field = member(Key);
    if (!Field)
      return;
    auto Value = take(Field->asString());
    if (!Value)
      return;
    if (Value->size() != 16 ||
        Value->find_first_not_of("0123456789abcdef") != std::string::npos)
      return fail(Field->expected("16 hexadecimal digits"));
    Target = std::stoull(*Value, nullptr, 16);
  }

  /// A name that `Find` knows.
  template <typename T, typename Function>
  void choice(std::string_view Key, T &Target, Function Find,
              const std::string &Expected) {
    auto Field = member(Key);
    if (!Field)
      return;
    auto Value = take(Field->asString());
    if (!Value)
      return;
    if (auto Found = Find(*Value))
      Target = *Found;
    else
      fail(Field->expected(Expected));
  }

  /// An array of strings of at most MaxName bytes each.
  void strings(std::string_view Key, std::vector<std::string> &Target) {
    array(Key, [&](const JsonField &Element) {
      auto Value = take(Element.asString());
      if (Value && Value->size() > MaxName)
        fail(Element.expected("at most " + std::to_string(MaxName) + " bytes"));
      else if (Value)
        Target.push_back(std::move(*Value));
    });
  }

  /// An object of strings of at most `Max` bytes each under any names.
  void texts(std::string_view Key, std::map<std::string, std::string> &Target,
             size_t Max) {
    auto Field = member(Key);
    if (!Field)
      return;
    if (!Field->json().is_object())
      return fail(Field->expected("an object"));
    for (const auto &[Name, Value] : Field->json().items()) {
      auto Member = take(Field->member(Name));
      auto Text = Member ? take(Member->asString()) : std::nullopt;
      if (!Text)
        return;
      if (Name.size() > MaxName)
        return fail(Field->expected("names of at most " +
                                    std::to_string(MaxName) + " bytes"));
      if (Text->size() > Max)
        return fail(
            Member->expected("at most " + std::to_string(Max) + " bytes"));
      Target.emplace(Name, std::move(*Text));
    }
  }

  /// The name of a value of `Table`.
  template <typename T, typename Entry, size_t Count>
  void named(std::string_view Key, T &Target,
             const std::array<Entry, Count> &Table) {
    std::string Expected;
    for (size_t I = 0; I < Count; ++I)
      Expected.append(I == 0          ? ""
                      : I + 1 < Count ? ", "
                                      : " or ")
          .append(Table[I].Name);
    choice(
        Key, Target,
        [&](std::string_view Name) { return valueNamed(Table, Name); },
        Expected);
  }

  /// Null, or a format of plain numbers.
  void optionalFormat(std::string_view Key,
                      std::optional<StorageFormat> &Target) {
    if (!isNull(Key))
      named(Key, Target.emplace(), PlainFormats);
  }

  /// Null, or a whole number.
  template <typename T>
  void optionalInteger(std::string_view Key, std::optional<T> &Target,
                       int64_t Min, int64_t Max) {
    if (!isNull(Key))
      integer(Key, Target.emplace(), Min, Max);
  }

  /// Null, or a number.
  void optionalNumber(std::string_view Key, std::optional<double> &Target,
                      double Min, double Max) {
    if (!isNull(Key))
      number(Key, Target.emplace(), Min, Max);
  }

  void number(std::string_view Key, double &Target, double Min, double Max) {
    auto Field = member(Key);
    if (!Field)
      return;
    auto Value = take(Field->asNumber());
    if (!Value)
      return;
    if (*Value < Min || *Value > Max)
      return fail(Field->expected("a number from " + Json(Min).dump() + " to " +
                                  Json(Max).dump()));
    Target = *Value;
  }

  /// An array of whole numbers.
  template <typename T>
  void integers(std::string_view Key, std::vector<T> &Target, int64_t Min,
                int64_t Max) {
    array(Key, [&](const JsonField &Element) {
      if (auto Value = take(Element.asInteger(Min, Max)))
        Target.push_back(static_cast<T>(*Value));
    });
  }

  /// An array of arrays of whole numbers.
  template <typename T>
  void integerLists(std::string_view Key, std::vector<std::vector<T>> &Target,
                    int64_t Min, int64_t Max) {
    array(Key, [&](const JsonField &Element) {
      std::vector<T> &List = Target.emplace_back();
      auto Size = take(Element.arraySize());
      for (size_t I = 0; Size && I < *Size && !failed(); ++I)
        if (auto Item = take(Element.element(I)))
          if (auto Value = take(Item->asInteger(Min, Max)))
            List.push_back(static_cast<T>(*Value));
    });
  }

  /// An array of objects, each read by `ReadObject(ManifestReader &, Item &)`.
  template <typename T, typename Function>
  void objects(std::string_view Key, std::vector<T> &Target,
               Function ReadObject) {
    array(Key, [&](const JsonField &Element) {
      ManifestReader Nested(Element, Failure);
      ReadObject(Nested, Target.emplace_back());
    });
  }

  /// A nested object, read by `ReadObject(ManifestReader &)`.
  template <typename Function>
  void object(std::string_view Key, Function ReadObject) {
    auto Field = member(Key);
    if (!Field)
      return;
    ManifestReader Nested(*Field, Failure);
    ReadObject(Nested);
  }

private:
  template <typename T> std::optional<T> take(Result<T> R) {
    if (R)
      return std::move(*R);
    fail(R.error());
    return std::nullopt;
  }

  template <typename Function>
  void array(std::string_view Key, Function ReadElement) {
    auto Field = member(Key);
    if (!Field)
      return;
    auto Size = take(Field->arraySize());
    if (!Size)
      return;
    if (*Size > static_cast<size_t>(MaxItems))
      return fail(
          Field->expected("at most " + std::to_string(MaxItems) + " elements"));
    for (size_t I = 0; I < *Size && !failed(); ++I)
      if (auto Element = take(Field->element(I)))
        ReadElement(*Element);
  }

  JsonField Object;
  std::optional<Error> &Failure;
};

} // namespace tenon::artifact

#endif // TENON_RUNTIME_ARTIFACT_MANIFESTREADER_H

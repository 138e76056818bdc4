//===- Fields.cpp - Reading the parts of a tokenizer.json -----------------===//

#include "runtime/Tokenizer/Fields.h"

#include "runtime/Tokenizer/Unicode.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::tokenizer;

Status tokenizer::expectOnly(const JsonField &Object,
                             std::initializer_list<std::string_view> Known) {
  if (!Object.json().is_object())
    return Object.expected("an object");
  for (const auto &[Key, Value] : Object.json().items()) {
    if (std::find(Known.begin(), Known.end(), Key) != Known.end())
      continue;
    std::string Names;
    for (std::string_view Name : Known)
      Names.append(Names.empty() ? "" : ", ").append(Name);
    std::string Path = Object.path().empty() ? Key : Object.path() + "." + Key;
    return Error(Object.file() + ": unknown field " + printable(Path) +
                 ": expected one of " + Names);
  }
  return {};
}

Result<bool> tokenizer::boolOr(const JsonField &Object, std::string_view Key,
                               bool Default) {
  return Object.has(Key) ? requiredBool(Object, Key) : Result<bool>(Default);
}

Result<std::string> tokenizer::stringOr(const JsonField &Object,
                                        std::string_view Key,
                                        std::string Default) {
  return Object.has(Key) ? requiredString(Object, Key)
                         : Result<std::string>(std::move(Default));
}

Result<bool> tokenizer::requiredBool(const JsonField &Object,
                                     std::string_view Key) {
  Result<JsonField> Field = Object.member(Key);
  if (!Field)
    return Field.error();
  return Field->asBool();
}

Result<std::string> tokenizer::requiredString(const JsonField &Object,
                                              std::string_view Key) {
  Result<JsonField> Field = Object.member(Key);
  if (!Field)
    return Field.error();
  return Field->asString();
}

Result<std::string> tokenizer::requiredCharacter(const JsonField &Object,
                                                 std::string_view Key) {
  Result<std::string> Text = requiredString(Object, Key);
  if (Text && countCodes(*Text) != 1)
    return Object.member(Key)->expected("one character");
  return Text;
}

Status tokenizer::forEachElement(
    const JsonField &Object, std::string_view Key,
    const std::function<Status(const JsonField &)> &Read) {
  Result<JsonField> Array = Object.member(Key);
  if (!Array)
    return Array.error();
  Result<size_t> Size = Array->arraySize();
  if (!Size)
    return Size.error();
  for (size_t I = 0; I < *Size; ++I) {
    Result<JsonField> Element = Array->element(I);
    if (!Element)
      return Element.error();
    if (Status Done = Read(*Element); !Done)
      return Done;
  }
  return {};
}

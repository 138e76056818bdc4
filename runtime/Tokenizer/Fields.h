//===- Fields.h - Reading the parts of a tokenizer.json ---------*- C++ -*-===//
//
// What every part's reader needs: options with defaults, and refusal of
// options that are not known.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TOKENIZER_FIELDS_H
#define TENON_RUNTIME_TOKENIZER_FIELDS_H

#include "runtime/Support/Json.h"

#include <functional>
#include <initializer_list>

namespace tenon::tokenizer {

/// An error that names the first member which is not in `Known`; an error too
/// when `Object` is no object. An option that is not known could change ids.
Status expectOnly(const JsonField &Object,
                  std::initializer_list<std::string_view> Known);

/// The member's value; `Default` when it is missing or null.
Result<bool> boolOr(const JsonField &Object, std::string_view Key,
                    bool Default);
Result<std::string> stringOr(const JsonField &Object, std::string_view Key,
                             std::string Default);

/// The required members.
Result<bool> requiredBool(const JsonField &Object, std::string_view Key);
Result<std::string> requiredString(const JsonField &Object,
                                   std::string_view Key);
/// A string of exactly one character.
Result<std::string> requiredCharacter(const JsonField &Object,
                                      std::string_view Key);

/// Calls `Read` on every element of the array `Object[Key]`.
Status forEachElement(const JsonField &Object, std::string_view Key,
                      const std::function<Status(const JsonField &)> &Read);

} // namespace tenon::tokenizer

#endif // TENON_RUNTIME_TOKENIZER_FIELDS_H

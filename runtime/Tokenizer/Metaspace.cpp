//===- Metaspace.cpp - The character that stands for a space --------------===//

#include "runtime/Tokenizer/Metaspace.h"

#include "runtime/Tokenizer/Fields.h"

using namespace tenon;
using namespace tenon::tokenizer;

Result<MetaspaceOptions>
tokenizer::readMetaspaceOptions(const JsonField &Field) {
  Status Known = expectOnly(Field, {"type", "replacement", "add_prefix_space",
                                    "prepend_scheme", "split", "str_rep"});
  if (!Known)
    return Known.error();
  MetaspaceOptions Made;
  Result<std::string> Replacement = requiredCharacter(Field, "replacement");
  if (!Replacement)
    return Replacement.error();
  Made.Replacement = std::move(*Replacement);
  Result<std::string> Same = stringOr(Field, "str_rep", Made.Replacement);
  if (!Same)
    return Same.error();
  if (*Same != Made.Replacement)
    return Field.member("str_rep")->expected("the same as \"replacement\"");
  Result<bool> Split = boolOr(Field, "split", true);
  if (!Split)
    return Split.error();
  Made.Split = *Split;

  // Old files have the switch, new ones the scheme.
  Result<bool> Prefix = boolOr(Field, "add_prefix_space", true);
  if (!Prefix)
    return Prefix.error();
  Result<std::string> Scheme =
      stringOr(Field, "prepend_scheme", *Prefix ? "always" : "never");
  if (!Scheme)
    return Scheme.error();
  if (*Scheme == "always")
    Made.Prepend = MetaspaceOptions::Always;
  else if (*Scheme == "first")
    Made.Prepend = MetaspaceOptions::First;
  else if (*Scheme == "never")
    Made.Prepend = MetaspaceOptions::Never;
  else
    return Field.member("prepend_scheme")->expected("always, first or never");
  if (!*Prefix && Made.Prepend != MetaspaceOptions::Never)
    return Field.member("prepend_scheme")
        ->expected("never, as \"add_prefix_space\" is false");
  return Made;
}

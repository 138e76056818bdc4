//===- Repr.cpp - Values as Python prints them ----------------------------===//

#include "runtime/Chat/Callable.h"
#include "runtime/Chat/Limits.h"
#include "runtime/Tokenizer/Unicode.h"

#include "runtime/Chat/Ast.h"

#include <charconv>
#include <cmath>
#include <utf8proc.h>

using namespace tenon;
using namespace tenon::chat;

std::string chat::floatText(double Number) {
  if (std::isnan(Number))
    return "nan";
  if (std::isinf(Number))
    return Number < 0 ? "-inf" : "inf";
  char Buffer[40];
  auto Written = std::to_chars(Buffer, Buffer + sizeof(Buffer), Number,
                               std::chars_format::scientific);
  std::string_view Shown(Buffer, static_cast<size_t>(Written.ptr - Buffer));
  std::string Sign;
  if (Shown.front() == '-') {
    Sign = "-";
    Shown.remove_prefix(1);
  }
  size_t E = Shown.find('e');
  std::string Digits(Shown.substr(0, 1));
  if (E > 1)
    Digits += Shown.substr(2, E - 2);
  std::string_view Power = Shown.substr(E + 1);
  if (Power.front() == '+')
    Power.remove_prefix(1);
  int Exponent = 0;
  std::from_chars(Power.data(), Power.data() + Power.size(), Exponent);

  // The rules of repr(): a plain number from 1e-4 to below 1e16.
  if (Exponent < -4 || Exponent >= 16) {
    std::string Out = Sign + Digits.substr(0, 1);
    if (Digits.size() > 1)
      Out += "." + Digits.substr(1);
    std::string Size = std::to_string(std::abs(Exponent));
    return Out + (Exponent < 0 ? "e-" : "e+") +
           (Size.size() < 2 ? "0" + Size : Size);
  }
  if (Exponent < 0)
    return Sign + "0." + std::string(static_cast<size_t>(-Exponent - 1), '0') +
           Digits;
  auto Whole = static_cast<size_t>(Exponent) + 1;
  if (Digits.size() <= Whole)
    return Sign + Digits + std::string(Whole - Digits.size(), '0') + ".0";
  return Sign + Digits.substr(0, Whole) + "." + Digits.substr(Whole);
}

/// What str.isprintable() of Python holds for.
static bool isPrintable(char32_t Code) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(Code))) {
  case UTF8PROC_CATEGORY_CN:
  case UTF8PROC_CATEGORY_CC:
  case UTF8PROC_CATEGORY_CF:
  case UTF8PROC_CATEGORY_CS:
  case UTF8PROC_CATEGORY_CO:
  case UTF8PROC_CATEGORY_ZL:
  case UTF8PROC_CATEGORY_ZP:
    return false;
  case UTF8PROC_CATEGORY_ZS:
    return Code == ' ';
  default:
    return true;
  }
}

static void appendQuoted(std::string &Out, const std::string &Content) {
  bool HasSingle = Content.find('\'') != std::string::npos;
  bool HasDouble = Content.find('"') != std::string::npos;
  char Quote = HasSingle && !HasDouble ? '"' : '\'';
  Out += Quote;
  for (size_t At = 0; At < Content.size();) {
    size_t Begin = At;
    char32_t Code = tokenizer::nextCode(Content, At);
    if (Code == static_cast<unsigned char>(Quote) || Code == '\\') {
      Out += '\\';
      Out += static_cast<char>(Code);
    } else if (Code == '\n') {
      Out += "\\n";
    } else if (Code == '\r') {
      Out += "\\r";
    } else if (Code == '\t') {
      Out += "\\t";
    } else if (isPrintable(Code)) {
      Out.append(Content, Begin, At - Begin);
    } else {
      char Escape[16];
      std::snprintf(Escape, sizeof(Escape),
                    Code < 0x100     ? "\\x%02x"
                    : Code < 0x10000 ? "\\u%04x"
                                     : "\\U%08x",
                    static_cast<unsigned>(Code));
      Out += Escape;
    }
  }
  Out += Quote;
}

namespace {

/// Puts together what repr() prints; remembers whether a user chose any of it.
class Printer {
public:
  Status print(const Value &V, unsigned Depth) {
    if (Depth > MaxValueDepth)
      return Error("a value to print is nested deeper than " +
                   std::to_string(MaxValueDepth) + " levels");
    if (Out.size() > MaxTextBytes)
      return Error("a value to print takes more than " +
                   std::to_string(MaxTextBytes) + " bytes");
    Of = mixed(Of, V.origin());
    switch (V.kind()) {
    case Kind::Undefined:
      Out += "Undefined";
      return {};
    case Kind::None:
      Out += "None";
      return {};
    case Kind::Boolean:
      Out += V.asBoolean() ? "True" : "False";
      return {};
    case Kind::Integer:
      Out += std::to_string(V.asInteger());
      return {};
    case Kind::Float:
      Out += floatText(V.asReal());
      return {};
    case Kind::String:
      if (V.isSafe())
        Out += "Markup(";
      appendQuoted(Out, V.str());
      if (V.isSafe())
        Out += ")";
      return {};
    case Kind::List:
      return printItems(V.items(), "[", "]", Depth);
    case Kind::Tuple:
      return printItems(V.items(), "(", V.items().size() == 1 ? ",)" : ")",
                        Depth);
    case Kind::Mapping:
      return printMembers(V.members().Members, Depth);
    case Kind::Range: {
      const Range &R = V.asRange();
      Out += "range(" + std::to_string(R.Start) + ", " + std::to_string(R.Stop);
      if (R.Step != 1)
        Out += ", " + std::to_string(R.Step);
      Out += ")";
      return {};
    }
    case Kind::Namespace: {
      std::vector<std::pair<Value, Value>> Members;
      for (const auto &[Name, Member] : V.asNamespace().Attributes)
        Members.emplace_back(Value::string(Name), Member);
      Out += "<Namespace ";
      if (Status Done = printMembers(Members, Depth); !Done)
        return Done;
      Out += ">";
      return {};
    }
    case Kind::Callable:
      if (const Statement *Macro = V.asCallable().Macro) {
        Out += "<Macro '" + Macro->Name + "'>";
        return {};
      }
      break;
    case Kind::View:
    case Kind::Iterator:
    case Kind::Loop:
      break;
    }
    return Error(describe(V) + " cannot be printed: expected a string, a "
                               "number, a list or a mapping");
  }

  std::string Out;
  Origin Of = Origin::Template;

private:
  Status printItems(const std::vector<Value> &Items, const char *Open,
                    const char *Close, unsigned Depth) {
    Out += Open;
    for (size_t I = 0; I < Items.size(); ++I) {
      Out += I == 0 ? "" : ", ";
      if (Status Done = print(Items[I], Depth + 1); !Done)
        return Done;
    }
    Out += Close;
    return {};
  }

  Status printMembers(const std::vector<std::pair<Value, Value>> &Members,
                      unsigned Depth) {
    Out += "{";
    for (size_t I = 0; I < Members.size(); ++I) {
      Out += I == 0 ? "" : ", ";
      if (Status Done = print(Members[I].first, Depth + 1); !Done)
        return Done;
      Out += ": ";
      if (Status Done = print(Members[I].second, Depth + 1); !Done)
        return Done;
    }
    Out += "}";
    return {};
  }
};

} // namespace

Result<Text> chat::toRepr(const Value &V) {
  Printer P;
  if (Status Done = P.print(V, 0); !Done)
    return Done.error();
  return Text(std::move(P.Out), P.Of);
}

Result<Text> chat::toText(const Value &V) {
  if (V.is(Kind::String))
    return V.text();
  if (V.is(Kind::Undefined))
    return Text();
  return toRepr(V);
}

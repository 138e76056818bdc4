//===- Format.cpp - Python's two ways to fill in strings ------------------===//

#include "runtime/Chat/FormatField.h"
#include "runtime/Chat/Limits.h"
#include "runtime/Chat/Operators.h"
#include "runtime/Tokenizer/Unicode.h"

#include <algorithm>
#include <cmath>

using namespace tenon;
using namespace tenon::chat;

namespace {

class PercentFormat {
public:
  PercentFormat(Interpreter &Run, const Text &Format, const Value &Given)
      : Run(Run), Format(Format), Source(Format.str()), Given(Given) {}

  Result<Text> run() {
    for (size_t At = 0; At < Source.size();) {
      size_t Sign = std::min(Source.find('%', At), Source.size());
      Out.append(Format, At, Sign);
      At = Sign + 1;
      if (Sign == Source.size())
        break;
      if (Status Done = field(At); !Done)
        return Done.error();
      if (Out.size() > MaxTextBytes)
        return Error("a format makes more than " +
                     std::to_string(MaxTextBytes) + " bytes");
    }
    if (Given.is(Kind::Tuple)
            ? Used < Given.items().size()
            : Used == 0 && !Given.is(Kind::Mapping) && !Given.is(Kind::List))
      return badFormat(Source, "fewer values");
    return std::move(Out);
  }

private:
  Result<Value> next() {
    if (Given.is(Kind::Tuple)) {
      if (Used >= Given.items().size())
        return badFormat(Source, "more values");
      return Given.items()[Used++];
    }
    if (Used++ > 0)
      return badFormat(Source, "more values");
    return Given;
  }

  Status field(size_t &At) {
    FormatField F;
    std::optional<Value> Named;
    if (At < Source.size() && Source[At] == '(') {
      size_t End = Source.find(')', At);
      if (End == std::string::npos || !Given.is(Kind::Mapping))
        return badFormat(Source, "a mapping for %(name)");
      const Value *Member =
          Given.members().find(Source.substr(At + 1, End - At - 1));
      if (!Member)
        return badFormat(Source, "a mapping with its names");
      Named = *Member;
      At = End + 1;
    }
    for (; At < Source.size(); ++At) {
      if (Source[At] == '-')
        F.Align = '<';
      else if (Source[At] == '+' || (Source[At] == ' ' && F.Sign != '+'))
        F.Sign = Source[At];
      else if (Source[At] == '#')
        F.Alternate = true;
      else if (Source[At] == '0')
        F.Fill = "0";
      else if (Source[At] != ' ')
        break;
    }
    Result<size_t> Width = readNumber(Source, At, MaxWidth);
    if (!Width)
      return Width.error();
    F.Width = *Width;
    if (At < Source.size() && Source[At] == '.') {
      Result<size_t> Precision = readNumber(Source, ++At, MaxPrecision);
      if (!Precision)
        return Precision.error();
      F.Precision = static_cast<int>(*Precision);
    }
    if (At == Source.size())
      return badFormat(Source, "a letter behind %");
    F.Type = Source[At++];
    if (F.Type == '%') {
      Out.append("%", Format.originAt(At - 1));
      return {};
    }
    Value V;
    if (Named) {
      V = *Named;
    } else {
      Result<Value> Next = next();
      if (!Next)
        return Next.error();
      V = std::move(*Next);
    }
    return write(V, F);
  }

  Status write(const Value &V, FormatField F) {
    switch (F.Type) {
    case 's':
    case 'r': {
      Result<Text> Printed = F.Type == 's' ? Run.print(V) : Run.printRepr(V);
      if (!Printed)
        return Printed.error();
      F.Fill = " ";
      Out.append(padded(cut(*Printed, F), "", F, '>'));
      return {};
    }
    case 'c':
      if (V.is(Kind::String) && tokenizer::countCodes(V.str()) == 1) {
        Out.append(padded(V.text(), "", F, '>'));
        return {};
      }
      break;
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
    case 'o': {
      if (!V.isNumber())
        break;
      if (V.is(Kind::Float) &&
          (F.Type == 'x' || F.Type == 'X' || F.Type == 'o' ||
           !(std::fabs(V.asReal()) < 9e18)))
        break;
      Value Whole =
          V.is(Kind::Float)
              ? Value::integer(static_cast<int64_t>(V.asReal()), V.origin())
              : V;
      writeNumber(Whole, F);
      return {};
    }
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
      if (!V.isNumber())
        break;
      writeNumber(V, F);
      return {};
    default:
      return badFormat(Source, "one of %s %r %d %i %f %e %g %x %o %c %%");
    }
    return Error("%" + std::string(1, F.Type) + " gets " + describe(V) +
                 ": expected a value that it is for");
  }

  void writeNumber(const Value &V, FormatField &F) {
    if (F.Align == '<')
      F.Fill = " ";
    else if (F.Fill == "0")
      F.Align = '=';
    Out.append(formatNumber(V, F));
  }

  Interpreter &Run;
  const Text &Format;
  const std::string &Source;
  const Value &Given;
  Text Out;
  size_t Used = 0;
};

class BraceFormat {
public:
  BraceFormat(Interpreter &Run, const Text &Format, const Arguments &Given)
      : Run(Run), Format(Format), Source(Format.str()), Given(Given) {}

  Result<Text> run() {
    for (size_t At = 0; At < Source.size();) {
      size_t Brace = std::min(Source.find_first_of("{}", At), Source.size());
      Out.append(Format, At, Brace);
      At = Brace + 1;
      if (Brace == Source.size())
        break;
      if (At < Source.size() && Source[At] == Source[Brace]) {
        Out.append(Format, Brace, At);
        ++At;
        continue;
      }
      if (Source[Brace] == '}')
        return badFormat(Source, "no single }");
      size_t End = Source.find_first_of("{}", At);
      if (End == std::string::npos || Source[End] == '{')
        return badFormat(Source, "a } for each {, none inside of another");
      if (Status Done = field(Source.substr(At, End - At)); !Done)
        return Done.error();
      if (Out.size() > MaxTextBytes)
        return Error("a format makes more than " +
                     std::to_string(MaxTextBytes) + " bytes");
      At = End + 1;
    }
    return std::move(Out);
  }

private:
  Result<Value> find(std::string Name) {
    size_t Dot = std::min(Name.find_first_of(".["), Name.size());
    std::string Rest = Name.substr(Dot);
    Name.resize(Dot);
    Value V;
    bool IsNumber = Name.find_first_not_of("0123456789") == Name.npos;
    if (IsNumber) {
      auto Way = Name.empty() ? Counted : Named;
      if (std::exchange(Numbering, Way) == (Way == Named ? Counted : Named))
        return badFormat(Source, "either {} or {0}, not both");
      size_t At = 0;
      Result<size_t> Index = readNumber(Name, At, MaxWidth);
      if (!Index)
        return Index.error();
      size_t I = Name.empty() ? Next++ : *Index;
      if (I >= Given.Positional.size())
        return badFormat(Source, "more values");
      V = Given.Positional[I];
    } else {
      auto Found =
          std::find_if(Given.Keywords.begin(), Given.Keywords.end(),
                       [&](const auto &One) { return One.first == Name; });
      if (Found == Given.Keywords.end())
        return badFormat(Source, "an argument called " + printable(Name));
      V = Found->second;
    }
    for (size_t At = 0; At < Rest.size();) {
      bool IsItem = Rest[At] == '[';
      size_t End =
          IsItem ? Rest.find(']', At)
                 : std::min(Rest.find_first_of(".[", At + 1), Rest.size());
      if (End == Rest.npos || End == At + 1)
        return badFormat(Source, "a name in every part of a field");
      std::string Part = Rest.substr(At + 1, End - At - 1);
      At = End + IsItem;
      Value Key = Value::string(Part);
      if (IsItem && Part.size() < 10 &&
          Part.find_first_not_of("0123456789") == Part.npos)
        Key = Value::integer(std::stol(Part));
      Result<Value> Member = IsItem ? itemOf(V, Key) : attributeOf(V, Part);
      if (!Member)
        return Member;
      V = std::move(*Member);
    }
    return V;
  }

  Status field(const std::string &Whole) {
    size_t Colon = std::min(Whole.find(':'), Whole.size());
    std::string Name = Whole.substr(0, Colon);
    char Conversion = 0;
    if (size_t Mark = Name.find('!'); Mark != Name.npos) {
      if (Mark + 2 != Name.size() ||
          (Name[Mark + 1] != 's' && Name[Mark + 1] != 'r'))
        return badFormat(Source, "!s or !r");
      Conversion = Name[Mark + 1];
      Name.resize(Mark);
    }
    Result<Value> V = find(Name);
    if (!V)
      return V.error();
    if (Conversion) {
      Result<Text> Printed =
          Conversion == 's' ? Run.print(*V) : Run.printRepr(*V);
      if (!Printed)
        return Printed.error();
      V = Value::string(std::move(*Printed));
    }
    std::string Spec = Colon < Whole.size() ? Whole.substr(Colon + 1) : "";
    if (Spec.empty()) {
      Result<Text> Printed = Run.print(*V);
      if (!Printed)
        return Printed.error();
      Out.append(*Printed);
      return {};
    }
    Result<FormatField> F = parse(Spec);
    if (!F)
      return F.error();
    return write(*V, *F);
  }

  Result<FormatField> parse(const std::string &Spec) {
    constexpr std::string_view Aligns = "<>^=";
    FormatField F;
    size_t At = 0;
    size_t Second = 0;
    tokenizer::nextCode(Spec, Second);
    if (Second < Spec.size() && Aligns.find(Spec[Second]) != Aligns.npos) {
      F.Fill = Spec.substr(0, Second);
      F.Align = Spec[Second];
      At = Second + 1;
    } else if (Aligns.find(Spec[0]) != Aligns.npos) {
      F.Align = Spec[At++];
    }
    auto Is = [&](const char *Signs) {
      return At < Spec.size() &&
             std::string_view(Signs).find(Spec[At]) != std::string_view::npos;
    };
    if (Is("+- "))
      F.Sign = Spec[At++];
    if (Is("#"))
      F.Alternate = Spec[At++] == '#';
    if (Is("0")) {
      ++At;
      if (!F.Align) {
        F.Fill = "0";
        F.Align = '=';
      }
    }
    Result<size_t> Width = readNumber(Spec, At, MaxWidth);
    if (!Width)
      return Width.error();
    F.Width = *Width;
    if (Is(","))
      F.Commas = Spec[At++] == ',';
    if (Is(".")) {
      size_t Digits = ++At;
      Result<size_t> Precision = readNumber(Spec, At, MaxPrecision);
      if (!Precision)
        return Precision.error();
      if (At == Digits)
        return badFormat(Source, "digits behind the dot");
      F.Precision = static_cast<int>(*Precision);
    }
    if (Is("sdxXobeEfFgG%"))
      F.Type = Spec[At++];
    if (At != Spec.size())
      return badFormat(Source, "[fill][align][sign][#][0][width][,][.digits]"
                               "[s d x X o b e f g %]");
    return F;
  }

  Status write(const Value &V, FormatField F) {
    if (V.is(Kind::String) && (F.Type == 0 || F.Type == 's') &&
        F.Align != '=' && !F.Commas) {
      Out.append(padded(cut(V.text(), F), "", F, '<'));
      return {};
    }
    bool IsReal = F.Type && std::string_view("eEfFgG%").find(F.Type) !=
                                std::string_view::npos;
    if (V.isNumber() && F.Type != 's') {
      if (V.is(Kind::Float) && !IsReal) {
        if (F.Type || F.Precision >= 0)
          return badFormat(Source, "e, f or g for a float");
        std::string Digits = floatText(std::fabs(V.asReal()));
        std::string Sign = std::signbit(V.asReal()) ? "-"
                           : F.Sign == '-'          ? ""
                                                    : std::string(1, F.Sign);
        Out.append(padded(Text(Digits, V.origin()), Sign, F, '>'));
        return {};
      }
      if (!IsReal && F.Precision >= 0)
        return badFormat(Source, "no precision for a whole number");
      if (V.is(Kind::Boolean) && F.Type == 0)
        return badFormat(Source, "a type for a boolean");
      Out.append(formatNumber(V, F));
      return {};
    }
    return Error("the format " + printable(Source) + " gets " + describe(V) +
                 ": expected a value that it is for");
  }

  Interpreter &Run;
  const Text &Format;
  const std::string &Source;
  const Arguments &Given;
  Text Out;
  enum { Unknown, Counted, Named } Numbering = Unknown;
  size_t Next = 0;
};

} // namespace

Result<Text> chat::formatPercent(Interpreter &Run, const Text &Format,
                                 const Value &Given) {
  return PercentFormat(Run, Format, Given).run();
}

Result<Text> chat::formatBraces(Interpreter &Run, const Text &Format,
                                const Arguments &Given) {
  return BraceFormat(Run, Format, Given).run();
}

//===- Filters.cpp - Filters of text and numbers --------------------------===//

#include "runtime/Chat/Filters.h"

#include "runtime/Chat/Limits.h"
#include "runtime/Chat/Operators.h"
#include "runtime/Tokenizer/Unicode.h"

using namespace tenon;
using namespace tenon::chat;

/// The value as a string, which it may be already.
static Result<Value> asString(Interpreter &Run, const Value &Self) {
  if (Self.is(Kind::String))
    return Self;
  Result<Text> Printed = Run.print(Self);
  if (!Printed)
    return Printed.error();
  return Run.made(std::move(*Printed));
}

/// The method `Name` of Self as a string.
static Result<Value> callMethod(Interpreter &Run, const Value &Self,
                                const char *Name, const Arguments &Given) {
  Result<Value> Whole = asString(Run, Self);
  if (!Whole)
    return Whole;
  return Run.call(*findFunction(stringMethods(), Name), *Whole, Given);
}

static Result<Value> defaultTo(Interpreter &Run, const Value &Self,
                               const Arguments &Given) {
  Result<Bound> Args = bind(Given, "default", {"default_value", "boolean"});
  if (!Args)
    return Args.error();
  bool Replaces =
      Self.is(Kind::Undefined) || (truthOr((*Args)[1], false) && !Self.truth());
  if (!Replaces)
    return Self;
  return (*Args)[0] ? *(*Args)[0] : Value::string("");
}

static Result<Value> trim(Interpreter &Run, const Value &Self,
                          const Arguments &Given) {
  return callMethod(Run, Self, "strip", Given);
}
static Result<Value> lower(Interpreter &Run, const Value &Self,
                           const Arguments &Given) {
  return callMethod(Run, Self, "lower", Given);
}
static Result<Value> upper(Interpreter &Run, const Value &Self,
                           const Arguments &Given) {
  return callMethod(Run, Self, "upper", Given);
}
static Result<Value> capitalize(Interpreter &Run, const Value &Self,
                                const Arguments &Given) {
  return callMethod(Run, Self, "capitalize", Given);
}

static Result<Value> title(Interpreter &Run, const Value &Self,
                           const Arguments &Given) {
  if (Result<Bound> None = bind(Given, "title", {}); !None)
    return None.error();
  Result<Value> Whole = asString(Run, Self);
  if (!Whole)
    return Whole;
  // Words begin behind spaces, hyphens and opening brackets only.
  const Text &From = Whole->text();
  Text Made;
  auto Flush = [&](size_t Begin, size_t End) {
    Text Word = From.part(Begin, End);
    size_t First = 0;
    if (!Word.empty())
      tokenizer::nextCode(Word.str(), First);
    Made.append(toUpper(Word.part(0, First)));
    Made.append(toLower(Word.part(First, Word.size())));
  };
  size_t Begin = 0;
  for (size_t At = 0; At < From.size();) {
    size_t Here = At;
    char32_t Code = tokenizer::nextCode(From.str(), At);
    if (!isSpace(Code) && Code != '-' && Code != '(' && Code != '{' &&
        Code != '[' && Code != '<')
      continue;
    Flush(Begin, Here);
    Made.append(From, Here, At);
    Begin = At;
  }
  Flush(Begin, From.size());
  return Run.made(std::move(Made));
}

static Result<Value> string(Interpreter &Run, const Value &Self,
                            const Arguments &Given) {
  if (Result<Bound> None = bind(Given, "string", {}); !None)
    return None.error();
  return asString(Run, Self);
}

static Result<Value> replaceFilter(Interpreter &Run, const Value &Self,
                                   const Arguments &Given) {
  Result<Bound> Args = bind(Given, "replace", {"old", "new", "count"}, 2);
  if (!Args)
    return Args.error();
  Arguments Texts;
  for (size_t I = 0; I < 2; ++I) {
    Result<Value> One = asString(Run, *(*Args)[I]);
    if (!One)
      return One;
    Texts.Positional.push_back(std::move(*One));
  }
  if ((*Args)[2] && !(*Args)[2]->is(Kind::None))
    Texts.Positional.push_back(*(*Args)[2]);
  return callMethod(Run, Self, "replace", Texts);
}

static Result<Value> safe(Interpreter &Run, const Value &Self,
                          const Arguments &Given) {
  if (Result<Bound> None = bind(Given, "safe", {}); !None)
    return None.error();
  Result<Value> Whole = asString(Run, Self);
  return Whole ? Whole->markedSafe(true) : Whole;
}

template <bool Force>
static Result<Value> escape(Interpreter &Run, const Value &Self,
                            const Arguments &Given) {
  if (Result<Bound> None = bind(Given, "escape", {}); !None)
    return None.error();
  if (Self.isSafe() && !Force)
    return Self;
  Result<Value> Whole = asString(Run, Self);
  if (!Whole)
    return Whole;
  Result<Value> V = Run.made(escapedHtml(Whole->text()));
  return V ? V->markedSafe(true) : V;
}

static Result<Value> formatFilter(Interpreter &Run, const Value &Self,
                                  const Arguments &Given) {
  if (!Given.Positional.empty() && !Given.Keywords.empty())
    return Error("'format' gets arguments with and without names: expected "
                 "either");
  Result<Value> Whole = asString(Run, Self);
  if (!Whole)
    return Whole;
  if (Whole->isSafe())
    return Error("'format' of a safe string: expected a plain one");
  std::vector<std::pair<Value, Value>> Named;
  for (const auto &[Name, V] : Given.Keywords)
    Named.emplace_back(Value::string(Name), V);
  Result<Text> Made =
      formatPercent(Run, Whole->text(),
                    Named.empty() ? Value::tuple(Given.Positional)
                                  : Value::mapping(std::move(Named)));
  if (!Made)
    return Made.error();
  return Run.made(std::move(*Made));
}

static Result<Value> indent(Interpreter &Run, const Value &Self,
                            const Arguments &Given) {
  Result<Bound> Args = bind(Given, "indent", {"width", "first", "blank"});
  if (!Args)
    return Args.error();
  if (!Self.is(Kind::String))
    return Error("'indent' of " + describe(Self) + ": expected a string");
  Text By("    ", Origin::Template);
  if (const Value *Width = (*Args)[0]) {
    if (Width->is(Kind::String)) {
      By = Width->text();
    } else {
      Result<int64_t> Count = integerOr(Width, 4, "width");
      if (!Count)
        return Count.error();
      if (*Count > 1 << 16)
        return Error("'width' is " + std::to_string(*Count) +
                     ": expected a smaller number");
      By = Text(
          std::string(static_cast<size_t>(std::max<int64_t>(*Count, 0)), ' '),
          Width->origin());
    }
  }
  bool First = truthOr((*Args)[1], false), Blank = truthOr((*Args)[2], false);
  // The end of the last line counts as a line end, so that there is a line
  // behind one that the text ends with.
  Text Whole = Self.text();
  Whole.append("\n", Origin::Template);
  Text Made;
  if (First)
    Made.append(By);
  bool IsFirst = true;
  for (const TrimmedRange &Line : linesOf(Whole.str(), false)) {
    if (!IsFirst) {
      Made.append("\n", Origin::Template);
      if (Blank || Line.Begin < Line.End)
        Made.append(By);
    }
    IsFirst = false;
    Made.append(Whole, Line.Begin, Line.End);
    if (Made.size() > MaxTextBytes)
      break;
  }
  Result<Value> V = Run.made(std::move(Made));
  return V ? V->markedSafe(Self.isSafe()) : V;
}

static Result<Value> center(Interpreter &Run, const Value &Self,
                            const Arguments &Given) {
  Result<Bound> Args = bind(Given, "center", {"width"});
  if (!Args)
    return Args.error();
  Arguments Width;
  Width.Positional.push_back((*Args)[0] ? *(*Args)[0] : Value::integer(80));
  return callMethod(Run, Self, "center", Width);
}

static Result<Value> wordCount(Interpreter &Run, const Value &Self,
                               const Arguments &Given) {
  if (Result<Bound> None = bind(Given, "wordcount", {}); !None)
    return None.error();
  Result<Value> Whole = asString(Run, Self);
  if (!Whole)
    return Whole;
  int64_t Count = 0;
  bool InWord = false;
  for (size_t At = 0; At < Whole->str().size();) {
    bool Is = tokenizer::isWordCharacter(tokenizer::nextCode(Whole->str(), At));
    Count += Is && !InWord;
    InWord = Is;
  }
  return Value::integer(Count, Whole->origin());
}

static Result<Value> truncate(Interpreter &Run, const Value &Self,
                              const Arguments &Given) {
  Result<Bound> Args =
      bind(Given, "truncate", {"length", "killwords", "end", "leeway"});
  if (!Args)
    return Args.error();
  Result<int64_t> Length = integerOr((*Args)[0], 255, "length");
  if (!Length)
    return Length.error();
  Result<int64_t> Leeway = integerOr((*Args)[3], 5, "leeway");
  if (!Leeway)
    return Leeway.error();
  Text Dots("...", Origin::Template);
  Result<const Text *> End = stringOr((*Args)[2], &Dots, "end");
  if (!End)
    return End.error();
  if (!Self.is(Kind::String))
    return Error("'truncate' of " + describe(Self) + ": expected a string");
  auto EndSize = static_cast<int64_t>(tokenizer::countCodes((*End)->str()));
  auto Size = static_cast<int64_t>(tokenizer::countCodes(Self.str()));
  if (*Length < EndSize || *Leeway < 0 || *Length > INT32_MAX)
    return Error("'truncate' gets the length " + std::to_string(*Length) +
                 ": expected at least that of its end");
  if (Size <= *Length + std::min<int64_t>(*Leeway, INT32_MAX))
    return Self;
  size_t Cut = byteOfCode(Self.str(), static_cast<size_t>(*Length - EndSize));
  if (!truthOr((*Args)[1], false))
    if (size_t Space = Self.str().substr(0, Cut).rfind(' ');
        Space != std::string::npos)
      Cut = Space;
  Text Made = Self.text().part(0, Cut);
  Made.append(**End);
  return Run.made(std::move(Made));
}

static Result<Value> toJsonText(Interpreter &Run, const Value &Self,
                                const Arguments &Given) {
  Result<Bound> Args = bind(
      Given, "tojson", {"ensure_ascii", "indent", "separators", "sort_keys"});
  if (!Args)
    return Args.error();
  JsonStyle Style;
  std::string Indent;
  Style.OnlyAscii = truthOr((*Args)[0], false);
  if (const Value *By = (*Args)[1]; By && !By->is(Kind::None)) {
    if (By->is(Kind::String)) {
      Indent = By->str();
    } else {
      Result<int64_t> Count = integerOr(By, 0, "indent");
      if (!Count)
        return Count.error();
      if (*Count > 100)
        return Error("'indent' is " + std::to_string(*Count) +
                     ": expected at most 100");
      Indent.assign(static_cast<size_t>(std::max<int64_t>(*Count, 0)), ' ');
    }
    Style.Indent = &Indent;
    Style.BetweenItems = ",";
  }
  if (const Value *Both = (*Args)[2]; Both && !Both->is(Kind::None)) {
    if (!(Both->is(Kind::Tuple) || Both->is(Kind::List)) ||
        Both->items().size() != 2 || !Both->items()[0].is(Kind::String) ||
        !Both->items()[1].is(Kind::String))
      return Error("'separators' is " + describe(*Both) +
                   ": expected two strings");
    Style.BetweenItems = Both->items()[0].str();
    Style.BehindKeys = Both->items()[1].str();
  }
  Style.SortKeys = truthOr((*Args)[3], false);
  if (Status Able = Run.spend(Self.weight()); !Able)
    return Able.error();
  Result<Text> Made = toJson(Self, Style);
  if (!Made)
    return Made.error();
  return Run.made(std::move(*Made));
}

/// Not Transformers', but what some published templates expect.
static Result<Value> fromJsonText(Interpreter &Run, const Value &Self,
                                  const Arguments &Given) {
  if (Result<Bound> None = bind(Given, "from_json", {}); !None)
    return None.error();
  if (!Self.is(Kind::String))
    return Error("'from_json' of " + describe(Self) + ": expected a string");
  Result<Json> Read = parseJson(Self.str(), "'from_json'");
  if (!Read)
    return Read.error();
  return valueOf(*Read, Self.origin());
}

static constexpr NamedFunction TextFilters[] = {
    {"capitalize", capitalize},
    {"center", center},
    {"d", defaultTo},
    {"default", defaultTo},
    {"e", escape<false>},
    {"escape", escape<false>},
    {"forceescape", escape<true>},
    {"format", formatFilter},
    {"from_json", fromJsonText},
    {"indent", indent},
    {"lower", lower},
    {"replace", replaceFilter},
    {"safe", safe},
    {"string", string},
    {"title", title},
    {"tojson", toJsonText},
    {"trim", trim},
    {"truncate", truncate},
    {"upper", upper},
    {"wordcount", wordCount},
};

const NamedFunction *chat::filterOf(std::string_view Name) {
  for (std::span<const NamedFunction> Some :
       {std::span<const NamedFunction>(TextFilters), numberFilters(),
        sequenceFilters(), orderFilters()})
    if (const NamedFunction *Known = findFunction(Some, Name))
      return Known;
  return nullptr;
}

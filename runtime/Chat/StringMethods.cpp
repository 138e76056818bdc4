//===- StringMethods.cpp - Methods of Python's str ------------------------===//

#include "runtime/Chat/Interpreter.h"
#include "runtime/Chat/Limits.h"
#include "runtime/Chat/Operators.h"
#include "runtime/Tokenizer/Unicode.h"

#include <algorithm>
#include <utf8proc.h>

using namespace tenon;
using namespace tenon::chat;

template <bool Left, bool Right>
static Result<Value> strip(Interpreter &Run, const Value &Self,
                           const Arguments &Given) {
  Result<Bound> Args = bind(Given, "strip", {"chars"});
  if (!Args)
    return Args.error();
  const Value *Characters = (*Args)[0];
  if (Characters && Characters->is(Kind::None))
    Characters = nullptr;
  Result<const Text *> Set = stringOr(Characters, nullptr, "chars");
  if (!Set)
    return Set.error();
  TrimmedRange Kept =
      trimmed(Self.str(), *Set ? &(*Set)->str() : nullptr, Left, Right);
  Result<Value> V = Run.made(Self.text().part(Kept.Begin, Kept.End));
  return V ? V->markedSafe(Self.isSafe()) : V;
}

/// The part of `Self` between two optional bounds in characters: its first
/// byte and its last plus one; none when it begins behind the end.
static Result<std::optional<TrimmedRange>>
within(const std::string &Self, const Value *Start, const Value *Stop) {
  if (Start && Start->is(Kind::None))
    Start = nullptr;
  if (Stop && Stop->is(Kind::None))
    Stop = nullptr;
  if (!Start && !Stop)
    return std::optional(TrimmedRange{0, Self.size()});
  Result<int64_t> First = integerOr(Start, 0, "start");
  if (!First)
    return First.error();
  Result<int64_t> Last = integerOr(Stop, INT64_MAX, "end");
  if (!Last)
    return Last.error();
  size_t Size = tokenizer::countCodes(Self);
  if (*First > static_cast<int64_t>(Size))
    return std::optional<TrimmedRange>();
  auto [Begin, End] = sliceBounds(*First, *Last, Size);
  return std::optional(
      TrimmedRange{byteOfCode(Self, Begin), byteOfCode(Self, End)});
}

template <bool AtEnd>
static Result<Value> startsOrEnds(Interpreter &Run, const Value &Self,
                                  const Arguments &Given) {
  Result<Bound> Args = bind(Given, AtEnd ? "endswith" : "startswith",
                            {"prefix", "start", "end"}, 1);
  if (!Args)
    return Args.error();
  Result<std::optional<TrimmedRange>> Range =
      within(Self.str(), (*Args)[1], (*Args)[2]);
  if (!Range)
    return Range.error();
  std::vector<Value> Texts{*(*Args)[0]};
  if (Texts[0].is(Kind::Tuple))
    Texts = std::vector<Value>((*Args)[0]->items());
  for (const Value &One : Texts) {
    if (!One.is(Kind::String))
      return Error("a text to compare with is " + describe(One) +
                   ": expected a string or a tuple of strings");
    if (!*Range)
      continue;
    std::string_view Part =
        std::string_view(Self.str())
            .substr((*Range)->Begin, (*Range)->End - (*Range)->Begin);
    if (AtEnd ? Part.ends_with(One.str()) : Part.starts_with(One.str()))
      return Value::boolean(true);
  }
  return Value::boolean(false);
}

static Result<Value> replace(Interpreter &Run, const Value &Self,
                             const Arguments &Given) {
  Result<Bound> Args = bind(Given, "replace", {"old", "new", "count"}, 2);
  if (!Args)
    return Args.error();
  Result<const Text *> Old = stringOr((*Args)[0], nullptr, "old");
  if (!Old)
    return Old.error();
  Result<const Text *> New = stringOr((*Args)[1], nullptr, "new");
  if (!New)
    return New.error();
  Result<int64_t> Count = integerOr((*Args)[2], -1, "count");
  if (!Count)
    return Count.error();
  const Text &Whole = Self.text();
  int64_t Left = *Count < 0 ? INT64_MAX : *Count;
  Text Made;
  size_t At = 0;
  bool IsBetween = (*Old)->empty();
  for (size_t Found = 0; Left > 0; --Left) {
    Found = findText(Whole.str(), (*Old)->str(), IsBetween ? Found : At);
    if (Found == std::string::npos)
      break;
    Made.append(Whole, At, Found);
    Made.append(**New);
    At = Found + (*Old)->size();
    if (Made.size() > MaxTextBytes)
      break;
    if (!IsBetween)
      continue;
    // An empty text is found before each character and at the end.
    if (Found == Whole.size())
      break;
    tokenizer::nextCode(Whole.str(), Found);
  }
  Made.append(Whole, At, Whole.size());
  return Run.made(std::move(Made));
}

template <Text (*Recase)(const Text &)>
static Result<Value> recase(Interpreter &Run, const Value &Self,
                            const Arguments &Given) {
  if (Result<Bound> None = bind(Given, "the method", {}); !None)
    return None.error();
  Result<Value> V = Run.made(Recase(Self.text()));
  return V ? V->markedSafe(Self.isSafe()) : V;
}

/// find, rfind, index and rindex.
template <bool FromRight, bool MustBe>
static Result<Value> find(Interpreter &Run, const Value &Self,
                          const Arguments &Given) {
  Result<Bound> Args = bind(Given, "find", {"sub", "start", "end"}, 1);
  if (!Args)
    return Args.error();
  Result<const Text *> Part = stringOr((*Args)[0], nullptr, "sub");
  if (!Part)
    return Part.error();
  Result<std::optional<TrimmedRange>> Range =
      within(Self.str(), (*Args)[1], (*Args)[2]);
  if (!Range)
    return Range.error();
  size_t Found = std::string::npos;
  if (*Range) {
    std::string_view Within =
        std::string_view(Self.str()).substr(0, (*Range)->End);
    const std::string &Needle = (*Part)->str();
    Found = findText(Within, Needle, (*Range)->Begin);
    if (FromRight && Found != Within.npos) {
      if (Status Able = Run.spend(Within.size() * Needle.size() / 64); !Able)
        return Able.error();
      Found = Within.rfind(Needle);
    }
  }
  if (Found != std::string::npos)
    return Value::integer(static_cast<int64_t>(tokenizer::countCodes(
                              std::string_view(Self.str()).substr(0, Found))),
                          Self.origin());
  if (MustBe)
    return Error(printable((*Part)->str()) + " is not in " + describe(Self));
  return Value::integer(-1, Self.origin());
}

static Result<Value> count(Interpreter &Run, const Value &Self,
                           const Arguments &Given) {
  Result<Bound> Args = bind(Given, "count", {"sub"}, 1);
  if (!Args)
    return Args.error();
  Result<const Text *> Part = stringOr((*Args)[0], nullptr, "sub");
  if (!Part)
    return Part.error();
  size_t Count = 0;
  if ((*Part)->empty())
    Count = tokenizer::countCodes(Self.str()) + 1;
  else
    for (size_t At = 0;
         (At = findText(Self.str(), (*Part)->str(), At)) != std::string::npos;
         At += (*Part)->size())
      ++Count;
  return Value::integer(static_cast<int64_t>(Count), Self.origin());
}

static Result<Value> join(Interpreter &Run, const Value &Self,
                          const Arguments &Given) {
  Result<Bound> Args = bind(Given, "join", {"iterable"}, 1);
  if (!Args)
    return Args.error();
  Result<std::vector<Value>> Items = Run.elements(*(*Args)[0]);
  if (!Items)
    return Items.error();
  Text All;
  for (size_t I = 0; I < Items->size(); ++I) {
    const Value &Item = (*Items)[I];
    if (!Item.is(Kind::String))
      return Error("an element to join is " + describe(Item) +
                   ": expected a string");
    if (I > 0)
      All.append(Self.text());
    All.append(Item.text());
    if (All.size() > MaxTextBytes)
      break;
  }
  return Run.made(std::move(All));
}

static Result<Value> format(Interpreter &Run, const Value &Self,
                            const Arguments &Given) {
  Result<Text> Made = formatBraces(Run, Self.text(), Given);
  if (!Made)
    return Made.error();
  return Run.made(std::move(*Made));
}

/// Whether it has characters, and all are so; for Cased whether all that have
/// a case are so and there is one.
template <typename Predicate>
static Value all(const Value &Self, Predicate Is) {
  for (size_t At = 0; At < Self.str().size();)
    if (!Is(tokenizer::nextCode(Self.str(), At)))
      return Value::boolean(false);
  return Value::boolean(!Self.text().empty());
}

static utf8proc_category_t categoryOf(char32_t Code) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(Code));
}

static bool isLetter(char32_t Code) {
  utf8proc_category_t C = categoryOf(Code);
  return C >= UTF8PROC_CATEGORY_LU && C <= UTF8PROC_CATEGORY_LO;
}
static bool isDecimal(char32_t Code) {
  return categoryOf(Code) == UTF8PROC_CATEGORY_ND;
}
static bool isDigit(char32_t Code) {
  return isDecimal(Code) || Code == 0xb2 || Code == 0xb3 || Code == 0xb9 ||
         Code == 0x2070 || (Code >= 0x2074 && Code <= 0x2079) ||
         (Code >= 0x2080 && Code <= 0x2089) ||
         (Code >= 0x2460 && Code <= 0x2468) ||
         (Code >= 0x2474 && Code <= 0x247c) ||
         (Code >= 0x2488 && Code <= 0x2490);
}
static bool isNumeric(char32_t Code) {
  utf8proc_category_t C = categoryOf(Code);
  return C >= UTF8PROC_CATEGORY_ND && C <= UTF8PROC_CATEGORY_NO;
}
static bool isLetterOrNumber(char32_t Code) {
  return isLetter(Code) || isNumeric(Code);
}

template <bool (*Is)(char32_t)>
static Result<Value> isAll(Interpreter &Run, const Value &Self,
                           const Arguments &Given) {
  if (Result<Bound> None = bind(Given, "the method", {}); !None)
    return None.error();
  return all(Self, Is);
}

template <bool Upper>
static Result<Value> isCase(Interpreter &Run, const Value &Self,
                            const Arguments &Given) {
  if (Result<Bound> None = bind(Given, "the method", {}); !None)
    return None.error();
  bool Found = false;
  for (size_t At = 0; At < Self.str().size();) {
    utf8proc_category_t C = categoryOf(tokenizer::nextCode(Self.str(), At));
    if (C == UTF8PROC_CATEGORY_LT ||
        C == (Upper ? UTF8PROC_CATEGORY_LL : UTF8PROC_CATEGORY_LU))
      return Value::boolean(false);
    Found |= C == (Upper ? UTF8PROC_CATEGORY_LU : UTF8PROC_CATEGORY_LL);
  }
  return Value::boolean(Found);
}

/// ljust, rjust and center: which share of what is missing goes before.
enum class Side { Left, Right, Both };
template <Side Where>
static Result<Value> justify(Interpreter &Run, const Value &Self,
                             const Arguments &Given) {
  Result<Bound> Args = bind(Given, "the method", {"width", "fillchar"}, 1);
  if (!Args)
    return Args.error();
  Result<int64_t> Width = integerOr((*Args)[0], 0, "width");
  if (!Width)
    return Width.error();
  Text Space(" ", Origin::Template);
  Result<const Text *> Fill = stringOr((*Args)[1], &Space, "fillchar");
  if (!Fill)
    return Fill.error();
  if (tokenizer::countCodes((*Fill)->str()) != 1)
    return Error("'fillchar' is " + printable((*Fill)->str()) +
                 ": expected one character");
  auto Size = static_cast<int64_t>(tokenizer::countCodes(Self.str()));
  int64_t Missing = std::max<int64_t>(*Width - Size, 0);
  if (static_cast<uint64_t>(Missing) > MaxTextBytes / 4)
    return Error("'width' is " + std::to_string(*Width) +
                 ": expected a smaller number");
  // As CPython shares it out.
  int64_t Before = Where == Side::Left ? 0
                   : Where == Side::Right
                       ? Missing
                       : Missing / 2 + (Missing & *Width & 1);
  Text All;
  for (int64_t I = 0; I < Missing; ++I) {
    if (I == Before)
      All.append(Self.text());
    All.append(**Fill);
  }
  if (Before == Missing)
    All.append(Self.text());
  return Run.made(std::move(All));
}

static Result<Value> zeroFill(Interpreter &Run, const Value &Self,
                              const Arguments &Given) {
  Result<Bound> Args = bind(Given, "zfill", {"width"}, 1);
  if (!Args)
    return Args.error();
  Result<int64_t> Width = integerOr((*Args)[0], 0, "width");
  if (!Width)
    return Width.error();
  const Text &Whole = Self.text();
  auto Size = static_cast<int64_t>(tokenizer::countCodes(Whole.str()));
  int64_t Missing = std::max<int64_t>(*Width - Size, 0);
  if (static_cast<uint64_t>(Missing) > MaxTextBytes)
    return Error("'width' is " + std::to_string(*Width) +
                 ": expected a smaller number");
  size_t Sign =
      !Whole.empty() && (Whole.str()[0] == '-' || Whole.str()[0] == '+');
  Text All = Whole.part(0, Sign);
  All.append(std::string(static_cast<size_t>(Missing), '0'), Whole.origin());
  All.append(Whole, Sign, Whole.size());
  return Run.made(std::move(All));
}

template <bool AtEnd>
static Result<Value> removeFix(Interpreter &Run, const Value &Self,
                               const Arguments &Given) {
  Result<Bound> Args = bind(Given, "the method", {"prefix"}, 1);
  if (!Args)
    return Args.error();
  Result<const Text *> Fix = stringOr((*Args)[0], nullptr, "prefix");
  if (!Fix)
    return Fix.error();
  const Text &Whole = Self.text();
  size_t Size = Whole.size(), Cut = (*Fix)->size();
  if (AtEnd && Whole.str().ends_with((*Fix)->str()))
    return Run.made(Whole.part(0, Size - Cut));
  if (!AtEnd && Whole.str().starts_with((*Fix)->str()))
    return Run.made(Whole.part(Cut, Size));
  return Self;
}

static constexpr NamedFunction StringMethods[] = {
    {"capitalize", recase<capitalized>},
    {"center", justify<Side::Both>},
    {"count", count},
    {"endswith", startsOrEnds<true>},
    {"find", find<false, false>},
    {"format", format},
    {"index", find<false, true>},
    {"isalnum", isAll<isLetterOrNumber>},
    {"isalpha", isAll<isLetter>},
    {"isdecimal", isAll<isDecimal>},
    {"isdigit", isAll<isDigit>},
    {"islower", isCase<false>},
    {"isnumeric", isAll<isNumeric>},
    {"isspace", isAll<isSpace>},
    {"isupper", isCase<true>},
    {"join", join},
    {"ljust", justify<Side::Left>},
    {"lower", recase<toLower>},
    {"lstrip", strip<true, false>},
    {"removeprefix", removeFix<false>},
    {"removesuffix", removeFix<true>},
    {"replace", replace},
    {"rfind", find<true, false>},
    {"rindex", find<true, true>},
    {"rjust", justify<Side::Right>},
    {"rstrip", strip<false, true>},
    {"startswith", startsOrEnds<false>},
    {"strip", strip<true, true>},
    {"title", recase<titled>},
    {"upper", recase<toUpper>},
    {"zfill", zeroFill},
};

std::span<const NamedFunction> chat::stringMethods() { return StringMethods; }

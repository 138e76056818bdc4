//===- SplitMethods.cpp - Methods of Python's str that take it apart ------===//

#include "runtime/Chat/Interpreter.h"
#include "runtime/Tokenizer/Unicode.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::chat;

/// The parts of `Self` between occurrences of `Separator`, or of white space
/// for null; at most `Most` cuts, from the left or, of white space, from the
/// right.
static std::vector<TrimmedRange> cut(const std::string &Self,
                                     const std::string *Separator, int64_t Most,
                                     bool FromRight) {
  std::vector<TrimmedRange> Parts;
  size_t At = 0;
  if (Separator) {
    for (size_t Next; (Next = findText(Self, *Separator, At)) != Self.npos;) {
      Parts.push_back({At, Next});
      At = Next + Separator->size();
    }
    Parts.push_back({At, Self.size()});
  } else {
    size_t Begin = 0;
    bool InWord = false;
    for (; At < Self.size();) {
      size_t Here = At;
      bool Is = isSpace(tokenizer::nextCode(Self, At));
      if (!Is && !InWord)
        Begin = Here;
      if (Is && InWord)
        Parts.push_back({Begin, Here});
      InWord = !Is;
    }
    if (InWord)
      Parts.push_back({Begin, Self.size()});
  }
  if (Most < 0 || Parts.size() <= static_cast<size_t>(Most) + 1)
    return Parts;
  if (FromRight) {
    size_t Cuts = static_cast<size_t>(Most);
    TrimmedRange First{0, Parts[Parts.size() - 1 - Cuts].End};
    Parts.erase(Parts.begin(), Parts.end() - static_cast<ptrdiff_t>(Cuts));
    Parts.insert(Parts.begin(), First);
    return Parts;
  }
  TrimmedRange Last{Parts[static_cast<size_t>(Most)].Begin, Self.size()};
  Parts.resize(static_cast<size_t>(Most));
  Parts.push_back(Last);
  return Parts;
}

/// The cuts of rsplit with a separator, found from the right.
static std::vector<TrimmedRange> cutFromRight(const std::string &Self,
                                              const std::string &Separator,
                                              int64_t Most) {
  std::vector<TrimmedRange> Parts;
  size_t End = Self.size();
  while (Most != 0 && End >= Separator.size()) {
    size_t Found = Self.rfind(Separator, End - Separator.size());
    if (Found == Self.npos)
      break;
    Parts.push_back({Found + Separator.size(), End});
    End = Found;
    --Most;
  }
  Parts.push_back({0, End});
  std::reverse(Parts.begin(), Parts.end());
  return Parts;
}

static Result<Value> partsOf(Interpreter &Run, const Text &Whole,
                             const std::vector<TrimmedRange> &Ranges) {
  std::vector<Value> Items;
  Items.reserve(Ranges.size());
  for (const TrimmedRange &R : Ranges) {
    Result<Value> Part = Run.made(Whole.part(R.Begin, R.End));
    if (!Part)
      return Part;
    Items.push_back(std::move(*Part));
  }
  return Run.madeList(std::move(Items), Whole.origin());
}

template <bool FromRight>
static Result<Value> split(Interpreter &Run, const Value &Self,
                           const Arguments &Given) {
  Result<Bound> Args = bind(Given, "split", {"sep", "maxsplit"});
  if (!Args)
    return Args.error();
  const Value *By = (*Args)[0];
  if (By && By->is(Kind::None))
    By = nullptr;
  Result<const Text *> Separator = stringOr(By, nullptr, "sep");
  if (!Separator)
    return Separator.error();
  Result<int64_t> Most = integerOr((*Args)[1], -1, "maxsplit");
  if (!Most)
    return Most.error();
  if (*Separator && (*Separator)->empty())
    return Error("'sep' is empty: expected some text to split at");
  const std::string &Whole = Self.str();
  if (FromRight && *Separator) {
    if (Status Able = Run.spend(Whole.size() * (*Separator)->size() / 64);
        !Able)
      return Able.error();
    return partsOf(Run, Self.text(),
                   cutFromRight(Whole, (*Separator)->str(), *Most));
  }
  std::vector<TrimmedRange> Ranges =
      cut(Whole, *Separator ? &(*Separator)->str() : nullptr, *Most, FromRight);
  return partsOf(Run, Self.text(), Ranges);
}

static Result<Value> splitLines(Interpreter &Run, const Value &Self,
                                const Arguments &Given) {
  Result<Bound> Args = bind(Given, "splitlines", {"keepends"});
  if (!Args)
    return Args.error();
  return partsOf(Run, Self.text(),
                 linesOf(Self.str(), truthOr((*Args)[0], false)));
}

template <bool FromRight>
static Result<Value> partition(Interpreter &Run, const Value &Self,
                               const Arguments &Given) {
  Result<Bound> Args = bind(Given, "partition", {"sep"}, 1);
  if (!Args)
    return Args.error();
  Result<const Text *> Separator = stringOr((*Args)[0], nullptr, "sep");
  if (!Separator)
    return Separator.error();
  if ((*Separator)->empty())
    return Error("'sep' is empty: expected some text to split at");
  const Text &Whole = Self.text();
  if (FromRight)
    if (Status Able = Run.spend(Whole.size() * (*Separator)->size() / 64);
        !Able)
      return Able.error();
  size_t Found = FromRight ? Whole.str().rfind((*Separator)->str())
                           : findText(Whole.str(), (*Separator)->str(), 0);
  Value Empty = Value::string("");
  if (Found == std::string::npos)
    return Value::tuple(FromRight ? std::vector<Value>{Empty, Empty, Self}
                                  : std::vector<Value>{Self, Empty, Empty});
  size_t End = Found + (*Separator)->size();
  return Value::tuple({Value::string(Whole.part(0, Found)), *(*Args)[0],
                       Value::string(Whole.part(End, Whole.size()))});
}

static constexpr NamedFunction SplitMethods[] = {
    {"partition", partition<false>}, {"rpartition", partition<true>},
    {"rsplit", split<true>},         {"split", split<false>},
    {"splitlines", splitLines},
};

std::span<const NamedFunction> chat::splitMethods() { return SplitMethods; }

//===- Globals.cpp - Functions that every template has --------------------===//

#include "runtime/Chat/Interpreter.h"
#include "runtime/Chat/Limits.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::chat;

static Result<Value> range(Interpreter &Run, const Value &,
                           const Arguments &Given) {
  Result<Bound> Args = bind(Given, "range", {"start", "stop", "step"}, 1);
  if (!Args)
    return Args.error();
  if (!Given.Keywords.empty())
    return Error("'range' gets arguments with names: expected none");
  Range R;
  int64_t *Places[] = {&R.Start, &R.Stop, &R.Step};
  for (size_t I = 0; I < 3; ++I) {
    Result<int64_t> Number =
        integerOr((*Args)[I], *Places[I], "an argument of range");
    if (!Number)
      return Number.error();
    *Places[I] = *Number;
    if ((*Args)[I])
      R.From = mixed(R.From, (*Args)[I]->origin());
  }
  if (!(*Args)[1])
    std::swap(R.Start, R.Stop);
  if (R.Step == 0)
    return Error("'range' gets the step 0: expected another number");
  if (R.size() > MaxRangeSize)
    return Error("'range' gives " + std::to_string(R.size()) +
                 " numbers: expected at most " + std::to_string(MaxRangeSize));
  return Value::range(R);
}

/// What dict() and namespace() are made of: a mapping and named arguments.
static Result<std::vector<std::pair<Value, Value>>>
membersOf(Interpreter &Run, const Arguments &Given, const char *Callee) {
  std::vector<std::pair<Value, Value>> Members;
  if (Given.Positional.size() > 1)
    return Error(std::string("'") + Callee +
                 "' gets several values: expected one mapping");
  if (!Given.Positional.empty()) {
    const Value &First = Given.Positional[0];
    if (First.is(Kind::Mapping)) {
      Members = First.members().Members;
    } else {
      Result<std::vector<Value>> Pairs = Run.elements(First);
      if (!Pairs)
        return Pairs.error();
      for (const Value &Pair : *Pairs) {
        if (!(Pair.is(Kind::Tuple) || Pair.is(Kind::List)) ||
            Pair.items().size() != 2 || Pair.items()[0].is(Kind::List) ||
            Pair.items()[0].is(Kind::Mapping))
          return Error(std::string("'") + Callee + "' gets " + describe(Pair) +
                       " in a list: expected pairs of a key and a value");
        Members.emplace_back(Pair.items()[0], Pair.items()[1]);
      }
    }
  }
  for (const auto &[Name, V] : Given.Keywords)
    Members.emplace_back(Value::string(Name), V);
  if (Status Able = Run.spend(Members.size()); !Able)
    return Able.error();
  return Members;
}

static Result<Value> dict(Interpreter &Run, const Value &,
                          const Arguments &Given) {
  auto Members = membersOf(Run, Given, "dict");
  if (!Members)
    return Members.error();
  bool AreStrings =
      std::all_of(Members->begin(), Members->end(), [](const auto &Member) {
        return Member.first.is(Kind::String);
      });
  if (Status Able =
          Run.spend(AreStrings ? 0 : Members->size() * Members->size());
      !Able)
    return Able.error();
  return Value::mapping(std::move(*Members));
}

static Result<Value> makeNamespace(Interpreter &Run, const Value &,
                                   const Arguments &Given) {
  auto Members = membersOf(Run, Given, "namespace");
  if (!Members)
    return Members.error();
  if (Status Able = Run.spend(Members->size() * Members->size() / 8); !Able)
    return Able.error();
  Value Made = Run.newNamespace({});
  for (auto &[Key, V] : *Members) {
    if (!Key.is(Kind::String))
      return Error("'namespace' gets the key " + describe(Key) +
                   ": expected strings");
    Made.asNamespace().set(Key.str(), std::move(V));
  }
  return Made;
}

static Result<Value> raiseException(Interpreter &Run, const Value &,
                                    const Arguments &Given) {
  Result<Bound> Args = bind(Given, "raise_exception", {"message"}, 1);
  if (!Args)
    return Args.error();
  Result<Text> Message = Run.print(*(*Args)[0]);
  if (!Message)
    return Message.error();
  constexpr size_t MaxShown = 1000;
  std::string Shown = Message->str();
  if (Shown.size() > MaxShown) {
    size_t End = MaxShown;
    while ((static_cast<unsigned char>(Shown[End]) & 0xc0) == 0x80)
      --End;
    Shown = Shown.substr(0, End) + "...";
  }
  return Error("the template says: " + escaped(Shown));
}

static Result<Value> strftimeNow(Interpreter &Run, const Value &,
                                 const Arguments &Given) {
  Result<Bound> Args = bind(Given, "strftime_now", {"format"}, 1);
  if (!Args)
    return Args.error();
  Result<const Text *> Format = stringOr((*Args)[0], nullptr, "format");
  if (!Format)
    return Format.error();
  constexpr size_t MaxFormat = 256;
  const std::string &Source = (*Format)->str();
  if (Source.size() > MaxFormat)
    return Error("a format of " + std::to_string(Source.size()) +
                 " bytes for the time: expected at most " +
                 std::to_string(MaxFormat));
  for (size_t At = 0; (At = Source.find('%', At)) != Source.npos; At += 2) {
    constexpr std::string_view Known = "aAbBcdDeFgGhHIjmMnprRStTuUVwWxXyYZz%";
    if (At + 1 == Source.size() || Known.find(Source[At + 1]) == Known.npos)
      return Error("the format of the time " + printable(Source) +
                   ": expected % before one of " + std::string(Known));
  }
  // Every directive makes less than 64 bytes; none makes nothing of all.
  char Buffer[64 * MaxFormat];
  size_t Size = Source.empty() ? 0
                               : std::strftime(Buffer, sizeof(Buffer),
                                               Source.c_str(), &Run.now());
  return Run.made(Text(std::string(Buffer, Size), (*Format)->origin()));
}

static constexpr NamedFunction Globals[] = {
    {"dict", dict},
    {"namespace", makeNamespace},
    {"raise_exception", raiseException},
    {"range", range},
    {"strftime_now", strftimeNow},
};

const NamedFunction *chat::globalOf(std::string_view Name) {
  return findFunction(Globals, Name);
}

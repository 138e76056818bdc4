//===- Subscript.cpp - Attributes, members and slices ---------------------===//

#include "runtime/Chat/Callable.h"
#include "runtime/Chat/Operators.h"
#include "runtime/Tokenizer/Unicode.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::chat;

static Value loopAttribute(const LoopState &Loop, const std::string &Name) {
  auto Index = static_cast<int64_t>(Loop.Index);
  auto Size = static_cast<int64_t>(Loop.Items.size());
  if (Name == "index")
    return Value::integer(Index + 1);
  if (Name == "index0")
    return Value::integer(Index);
  if (Name == "revindex")
    return Value::integer(Size - Index);
  if (Name == "revindex0")
    return Value::integer(Size - Index - 1);
  if (Name == "first")
    return Value::boolean(Index == 0);
  if (Name == "last")
    return Value::boolean(Index + 1 == Size);
  if (Name == "length")
    return Value::integer(Size);
  // Only recursive loops count.
  if (Name == "depth")
    return Value::integer(1);
  if (Name == "depth0")
    return Value::integer(0);
  if (Name == "previtem")
    return Index > 0 ? Loop.Items[Loop.Index - 1]
                     : Value::undefined("there is no item before the first");
  if (Name == "nextitem")
    return Index + 1 < Size
               ? Loop.Items[Loop.Index + 1]
               : Value::undefined("there is no item behind the last");
  return Value::undefined("a loop has no attribute " + printable(Name));
}

/// The method `Name`, or why there is none.
static Value methodOrUndefined(const Value &Of, const std::string &Name) {
  if (const NamedFunction *Known = methodOf(Of, Name)) {
    auto Made = std::make_shared<Callable>();
    Made->Known = Known;
    Made->Self = Of;
    return Value::callable(std::move(Made));
  }
  if (isChangingMethod(Of, Name))
    return Value::undefined("the method " + printable(Name) + " would change " +
                            Of.typeName() + ", which a template may not");
  return Value::undefined(std::string(Of.typeName()) +
                          " has no attribute or member " + printable(Name));
}

Result<Value> chat::attributeOf(const Value &Of, const std::string &Name) {
  switch (Of.kind()) {
  case Kind::Undefined:
    return Error(Of.whyUndefined() + ": expected a value to take " +
                 printable(Name) + " of");
  case Kind::Loop:
    if (!methodOf(Of, Name))
      return loopAttribute(Of.asLoop(), Name);
    break;
  case Kind::Namespace:
    if (const Value *V = Of.asNamespace().find(Name))
      return *V;
    return Value::undefined("the namespace has no attribute " +
                            printable(Name));
  case Kind::Mapping:
    if (!methodOf(Of, Name) && !isChangingMethod(Of, Name))
      if (const Value *V = Of.members().find(Name))
        return *V;
    break;
  default:
    break;
  }
  return methodOrUndefined(Of, Name);
}

Result<Value> chat::itemOf(const Value &Of, const Value &Index) {
  if (Of.is(Kind::Undefined))
    return Error(Of.whyUndefined() + ": expected a value to take " +
                 describe(Index) + " of");
  if (Of.is(Kind::Mapping) && !Index.is(Kind::List) && !Index.is(Kind::Mapping))
    if (const Value *V = Of.members().find(Index))
      return *V;
  if (Index.is(Kind::String)) {
    if (Of.is(Kind::Namespace) || Of.is(Kind::Loop))
      return attributeOf(Of, Index.str());
    return methodOrUndefined(Of, Index.str());
  }
  auto Missing = [&] {
    return Value::undefined(std::string(Of.typeName()) + " has no member " +
                            describe(Index));
  };
  bool IsRow = Of.is(Kind::String) || Of.is(Kind::List) || Of.is(Kind::Tuple) ||
               Of.is(Kind::Range);
  if (!IsRow || !(Index.is(Kind::Integer) || Index.is(Kind::Boolean)))
    return Missing();
  auto Size = static_cast<int64_t>(*lengthOf(Of));
  int64_t At = Index.asInteger();
  if (At < 0 && At >= -Size)
    At += Size;
  if (At < 0 || At >= Size)
    return Missing();
  auto I = static_cast<size_t>(At);
  if (Of.is(Kind::Range))
    return Of.asRange().at(I);
  if (!Of.is(Kind::String))
    return Of.items()[I];
  size_t Begin = byteOfCode(Of.str(), I), End = Begin;
  tokenizer::nextCode(Of.str(), End);
  return Value::string(Of.text().part(Begin, End)).markedSafe(Of.isSafe());
}

std::pair<size_t, size_t> chat::sliceBounds(int64_t Start, int64_t Stop,
                                            size_t Size) {
  auto Last = static_cast<int64_t>(Size);
  auto Fit = [&](int64_t Bound) {
    return std::clamp<int64_t>(Bound < 0 ? Bound + Last : Bound, 0, Last);
  };
  int64_t Begin = Fit(Start), End = Fit(Stop);
  return {static_cast<size_t>(Begin),
          static_cast<size_t>(std::max(Begin, End))};
}

Result<Value> chat::sliceOf(Interpreter &Run, const Value &Of,
                            const Value *Start, const Value *Stop,
                            const Value *Step) {
  if (Of.is(Kind::Undefined))
    return Error(Of.whyUndefined() + ": expected a value to take a part of");
  if (!Of.is(Kind::String) && !Of.is(Kind::List) && !Of.is(Kind::Tuple) &&
      !Of.is(Kind::Range))
    return Error("a part of " + describe(Of) +
                 ": expected a string, a list or a tuple");
  for (const Value *Bound : {Start, Stop, Step})
    if (Bound && !Bound->is(Kind::None) && !Bound->is(Kind::Integer) &&
        !Bound->is(Kind::Boolean))
      return Error("a bound is " + describe(*Bound) +
                   ": expected a whole number");
  auto Given = [](const Value *V) { return V && !V->is(Kind::None); };
  int64_t By = Given(Step) ? Step->asInteger() : 1;
  if (By == 0)
    return Error("the step of a slice is 0: expected another number");
  size_t Size = *lengthOf(Of);
  if (Status Able = Run.spend(Of.is(Kind::String) ? Of.weight() : Size); !Able)
    return Able.error();
  if (Of.is(Kind::String) && By == 1) {
    auto [Begin, End] =
        sliceBounds(Given(Start) ? Start->asInteger() : 0,
                    Given(Stop) ? Stop->asInteger() : INT64_MAX, Size);
    size_t First = byteOfCode(Of.str(), Begin);
    size_t Last = First + byteOfCode(std::string_view(Of.str()).substr(First),
                                     End - Begin);
    Result<Value> Part = Run.made(Of.text().part(First, Last));
    return Part ? Part->markedSafe(Of.isSafe()) : Part;
  }

  Result<std::vector<Value>> All = Run.elements(Of);
  if (!All)
    return All.error();
  auto Last = static_cast<int64_t>(Size);
  // Bounds as Python's slice.indices() gives them.
  int64_t Low = By < 0 ? -1 : 0, High = By < 0 ? Last - 1 : Last;
  auto Fit = [&](const Value *Bound, int64_t Default) {
    if (!Given(Bound))
      return Default;
    int64_t At = Bound->asInteger();
    return std::clamp(At < 0 ? At + Last : At, Low, High);
  };
  int64_t Begin = Fit(Start, By < 0 ? High : Low);
  int64_t End = Fit(Stop, By < 0 ? Low : High);
  std::vector<Value> Items;
  for (int64_t I = Begin; By > 0 ? I < End : I > End;) {
    Items.push_back((*All)[static_cast<size_t>(I)]);
    if (__builtin_add_overflow(I, By, &I))
      break;
  }
  if (Of.is(Kind::String)) {
    Text Joined;
    for (const Value &Item : Items)
      Joined.append(Item.text());
    return Run.made(std::move(Joined));
  }
  return Of.is(Kind::Tuple) ? Value::tuple(std::move(Items), Of.origin())
                            : Value::list(std::move(Items), Of.origin());
}

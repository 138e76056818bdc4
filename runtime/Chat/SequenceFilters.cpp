//===- SequenceFilters.cpp - Filters of lists and mappings ----------------===//

#include "runtime/Chat/Filters.h"
#include "runtime/Chat/Limits.h"
#include "runtime/Chat/Operators.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::chat;

Result<Value> chat::pathOf(const Value &Of, const Value &Path) {
  if (Path.is(Kind::Integer))
    return itemOf(Of, Path);
  if (!Path.is(Kind::String))
    return Error("an attribute is " + describe(Path) +
                 ": expected a string or a number");
  Value V = Of;
  const std::string &Names = Path.str();
  for (size_t At = 0; At <= Names.size();) {
    size_t Dot = std::min(Names.find('.', At), Names.size());
    std::string Name = Names.substr(At, Dot - At);
    At = Dot + 1;
    bool IsNumber = !Name.empty() && Name.size() < 10 &&
                    Name.find_first_not_of("0123456789") == Name.npos;
    Result<Value> Member = itemOf(V, IsNumber ? Value::integer(std::stol(Name))
                                              : Value::string(Name));
    if (!Member)
      return Member;
    V = std::move(*Member);
  }
  return V;
}

Result<bool> chat::passes(Interpreter &Run, const Value &V,
                          const Arguments &Given, size_t First) {
  if (Given.Positional.size() <= First)
    return V.truth();
  const Value &Name = Given.Positional[First];
  const NamedFunction *Test =
      Name.is(Kind::String) ? testOf(Name.str()) : nullptr;
  if (!Test)
    return Error("the test " + describe(Name) +
                 " is unknown: expected the name of one");
  Arguments Rest;
  Rest.Positional.assign(Given.Positional.begin() +
                             static_cast<ptrdiff_t>(First) + 1,
                         Given.Positional.end());
  Rest.Keywords = Given.Keywords;
  Result<Value> Is = Run.call(*Test, V, Rest);
  if (!Is)
    return Is.error();
  return Is->truth();
}

/// select, reject, selectattr and rejectattr.
template <bool OfAttribute, bool Keeps>
static Result<Value> select(Interpreter &Run, const Value &Self,
                            const Arguments &Given) {
  if (OfAttribute && Given.Positional.empty())
    return Error("the filter lacks the argument 'attribute'");
  // As in Jinja, whatever is false holds nothing.
  if (!Self.truth())
    return Value::iterator({});
  Result<std::vector<Value>> Items = Run.elements(Self);
  if (!Items)
    return Items.error();
  std::vector<Value> Kept;
  for (Value &Item : *Items) {
    Result<Value> Tested =
        OfAttribute ? pathOf(Item, Given.Positional[0]) : Result<Value>(Item);
    if (!Tested)
      return Tested;
    Result<bool> Is = passes(Run, *Tested, Given, OfAttribute);
    if (!Is)
      return Is.error();
    if (*Is == Keeps)
      Kept.push_back(std::move(Item));
  }
  return Value::iterator(std::move(Kept));
}

static Result<Value> map(Interpreter &Run, const Value &Self,
                         const Arguments &Given) {
  if (!Self.truth())
    return Value::iterator({});
  Result<std::vector<Value>> Items = Run.elements(Self);
  if (!Items)
    return Items.error();
  if (Given.Positional.empty()) {
    Result<Bound> Args = bind(Given, "map", {"attribute", "default"}, 1);
    if (!Args)
      return Args.error();
    for (Value &Item : *Items) {
      Result<Value> Member = pathOf(Item, *(*Args)[0]);
      if (!Member)
        return Member;
      Item = Member->is(Kind::Undefined) && (*Args)[1] ? *(*Args)[1]
                                                       : std::move(*Member);
    }
    return Value::iterator(std::move(*Items));
  }
  const Value &Name = Given.Positional[0];
  const NamedFunction *Filter =
      Name.is(Kind::String) ? filterOf(Name.str()) : nullptr;
  if (!Filter)
    return Error("the filter " + describe(Name) +
                 " is unknown: expected the name of one");
  Arguments Rest;
  Rest.Positional.assign(Given.Positional.begin() + 1, Given.Positional.end());
  Rest.Keywords = Given.Keywords;
  for (Value &Item : *Items) {
    Result<Value> Made = Run.call(*Filter, Item, Rest);
    if (!Made)
      return Made;
    Item = std::move(*Made);
  }
  return Value::iterator(std::move(*Items));
}

static Result<Value> length(Interpreter &Run, const Value &Self,
                            const Arguments &Given) {
  if (Result<Bound> None = bind(Given, "length", {}); !None)
    return None.error();
  std::optional<size_t> Size = lengthOf(Self);
  if (!Size)
    return Error("'length' of " + describe(Self) +
                 ": expected a string, a list or a mapping");
  return Value::integer(static_cast<int64_t>(*Size), Self.origin());
}

static Result<Value> joinFilter(Interpreter &Run, const Value &Self,
                                const Arguments &Given) {
  Result<Bound> Args = bind(Given, "join", {"d", "attribute"});
  if (!Args)
    return Args.error();
  Text Between;
  if (const Value *By = (*Args)[0]) {
    Result<Text> Printed = Run.print(*By);
    if (!Printed)
      return Printed.error();
    Between = std::move(*Printed);
  }
  Result<std::vector<Value>> Items = Run.elements(Self);
  if (!Items)
    return Items.error();
  Text All;
  for (size_t I = 0; I < Items->size(); ++I) {
    Value Item = (*Items)[I];
    if (const Value *Path = (*Args)[1]; Path && !Path->is(Kind::None)) {
      Result<Value> Member = pathOf(Item, *Path);
      if (!Member)
        return Member;
      Item = std::move(*Member);
    }
    Result<Text> Printed = Run.print(Item);
    if (!Printed)
      return Printed.error();
    if (I > 0)
      All.append(Between);
    All.append(*Printed);
    if (All.size() > MaxTextBytes)
      break;
  }
  return Run.made(std::move(All));
}

static Result<Value> items(Interpreter &Run, const Value &Self,
                           const Arguments &Given) {
  if (Result<Bound> None = bind(Given, "items", {}); !None)
    return None.error();
  if (Self.is(Kind::Undefined))
    return Value::iterator({});
  if (!Self.is(Kind::Mapping))
    return Error("'items' of " + describe(Self) + ": expected a mapping");
  std::vector<Value> Pairs;
  for (const auto &[Key, V] : Self.members().Members)
    Pairs.push_back(Value::tuple({Key, V}));
  return Value::iterator(std::move(Pairs));
}

static Result<Value> list(Interpreter &Run, const Value &Self,
                          const Arguments &Given) {
  if (Result<Bound> None = bind(Given, "list", {}); !None)
    return None.error();
  Result<std::vector<Value>> Items = Run.elements(Self);
  if (!Items)
    return Items.error();
  return Value::list(std::move(*Items), Self.origin());
}

template <bool Last>
static Result<Value> end(Interpreter &Run, const Value &Self,
                         const Arguments &Given) {
  if (Result<Bound> None = bind(Given, Last ? "last" : "first", {}); !None)
    return None.error();
  if (Last && Self.is(Kind::Iterator))
    return Error("'last' of an iterator: expected a list");
  if (Self.isSequence() && !Self.items().empty())
    return Last ? Self.items().back() : Self.items().front();
  if (Self.is(Kind::Iterator)) {
    Iterator &It = Self.asIterator();
    if (It.Next < It.Items.size())
      return It.Items[It.Next++];
    return Value::undefined("there is no first item");
  }
  Result<std::vector<Value>> Items = Run.elements(Self);
  if (!Items)
    return Items.error();
  if (Items->empty())
    return Value::undefined("there is no first or last item");
  return Last ? Items->back() : Items->front();
}

static Result<Value> reverse(Interpreter &Run, const Value &Self,
                             const Arguments &Given) {
  if (Result<Bound> None = bind(Given, "reverse", {}); !None)
    return None.error();
  if (Self.is(Kind::String)) {
    Value Back = Value::integer(-1);
    return sliceOf(Run, Self, nullptr, nullptr, &Back);
  }
  Result<std::vector<Value>> Items = Run.elements(Self);
  if (!Items)
    return Items.error();
  std::reverse(Items->begin(), Items->end());
  // What cannot be gone through backwards becomes a list first.
  return Self.is(Kind::Iterator) ? Value::list(std::move(*Items))
                                 : Value::iterator(std::move(*Items));
}

static Result<Value> sum(Interpreter &Run, const Value &Self,
                         const Arguments &Given) {
  Result<Bound> Args = bind(Given, "sum", {"attribute", "start"});
  if (!Args)
    return Args.error();
  Result<std::vector<Value>> Items = Run.elements(Self);
  if (!Items)
    return Items.error();
  Value Total = (*Args)[1] ? *(*Args)[1] : Value::integer(0);
  if (Total.is(Kind::String))
    return Error("'sum' of strings: expected numbers or lists");
  for (const Value &Item : *Items) {
    Result<Value> One = (*Args)[0] && !(*Args)[0]->is(Kind::None)
                            ? pathOf(Item, *(*Args)[0])
                            : Result<Value>(Item);
    if (One)
      One = calculate(Run, Operator::Add, Total, *One);
    if (!One)
      return One;
    Total = std::move(*One);
  }
  return Total;
}

static Result<Value> batch(Interpreter &Run, const Value &Self,
                           const Arguments &Given) {
  Result<Bound> Args = bind(Given, "batch", {"linecount", "fill_with"}, 1);
  if (!Args)
    return Args.error();
  Result<int64_t> Size = integerOr((*Args)[0], 1, "linecount");
  if (!Size)
    return Size.error();
  if (*Size < 1 || *Size > static_cast<int64_t>(MaxRangeSize))
    return Error("'linecount' is " + std::to_string(*Size) +
                 ": expected a larger number, but no huge one");
  Result<std::vector<Value>> Items = Run.elements(Self);
  if (!Items)
    return Items.error();
  auto Count = static_cast<size_t>(*Size);
  const Value *Fill = (*Args)[1];
  std::vector<Value> Rows, Row;
  for (Value &Item : *Items) {
    Row.push_back(std::move(Item));
    if (Row.size() == Count)
      Rows.push_back(Value::list(std::exchange(Row, {})));
  }
  if (!Row.empty()) {
    if (Fill && !Fill->is(Kind::None))
      Row.resize(Count, *Fill);
    Rows.push_back(Value::list(std::move(Row)));
  }
  return Value::iterator(std::move(Rows));
}

static Result<Value> attribute(Interpreter &Run, const Value &Self,
                               const Arguments &Given) {
  Result<Bound> Args = bind(Given, "attr", {"name"}, 1);
  if (!Args)
    return Args.error();
  Result<const Text *> Name = stringOr((*Args)[0], nullptr, "name");
  if (!Name)
    return Name.error();
  // Attributes only: members of a mapping are none.
  if (Self.is(Kind::Mapping) && !methodOf(Self, (*Name)->str()))
    return Value::undefined("a mapping has no attribute " +
                            printable((*Name)->str()));
  return attributeOf(Self, (*Name)->str());
}

static constexpr NamedFunction SequenceFilters[] = {
    {"attr", attribute},
    {"batch", batch},
    {"count", length},
    {"first", end<false>},
    {"items", items},
    {"join", joinFilter},
    {"last", end<true>},
    {"length", length},
    {"list", list},
    {"map", map},
    {"reject", select<false, false>},
    {"rejectattr", select<true, false>},
    {"reverse", reverse},
    {"select", select<false, true>},
    {"selectattr", select<true, true>},
    {"sum", sum},
};

std::span<const NamedFunction> chat::sequenceFilters() {
  return SequenceFilters;
}

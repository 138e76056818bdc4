//===- Methods.cpp - Methods of lists, mappings and loops -----------------===//

#include "runtime/Chat/Interpreter.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::chat;

static Result<Value> get(Interpreter &Run, const Value &Self,
                         const Arguments &Given) {
  Result<Bound> Args = bind(Given, "get", {"key", "default"}, 1);
  if (!Args)
    return Args.error();
  const Value &Key = *(*Args)[0];
  if (Key.is(Kind::List) || Key.is(Kind::Mapping))
    return Error("a key is " + describe(Key) + ": expected a string");
  if (const Value *V = Self.members().find(Key))
    return *V;
  return (*Args)[1] ? *(*Args)[1] : Value::none();
}

enum class What { Keys, Values, Items };
template <What Wanted>
static Result<Value> view(Interpreter &Run, const Value &Self,
                          const Arguments &Given) {
  if (Result<Bound> None = bind(Given, "the method", {}); !None)
    return None.error();
  std::vector<Value> Items;
  for (const auto &[Key, V] : Self.members().Members)
    Items.push_back(Wanted == What::Keys     ? Key
                    : Wanted == What::Values ? V
                                             : Value::tuple({Key, V}));
  return Value::view(std::move(Items), Self.origin());
}

static Result<Value> copy(Interpreter &Run, const Value &Self,
                          const Arguments &Given) {
  if (Result<Bound> None = bind(Given, "copy", {}); !None)
    return None.error();
  return Self;
}

static Result<Value> countItem(Interpreter &Run, const Value &Self,
                               const Arguments &Given) {
  Result<Bound> Args = bind(Given, "count", {"value"}, 1);
  if (!Args)
    return Args.error();
  int64_t Count = 0;
  for (const Value &Item : Self.items()) {
    Result<bool> Is = Run.areEqual(Item, *(*Args)[0]);
    if (!Is)
      return Is.error();
    Count += *Is;
  }
  return Value::integer(Count, Self.origin());
}

static Result<Value> indexOf(Interpreter &Run, const Value &Self,
                             const Arguments &Given) {
  Result<Bound> Args = bind(Given, "index", {"value"}, 1);
  if (!Args)
    return Args.error();
  for (size_t I = 0; I < Self.items().size(); ++I) {
    Result<bool> Is = Run.areEqual(Self.items()[I], *(*Args)[0]);
    if (!Is)
      return Is.error();
    if (*Is)
      return Value::integer(static_cast<int64_t>(I), Self.origin());
  }
  return Error(describe(*(*Args)[0]) + " is not in the list");
}

static Result<Value> cycle(Interpreter &Run, const Value &Self,
                           const Arguments &Given) {
  if (Given.Positional.empty() || !Given.Keywords.empty())
    return Error("'cycle' gets no values: expected some to choose from");
  return Given.Positional[Self.asLoop().Index % Given.Positional.size()];
}

static constexpr NamedFunction MappingMethods[] = {
    {"copy", copy},
    {"get", get},
    {"items", view<What::Items>},
    {"keys", view<What::Keys>},
    {"values", view<What::Values>},
};
static constexpr NamedFunction ListMethods[] = {
    {"copy", copy}, {"count", countItem}, {"index", indexOf}};
static constexpr NamedFunction TupleMethods[] = {{"count", countItem},
                                                 {"index", indexOf}};
static constexpr NamedFunction LoopMethods[] = {{"cycle", cycle}};

const NamedFunction *chat::methodOf(const Value &Self, std::string_view Name) {
  switch (Self.kind()) {
  case Kind::String: {
    // Other methods of safe strings escape their arguments.
    constexpr std::string_view OfSafe[] = {
        "count",   "endswith",   "find",  "index",  "isalnum",
        "isalpha", "isdigit",    "lower", "lstrip", "rfind",
        "rstrip",  "startswith", "strip", "upper"};
    if (Self.isSafe() && std::find(std::begin(OfSafe), std::end(OfSafe),
                                   Name) == std::end(OfSafe))
      return nullptr;
    if (const NamedFunction *Known = findFunction(splitMethods(), Name))
      return Known;
    return findFunction(stringMethods(), Name);
  }
  case Kind::List:
    return findFunction(ListMethods, Name);
  case Kind::Tuple:
    return findFunction(TupleMethods, Name);
  case Kind::Mapping:
    return findFunction(MappingMethods, Name);
  case Kind::Loop:
    return findFunction(LoopMethods, Name);
  default:
    return nullptr;
  }
}

bool chat::isChangingMethod(const Value &Self, std::string_view Name) {
  constexpr std::string_view OfList[] = {"append", "clear", "extend",
                                         "insert", "pop",   "reverse",
                                         "remove", "sort"};
  constexpr std::string_view OfMapping[] = {"clear", "pop", "popitem",
                                            "setdefault", "update"};
  auto IsIn = [&](const auto &Names) {
    return std::find(std::begin(Names), std::end(Names), Name) !=
           std::end(Names);
  };
  return (Self.is(Kind::List) && IsIn(OfList)) ||
         (Self.is(Kind::Mapping) && IsIn(OfMapping));
}

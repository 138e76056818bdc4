//===- OrderFilters.cpp - Filters that compare elements -------------------===//

#include "runtime/Chat/Filters.h"

#include <algorithm>
#include <unordered_set>

using namespace tenon;
using namespace tenon::chat;

namespace {

/// An element with what it is sorted by.
struct Keyed {
  std::vector<Value> Keys;
  Value Item;
};

} // namespace

/// A key for sorting: strings in lower case, unless case counts.
static Value sortKey(Value V, bool CaseSensitive) {
  return V.is(Kind::String) && !CaseSensitive ? Value::string(toLower(V.text()))
                                              : V;
}

/// Elements with the keys that the attributes in `Path`, joined by commas,
/// give; without a path the elements themselves.
static Result<std::vector<Keyed>> keyedBy(Interpreter &Run, const Value &Self,
                                          const Value *Path, bool CaseSensitive,
                                          bool Several) {
  Result<std::vector<Value>> Items = Run.elements(Self);
  if (!Items)
    return Items.error();
  std::vector<Value> Paths;
  if (Path && Path->is(Kind::String) && Several) {
    const std::string &All = Path->str();
    for (size_t At = 0; At <= All.size();) {
      size_t Comma = std::min(All.find(',', At), All.size());
      Paths.push_back(Value::string(All.substr(At, Comma - At)));
      At = Comma + 1;
    }
  } else if (Path && !Path->is(Kind::None)) {
    Paths.push_back(*Path);
  }
  std::vector<Keyed> Made;
  for (Value &Item : *Items) {
    // Comparing takes some 20 looks at each.
    if (Status Able =
            Run.spend(20 * std::min<uint64_t>(Item.weight(), 1 << 20));
        !Able)
      return Able.error();
    Keyed One;
    for (const Value &P : Paths) {
      Result<Value> Key = pathOf(Item, P);
      if (!Key)
        return Key.error();
      One.Keys.push_back(sortKey(std::move(*Key), CaseSensitive));
    }
    if (Paths.empty())
      One.Keys.push_back(sortKey(Item, CaseSensitive));
    One.Item = std::move(Item);
    Made.push_back(std::move(One));
  }
  return Made;
}

/// Sorts, and keeps the order of equal elements, also when reversed. With
/// `AreLists` keys are compared as lists are.
static Status sortByKeys(std::vector<Keyed> &All, bool Reverse,
                         bool AreLists = false) {
  bool Comparable = true;
  auto Before = [&](const Keyed &A, const Keyed &B) {
    for (size_t I = 0; I < A.Keys.size(); ++I) {
      // As in Python's lists, equal values need no order.
      if (AreLists && equal(A.Keys[I], B.Keys[I]))
        continue;
      std::optional<int> Order = compare(A.Keys[I], B.Keys[I]);
      Comparable &= Order.has_value();
      if (Order.value_or(0) != 0)
        return *Order < 0;
    }
    return false;
  };
  // Of two values that have no order, either may be first, so that sorting
  // ends; the result is thrown away.
  if (Reverse)
    std::stable_sort(
        All.begin(), All.end(),
        [&](const Keyed &A, const Keyed &B) { return Before(B, A); });
  else
    std::stable_sort(All.begin(), All.end(), Before);
  if (!Comparable)
    return Error("values to sort have no order among them: expected all "
                 "numbers or all strings");
  return {};
}

static std::vector<Value> itemsOf(std::vector<Keyed> &All) {
  std::vector<Value> Items;
  for (Keyed &One : All)
    Items.push_back(std::move(One.Item));
  return Items;
}

static Result<Value> sort(Interpreter &Run, const Value &Self,
                          const Arguments &Given) {
  Result<Bound> Args =
      bind(Given, "sort", {"reverse", "case_sensitive", "attribute"});
  if (!Args)
    return Args.error();
  Result<std::vector<Keyed>> All =
      keyedBy(Run, Self, (*Args)[2], truthOr((*Args)[1], false), true);
  if (!All)
    return All.error();
  if (Status Done = sortByKeys(*All, truthOr((*Args)[0], false), true); !Done)
    return Done.error();
  return Value::list(itemsOf(*All), Self.origin());
}

static Result<Value> dictSort(Interpreter &Run, const Value &Self,
                              const Arguments &Given) {
  Result<Bound> Args =
      bind(Given, "dictsort", {"case_sensitive", "by", "reverse"});
  if (!Args)
    return Args.error();
  if (!Self.is(Kind::Mapping))
    return Error("'dictsort' of " + describe(Self) + ": expected a mapping");
  Text Key("key", Origin::Template);
  Result<const Text *> By = stringOr((*Args)[1], &Key, "by");
  if (!By)
    return By.error();
  if ((*By)->str() != "key" && (*By)->str() != "value")
    return Error("'by' is " + printable((*By)->str()) +
                 ": expected key or value");
  std::vector<Value> Pairs;
  for (const auto &[Name, V] : Self.members().Members)
    Pairs.push_back(Value::tuple({Name, V}));
  Value Path = Value::integer((*By)->str() == "value");
  Result<std::vector<Keyed>> All =
      keyedBy(Run, Value::list(std::move(Pairs)), &Path,
              truthOr((*Args)[0], false), false);
  if (!All)
    return All.error();
  if (Status Done = sortByKeys(*All, truthOr((*Args)[2], false)); !Done)
    return Done.error();
  return Value::list(itemsOf(*All), Self.origin());
}

static Result<Value> unique(Interpreter &Run, const Value &Self,
                            const Arguments &Given) {
  Result<Bound> Args = bind(Given, "unique", {"case_sensitive", "attribute"});
  if (!Args)
    return Args.error();
  Result<std::vector<Keyed>> All =
      keyedBy(Run, Self, (*Args)[1], truthOr((*Args)[0], false), false);
  if (!All)
    return All.error();
  std::unordered_set<std::string> Texts;
  std::vector<Value> Others, Kept;
  for (Keyed &One : *All) {
    const Value &Key = One.Keys[0];
    if (Key.is(Kind::List) || Key.is(Kind::Mapping))
      return Error("'unique' of " + describe(Key) +
                   ": expected strings or numbers");
    bool Known = false;
    if (Key.is(Kind::String)) {
      Known = !Texts.insert(Key.str()).second;
    } else {
      if (Status Able = Run.spend(Others.size()); !Able)
        return Able.error();
      Known = std::any_of(Others.begin(), Others.end(),
                          [&](const Value &V) { return equal(V, Key); });
      if (!Known)
        Others.push_back(Key);
    }
    if (!Known)
      Kept.push_back(std::move(One.Item));
  }
  return Value::iterator(std::move(Kept));
}

template <bool Largest>
static Result<Value> extreme(Interpreter &Run, const Value &Self,
                             const Arguments &Given) {
  Result<Bound> Args =
      bind(Given, Largest ? "max" : "min", {"case_sensitive", "attribute"});
  if (!Args)
    return Args.error();
  Result<std::vector<Keyed>> All =
      keyedBy(Run, Self, (*Args)[1], truthOr((*Args)[0], false), false);
  if (!All)
    return All.error();
  const Keyed *Best = nullptr;
  for (const Keyed &One : *All) {
    if (!Best) {
      Best = &One;
      continue;
    }
    std::optional<int> Order = compare(One.Keys[0], Best->Keys[0]);
    if (!Order)
      return Error(describe(One.Item) + " and " + describe(Best->Item) +
                   " have no order: expected all numbers or all strings");
    if (Largest ? *Order > 0 : *Order < 0)
      Best = &One;
  }
  if (!Best)
    return Value::undefined("there is no item to choose from");
  return Best->Item;
}

static Result<Value> groupBy(Interpreter &Run, const Value &Self,
                             const Arguments &Given) {
  Result<Bound> Args =
      bind(Given, "groupby", {"attribute", "default", "case_sensitive"}, 1);
  if (!Args)
    return Args.error();
  if ((*Args)[1])
    return Error("'groupby' gets a default: expected none");
  Result<std::vector<Keyed>> All =
      keyedBy(Run, Self, (*Args)[0], truthOr((*Args)[2], false), false);
  if (!All)
    return All.error();
  if (Status Done = sortByKeys(*All, false); !Done)
    return Done.error();
  std::vector<Value> Groups;
  for (size_t I = 0; I < All->size();) {
    std::vector<Value> Row;
    // The key in the case of the group's first element.
    Result<Value> Key = pathOf((*All)[I].Item, *(*Args)[0]);
    if (!Key)
      return Key;
    size_t First = I;
    for (; I < All->size() && equal((*All)[I].Keys[0], (*All)[First].Keys[0]);
         ++I)
      Row.push_back((*All)[I].Item);
    Groups.push_back(Value::tuple({*Key, Value::list(std::move(Row))}));
  }
  return Value::list(std::move(Groups));
}

static constexpr NamedFunction OrderFilters[] = {
    {"dictsort", dictSort},  {"groupby", groupBy}, {"max", extreme<true>},
    {"min", extreme<false>}, {"sort", sort},       {"unique", unique},
};

std::span<const NamedFunction> chat::orderFilters() { return OrderFilters; }

//===- Value.cpp - What templates compute with ----------------------------===//

#include "runtime/Chat/Value.h"

#include "runtime/Chat/Callable.h"

#include <algorithm>
#include <cmath>

using namespace tenon;
using namespace tenon::chat;

template <typename Container>
static unsigned depthAround(const Container &Items) {
  unsigned Depth = 0;
  for (const Value &V : Items)
    Depth = std::max(Depth, V.depth());
  return Depth + 1;
}

template <typename Container>
static uint64_t weightOfAll(const Container &Items) {
  uint64_t Weight = 1;
  for (const Value &V : Items)
    Weight = std::min(Weight + V.weight(), MaxWeight);
  return Weight;
}

Value Value::undefined(std::string What) {
  Value V;
  V.Data = std::make_shared<const std::string>(std::move(What));
  return V;
}

Value Value::none(Origin From) {
  Value V;
  V.K = Kind::None;
  V.From = From;
  return V;
}

Value Value::boolean(bool Is, Origin From) {
  Value V = none(From);
  V.K = Kind::Boolean;
  V.Data = Is;
  return V;
}

Value Value::integer(int64_t Number, Origin From) {
  Value V = none(From);
  V.K = Kind::Integer;
  V.Data = Number;
  return V;
}

Value Value::real(double Number, Origin From) {
  Value V = none(From);
  V.K = Kind::Float;
  V.Data = Number;
  return V;
}

Value Value::string(Text Content) {
  Value V = none();
  V.K = Kind::String;
  V.Data = std::make_shared<const Text>(std::move(Content));
  return V;
}

Value Value::list(std::vector<Value> Items, Origin From) {
  Value V = none(From);
  V.K = Kind::List;
  unsigned Depth = depthAround(Items);
  uint64_t Weight = weightOfAll(Items);
  V.Data = std::make_shared<const Sequence>(
      Sequence{std::move(Items), Depth, Weight});
  return V;
}

Value Value::tuple(std::vector<Value> Items, Origin From) {
  Value V = list(std::move(Items), From);
  V.K = Kind::Tuple;
  return V;
}

Value Value::view(std::vector<Value> Items, Origin From) {
  Value V = list(std::move(Items), From);
  V.K = Kind::View;
  return V;
}

Value Value::iterator(std::vector<Value> Items) {
  Value V = none();
  V.K = Kind::Iterator;
  unsigned Depth = depthAround(Items);
  V.Data = std::make_shared<Iterator>(Iterator{std::move(Items), Depth});
  return V;
}

Value Value::mapping(std::vector<std::pair<Value, Value>> Members,
                     Origin From) {
  Mapping Made;
  for (auto &[Key, Member] : Members) {
    if (const Value *Known = Made.find(Key)) {
      *const_cast<Value *>(Known) = std::move(Member);
      continue;
    }
    if (Key.is(Kind::String))
      Made.IndexOf.emplace(Key.str(), Made.Members.size());
    Made.Members.emplace_back(std::move(Key), std::move(Member));
  }
  for (const auto &[Key, Member] : Made.Members) {
    Made.Depth = std::max({Made.Depth, Key.depth() + 1, Member.depth() + 1});
    Made.Weight =
        std::min(Made.Weight + Key.weight() + Member.weight(), MaxWeight);
  }
  Value V = none(From);
  V.K = Kind::Mapping;
  V.Data = std::make_shared<const Mapping>(std::move(Made));
  return V;
}

Value Value::range(Range R) {
  Value V = none(R.From);
  V.K = Kind::Range;
  V.Data = std::make_shared<const Range>(R);
  return V;
}

Value Value::space(Namespace *N) {
  Value V = none();
  V.K = Kind::Namespace;
  V.Data = N;
  return V;
}

Value Value::callable(std::shared_ptr<const Callable> C) {
  Value V = none();
  V.K = Kind::Callable;
  V.Data = std::move(C);
  return V;
}

Value Value::loop(std::shared_ptr<LoopState> L) {
  Value V = none();
  V.K = Kind::Loop;
  V.Data = std::move(L);
  return V;
}

bool Value::asBoolean() const {
  return K == Kind::Boolean ? std::get<bool>(Data) : asReal() != 0;
}

int64_t Value::asInteger() const {
  return K == Kind::Boolean ? std::get<bool>(Data) : std::get<int64_t>(Data);
}

double Value::asReal() const {
  return K == Kind::Float ? std::get<double>(Data)
                          : static_cast<double>(asInteger());
}

const Text &Value::text() const {
  return *std::get<std::shared_ptr<const Text>>(Data);
}

const std::vector<Value> &Value::items() const {
  return std::get<std::shared_ptr<const Sequence>>(Data)->Items;
}

const Mapping &Value::members() const {
  return *std::get<std::shared_ptr<const Mapping>>(Data);
}

const Range &Value::asRange() const {
  return *std::get<std::shared_ptr<const Range>>(Data);
}

Iterator &Value::asIterator() const {
  return *std::get<std::shared_ptr<Iterator>>(Data);
}

Namespace &Value::asNamespace() const { return *std::get<Namespace *>(Data); }

const Callable &Value::asCallable() const {
  return *std::get<std::shared_ptr<const Callable>>(Data);
}

LoopState &Value::asLoop() const {
  return *std::get<std::shared_ptr<LoopState>>(Data);
}

std::string Value::whyUndefined() const {
  auto *What = std::get_if<std::shared_ptr<const std::string>>(&Data);
  return What ? **What : "the value is undefined";
}

Origin Value::origin() const {
  return K == Kind::String ? text().origin() : From;
}

Value Value::markedSafe(bool Is) const {
  Value V = *this;
  V.Safe = Is;
  return V;
}

bool Value::truth() const {
  switch (K) {
  case Kind::Undefined:
  case Kind::None:
    return false;
  case Kind::Boolean:
  case Kind::Integer:
  case Kind::Float:
    return asReal() != 0;
  case Kind::String:
    return !text().empty();
  case Kind::List:
  case Kind::Tuple:
  case Kind::View:
    return !items().empty();
  case Kind::Mapping:
    return !members().Members.empty();
  case Kind::Range:
    return asRange().size() != 0;
  case Kind::Iterator:
  case Kind::Namespace:
  case Kind::Callable:
  case Kind::Loop:
    return true;
  }
  return false;
}

unsigned Value::depth() const {
  if (isSequence())
    return std::get<std::shared_ptr<const Sequence>>(Data)->Depth;
  if (K == Kind::Mapping)
    return members().Depth;
  if (K == Kind::Iterator)
    return asIterator().Depth;
  return 0;
}

uint64_t Value::weight() const {
  if (K == Kind::String)
    return 1 + text().size() / 64;
  if (isSequence())
    return std::get<std::shared_ptr<const Sequence>>(Data)->Weight;
  return K == Kind::Mapping ? members().Weight : 1;
}

bool Value::sameAs(const Value &Other) const {
  if (K != Other.K)
    return false;
  if (K == Kind::Integer || K == Kind::Boolean || K == Kind::String ||
      K == Kind::None)
    return equal(*this, Other);
  return Data == Other.Data;
}

const char *Value::typeName() const {
  switch (K) {
  case Kind::Undefined:
    return "undefined";
  case Kind::None:
    return "none";
  case Kind::Boolean:
    return "a boolean";
  case Kind::Integer:
    return "an integer";
  case Kind::Float:
    return "a float";
  case Kind::String:
    return "a string";
  case Kind::List:
    return "a list";
  case Kind::Tuple:
    return "a tuple";
  case Kind::View:
    return "a view of a mapping";
  case Kind::Mapping:
    return "a mapping";
  case Kind::Range:
    return "a range";
  case Kind::Iterator:
    return "an iterator";
  case Kind::Namespace:
    return "a namespace";
  case Kind::Callable:
    return "a function";
  case Kind::Loop:
    return "a loop";
  }
  return "a value";
}

const Value *Mapping::find(const std::string &Key) const {
  auto Found = IndexOf.find(Key);
  return Found == IndexOf.end() ? nullptr : &Members[Found->second].second;
}

const Value *Mapping::find(const Value &Key) const {
  if (Key.is(Kind::String))
    return find(Key.str());
  // Nearly all keys are strings; there are no others to look through then.
  if (IndexOf.size() == Members.size())
    return nullptr;
  for (const auto &[Other, Member] : Members)
    if (equal(Key, Other))
      return &Member;
  return nullptr;
}

size_t Range::size() const {
  if (Step > 0 ? Start >= Stop : Start <= Stop)
    return 0;
  auto Distance =
      Step > 0 ? static_cast<uint64_t>(Stop) - static_cast<uint64_t>(Start)
               : static_cast<uint64_t>(Start) - static_cast<uint64_t>(Stop);
  uint64_t By = Step > 0 ? static_cast<uint64_t>(Step)
                         : uint64_t{0} - static_cast<uint64_t>(Step);
  return (Distance - 1) / By + 1;
}

const Value *Namespace::find(std::string_view Name) const {
  for (const auto &[Known, V] : Attributes)
    if (Known == Name)
      return &V;
  return nullptr;
}

void Namespace::set(const std::string &Name, Value V) {
  for (auto &[Known, Old] : Attributes)
    if (Known == Name) {
      Old = std::move(V);
      return;
    }
  Attributes.emplace_back(Name, std::move(V));
}

std::string chat::describe(const Value &V) {
  if (V.is(Kind::String))
    return "the string " + printable(V.str());
  if (V.is(Kind::Integer))
    return std::to_string(V.asInteger());
  if (V.is(Kind::Boolean))
    return V.asBoolean() ? "true" : "false";
  if (V.is(Kind::Undefined))
    return "undefined (" + V.whyUndefined() + ")";
  return V.typeName();
}

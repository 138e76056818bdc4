//===- ValueContents.cpp - What values hold, and comparing it -------------===//

#include "runtime/Chat/Callable.h"
#include "runtime/Chat/Value.h"
#include "runtime/Tokenizer/Unicode.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::chat;

static bool equalItems(const std::vector<Value> &A,
                       const std::vector<Value> &B) {
  return std::equal(A.begin(), A.end(), B.begin(), B.end(), equal);
}

bool chat::equal(const Value &A, const Value &B) {
  if (A.isNumber() && B.isNumber())
    return A.is(Kind::Float) || B.is(Kind::Float)
               ? A.asReal() == B.asReal()
               : A.asInteger() == B.asInteger();
  if (A.kind() != B.kind())
    return false;
  switch (A.kind()) {
  case Kind::Undefined:
  case Kind::None:
    return true;
  case Kind::String:
    return A.str() == B.str();
  case Kind::List:
  case Kind::Tuple:
  case Kind::View:
    return equalItems(A.items(), B.items());
  case Kind::Mapping: {
    const Mapping &Left = A.members(), &Right = B.members();
    if (Left.Members.size() != Right.Members.size())
      return false;
    return std::all_of(Left.Members.begin(), Left.Members.end(),
                       [&](const auto &Member) {
                         const Value *Twin = Right.find(Member.first);
                         return Twin && equal(Member.second, *Twin);
                       });
  }
  case Kind::Range: {
    const Range &Left = A.asRange(), &Right = B.asRange();
    return Left.size() == Right.size() &&
           (Left.size() == 0 || Left.Start == Right.Start) &&
           (Left.size() < 2 || Left.Step == Right.Step);
  }
  default:
    return A.sameAs(B);
  }
}

std::optional<int> chat::compare(const Value &A, const Value &B) {
  auto Sign = [](const auto &Left, const auto &Right) {
    return Left < Right ? -1 : Right < Left ? 1 : 0;
  };
  if (A.isNumber() && B.isNumber()) {
    if (A.is(Kind::Float) || B.is(Kind::Float))
      return Sign(A.asReal(), B.asReal());
    return Sign(A.asInteger(), B.asInteger());
  }
  if (A.kind() != B.kind())
    return std::nullopt;
  if (A.is(Kind::String))
    return Sign(A.str(), B.str());
  if (!A.is(Kind::List) && !A.is(Kind::Tuple))
    return std::nullopt;
  const std::vector<Value> &Left = A.items(), &Right = B.items();
  for (size_t I = 0; I < Left.size() && I < Right.size(); ++I)
    if (!equal(Left[I], Right[I]))
      return compare(Left[I], Right[I]);
  return Sign(Left.size(), Right.size());
}

static Result<Value> valueAt(const Json &From, Origin Of, int Depth) {
  auto StringOf = [&](const std::string &Content) -> Result<Value> {
    if (std::optional<size_t> Bad = tokenizer::findInvalidUtf8(Content))
      return Error("a string of the input is not UTF-8 at byte " +
                   std::to_string(*Bad) + ": expected UTF-8");
    return Value::string(Content, Of);
  };
  if (Depth > MaxJsonDepth)
    return Error("the input is nested deeper than " +
                 std::to_string(MaxJsonDepth) + " levels");
  switch (From.type()) {
  case Json::value_t::null:
    return Value::none(Of);
  case Json::value_t::boolean:
    return Value::boolean(From.get<bool>(), Of);
  case Json::value_t::number_integer:
    return Value::integer(From.get<int64_t>(), Of);
  case Json::value_t::number_unsigned:
    if (From.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX))
      return Error("the input has the number " + From.dump() +
                   ": expected at most " + std::to_string(INT64_MAX));
    return Value::integer(From.get<int64_t>(), Of);
  case Json::value_t::number_float:
    return Value::real(From.get<double>(), Of);
  case Json::value_t::string:
    return StringOf(From.get_ref<const std::string &>());
  case Json::value_t::array: {
    std::vector<Value> Items;
    Items.reserve(From.size());
    for (const Json &Element : From) {
      Result<Value> Item = valueAt(Element, Of, Depth + 1);
      if (!Item)
        return Item;
      Items.push_back(std::move(*Item));
    }
    return Value::list(std::move(Items), Of);
  }
  case Json::value_t::object: {
    std::vector<std::pair<Value, Value>> Members;
    Members.reserve(From.size());
    for (const auto &[Name, Element] : From.items()) {
      Result<Value> Key = StringOf(Name);
      if (!Key)
        return Key;
      Result<Value> Member = valueAt(Element, Of, Depth + 1);
      if (!Member)
        return Member;
      Members.emplace_back(std::move(*Key), std::move(*Member));
    }
    return Value::mapping(std::move(Members), Of);
  }
  default:
    return Error("the input has a value that is no JSON");
  }
}

Result<Value> chat::valueOf(const Json &From, Origin Of) {
  return valueAt(From, Of, 0);
}

Result<std::vector<Value>> chat::elementsOf(const Value &V) {
  std::vector<Value> Items;
  switch (V.kind()) {
  case Kind::Undefined:
    return Items;
  case Kind::String: {
    const Text &Whole = V.text();
    for (size_t At = 0; At < Whole.size();) {
      size_t Begin = At;
      tokenizer::nextCode(Whole.str(), At);
      Items.push_back(Value::string(Whole.part(Begin, At)));
    }
    return Items;
  }
  case Kind::List:
  case Kind::Tuple:
  case Kind::View:
    return V.items();
  case Kind::Mapping:
    for (const auto &Member : V.members().Members)
      Items.push_back(Member.first);
    return Items;
  case Kind::Range:
    for (size_t I = 0; I < V.asRange().size(); ++I)
      Items.push_back(V.asRange().at(I));
    return Items;
  case Kind::Iterator: {
    Iterator &It = V.asIterator();
    Items.assign(It.Items.begin() + static_cast<ptrdiff_t>(It.Next),
                 It.Items.end());
    It.Next = It.Items.size();
    return Items;
  }
  default:
    return Error(describe(V) + " cannot be gone through: expected a list, a "
                               "mapping or a string");
  }
}

std::optional<size_t> chat::lengthOf(const Value &V) {
  switch (V.kind()) {
  case Kind::Undefined:
    return 0;
  case Kind::String:
    return tokenizer::countCodes(V.str());
  case Kind::List:
  case Kind::Tuple:
  case Kind::View:
    return V.items().size();
  case Kind::Mapping:
    return V.members().Members.size();
  case Kind::Range:
    return V.asRange().size();
  case Kind::Loop:
    return V.asLoop().Items.size();
  default:
    return std::nullopt;
  }
}

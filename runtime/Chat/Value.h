//===- Value.h - What templates compute with --------------------*- C++ -*-===//
//
// Python's values as far as templates need them. Lists and mappings never
// change once made, as in Transformers' sandbox; only namespaces do. Every
// value knows whether the template or the user chose it.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_CHAT_VALUE_H
#define TENON_RUNTIME_CHAT_VALUE_H

#include "runtime/Chat/Text.h"
#include "runtime/Support/Json.h"

#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace tenon::chat {

struct Callable;
struct Iterator;
struct LoopState;
struct Mapping;
struct Namespace;
struct Range;
struct Sequence;

enum class Kind : uint8_t {
  Undefined, ///< What is not there: empty, false, and without attributes.
  None,
  Boolean,
  Integer,
  Float,
  String,
  List,
  Tuple,
  View, ///< keys(), values(), items() of a mapping.
  Mapping,
  Range,
  Iterator, ///< What filters such as map give: can be gone through once.
  Namespace,
  Callable,
  Loop ///< The variable `loop`.
};

/// A value; cheap to copy.
class Value {
public:
  /// Undefined; `What` says why in errors, as in "'x' is undefined".
  Value() = default;
  static Value undefined(std::string What);
  static Value none(Origin From = Origin::Template);
  static Value boolean(bool Is, Origin From = Origin::Template);
  static Value integer(int64_t Number, Origin From = Origin::Template);
  static Value real(double Number, Origin From = Origin::Template);
  static Value string(Text Content);
  static Value string(std::string Content, Origin From = Origin::Template) {
    return string(Text(std::move(Content), From));
  }
  static Value list(std::vector<Value> Items, Origin From = Origin::Template);
  static Value tuple(std::vector<Value> Items, Origin From = Origin::Template);
  static Value view(std::vector<Value> Items, Origin From = Origin::Template);
  static Value iterator(std::vector<Value> Items);
  /// Later members replace earlier ones of the same key.
  static Value mapping(std::vector<std::pair<Value, Value>> Members,
                       Origin From = Origin::Template);
  static Value range(Range R);
  /// The interpreter owns namespaces, which may hold themselves.
  static Value space(Namespace *N);
  static Value callable(std::shared_ptr<const Callable> C);
  static Value loop(std::shared_ptr<LoopState> L);

  Kind kind() const { return K; }
  bool is(Kind Other) const { return K == Other; }
  bool isNumber() const {
    return K == Kind::Boolean || K == Kind::Integer || K == Kind::Float;
  }
  /// Whether it is of a kind that keeps several values in order.
  bool isSequence() const {
    return K == Kind::List || K == Kind::Tuple || K == Kind::View;
  }

  // Only of the kind in the name.
  /// Also of an integer: whether it is 0.
  bool asBoolean() const;
  /// Also of a boolean: 0 or 1.
  int64_t asInteger() const;
  /// Of any number.
  double asReal() const;
  const Text &text() const;
  const std::string &str() const { return text().str(); }
  const std::vector<Value> &items() const;
  const Mapping &members() const;
  const Range &asRange() const;
  Iterator &asIterator() const;
  Namespace &asNamespace() const;
  const Callable &asCallable() const;
  LoopState &asLoop() const;
  /// Of what is undefined: why.
  std::string whyUndefined() const;

  /// Of a string: User if any byte is; of a container: who made it.
  Origin origin() const;

  /// Whether a string is marked as safe HTML, which addition escapes others
  /// for.
  bool isSafe() const { return Safe; }
  Value markedSafe(bool Is) const;

  /// Python's bool().
  bool truth() const;
  /// How deep containers are nested in it: 0 for what is none.
  unsigned depth() const;
  /// What looking at all of it takes, in steps: its elements, theirs, and one
  /// for 64 bytes of text. No more than MaxWeight.
  uint64_t weight() const;
  /// What Python's `is` compares.
  bool sameAs(const Value &Other) const;
  /// Python's name of its type.
  const char *typeName() const;

private:
  Kind K = Kind::Undefined;
  Origin From = Origin::Template;
  bool Safe = false;
  std::variant<std::monostate, bool, int64_t, double,
               std::shared_ptr<const std::string>, std::shared_ptr<const Text>,
               std::shared_ptr<const Sequence>, std::shared_ptr<const Mapping>,
               std::shared_ptr<const Range>, std::shared_ptr<Iterator>,
               Namespace *, std::shared_ptr<const Callable>,
               std::shared_ptr<LoopState>>
      Data;
};

inline constexpr uint64_t MaxWeight = 1ull << 40;

struct Sequence {
  std::vector<Value> Items;
  unsigned Depth = 1;
  uint64_t Weight = 1;
};

struct Mapping {
  std::vector<std::pair<Value, Value>> Members;
  /// Of the keys that are strings.
  std::unordered_map<std::string, size_t> IndexOf;
  unsigned Depth = 1;
  uint64_t Weight = 1;

  /// The value of `Key`, or null.
  const Value *find(const Value &Key) const;
  const Value *find(const std::string &Key) const;
};

struct Range {
  int64_t Start = 0, Stop = 0, Step = 1;
  Origin From = Origin::Template;

  size_t size() const;
  Value at(size_t Index) const {
    return Value::integer(Start + static_cast<int64_t>(Index) * Step, From);
  }
};

struct Iterator {
  std::vector<Value> Items;
  unsigned Depth = 1;
  size_t Next = 0;
};

/// Where `set` may change an attribute.
struct Namespace {
  std::vector<std::pair<std::string, Value>> Attributes;

  const Value *find(std::string_view Name) const;
  void set(const std::string &Name, Value V);
};

struct LoopState {
  std::vector<Value> Items;
  size_t Index = 0;
};

/// Python's ==.
bool equal(const Value &A, const Value &B);

/// Python's order: negative when `A` is before `B`; none of values that have
/// no order.
std::optional<int> compare(const Value &A, const Value &B);

/// What goes into errors: "a list", "'text'", "3".
std::string describe(const Value &V);

/// A JSON value, all of it chosen by `From`. An error for nesting deeper than
/// MaxJsonDepth, text that is not UTF-8, and integers beyond 64 bits.
Result<Value> valueOf(const Json &From, Origin Of);

/// Python's str(). An error for values that print as addresses, and beyond
/// limits of depth and length.
Result<Text> toText(const Value &V);
/// Python's repr().
Result<Text> toRepr(const Value &V);

/// A float as Python writes it.
std::string floatText(double Number);

/// What a container, string, range or undefined value holds, in order; of a
/// mapping its keys. What is left of an iterator, which is empty afterwards.
/// An error for what cannot be gone through.
Result<std::vector<Value>> elementsOf(const Value &V);

/// Python's len(); none of values that have none.
std::optional<size_t> lengthOf(const Value &V);

} // namespace tenon::chat

#endif // TENON_RUNTIME_CHAT_VALUE_H

//===- Result.h - A value or one line of error ------------------*- C++ -*-===//
//
// How every fallible function of the runtime answers. Errors are one line of
// text that names the file, the field, the offending value and what was
// expected.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_SUPPORT_RESULT_H
#define TENON_RUNTIME_SUPPORT_RESULT_H

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace tenon {

/// One line of text that says what is wrong.
class Error {
public:
  explicit Error(std::string Message) : Message(std::move(Message)) {}

  const std::string &message() const { return Message; }

  /// The same error seen from further out: "Context: message".
  Error withContext(std::string_view Context) const {
    return Error(std::string(Context) + ": " + Message);
  }

private:
  std::string Message;
};

/// A `T`, or the error that prevented it. True when it holds a value.
template <typename T> class [[nodiscard]] Result {
public:
  // Both conversions are implicit so that `return Value;` and
  // `return Error(...)` read the same.
  Result(T Value) : Storage(std::move(Value)) {}
  Result(Error E) : Storage(std::move(E)) {}

  explicit operator bool() const { return Storage.index() == 0; }

  T &operator*() { return *std::get_if<0>(&Storage); }
  const T &operator*() const { return *std::get_if<0>(&Storage); }
  T *operator->() { return std::get_if<0>(&Storage); }
  const T *operator->() const { return std::get_if<0>(&Storage); }

  /// The error; only when this holds none but an error.
  const Error &error() const { return *std::get_if<1>(&Storage); }

private:
  std::variant<T, Error> Storage;
};

/// Success, or an error.
template <> class [[nodiscard]] Result<void> {
public:
  Result() = default;
  Result(Error E) : Failure(std::move(E)) {}

  explicit operator bool() const { return !Failure.has_value(); }
  const Error &error() const { return *Failure; }

private:
  std::optional<Error> Failure;
};

using Status = Result<void>;

} // namespace tenon

#endif // TENON_RUNTIME_SUPPORT_RESULT_H

//===- Result.h - A value or one line of error ------------------*- C++ -*-===//
//
// How every fallible function of the runtime answers. Errors are one line of
// text that names the file, the field, the offending value and what was
// expected, and a kind for programs.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_SUPPORT_RESULT_H
#define TENON_RUNTIME_SUPPORT_RESULT_H

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace tenon {

/// What a program can do about an error.
enum class ErrorKind {
  InvalidArgument, ///< The request cannot be done as it was made.
  NotFound,        ///< No such file, sequence, entry or part of a model.
  OutOfCachePages, ///< May work when other sequences have ended.
  OutOfMemory,     ///< The machine has no more memory, or threads.
  DamagedFile,     ///< A file's content is not what it must be: damaged, of
                   ///< another kind or another version.
  UnsupportedCpu,  ///< The code or the library needs another CPU.
  Cancelled,       ///< The session's user asked for it.
  Internal         ///< A defect, or a failure of the operating system.
};

/// "invalid argument", "not found", ...
constexpr std::string_view nameOf(ErrorKind Kind) {
  constexpr std::string_view Names[] = {"invalid argument",   "not found",
                                        "out of cache pages", "out of memory",
                                        "damaged file",       "unsupported CPU",
                                        "cancelled",          "internal error"};
  return Names[static_cast<size_t>(Kind)];
}

/// One line of text that says what is wrong, and its kind.
///
/// Without a kind an error is an invalid argument. Functions that read the
/// content of files make errors without a kind too: the public function that
/// names the file (Artifact::open, Tokenizer::fromJson, ...) turns them into
/// DamagedFile with ofContent(). All other kinds are named where they arise.
class Error {
public:
  explicit Error(std::string Message) : Message(std::move(Message)) {}
  Error(ErrorKind Kind, std::string Message)
      : Message(std::move(Message)), Kind(Kind) {}

  const std::string &message() const { return Message; }
  ErrorKind kind() const { return Kind; }

  /// The same error seen from further out: "Context: message".
  Error withContext(std::string_view Context) const {
    return Error(Kind, std::string(Context) + ": " + Message);
  }
  /// The same error where what cannot be used is the content of a file.
  Error ofContent() const {
    return Error(Kind == ErrorKind::InvalidArgument ? ErrorKind::DamagedFile
                                                    : Kind,
                 Message);
  }

private:
  std::string Message;
  ErrorKind Kind = ErrorKind::InvalidArgument;
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

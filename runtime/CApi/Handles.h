//===- Handles.h - What the C API's handles are -----------------*- C++ -*-===//
//
// Internal to this folder: the structs behind the handles, errors as statuses,
// and structs of callers that may be older or newer than this library.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_CAPI_HANDLES_H
#define TENON_RUNTIME_CAPI_HANDLES_H

#include "runtime/Generation/Generator.h"
#include "runtime/tenon.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

struct tenon_model {
  std::shared_ptr<const tenon::engine::Model> Loaded;
  std::once_flag Described;
  std::string Description; ///< When Described.
};

struct tenon_session {
  tenon::engine::Session Running;
  /// What the last outputs' error strings are; in a deque, for they stay where
  /// they are.
  std::deque<std::string> Errors;
  tenon::grammar::GrammarStore Grammars; ///< Of its generations.
};

struct tenon_resources {
  tenon::engine::Resources Shared;
};

struct tenon_values {
  std::shared_ptr<const void> Memory;
};

namespace tenon::capi {

/// The status of a kind of error.
tenon_status statusOf(ErrorKind Kind);

/// Keeps the message for tenon_last_error and answers the status.
tenon_status fail(const Error &E);
/// The same for an invalid argument.
tenon_status fail(std::string Message);

/// Scores as C has them: one array each.
struct ScoreArrays {
  std::vector<float> Chosen;
  std::vector<int32_t> TopTokens;
  std::vector<float> TopScores;
  size_t TopCount = 0;

  void append(const std::vector<sampling::ScoredToken> &Scores);
  tenon_prompt_logprobs asPromptLogprobs() const;
};

/// A piece and the arrays that C sees of it.
struct PieceArrays {
  generation::Piece Piece;
  ScoreArrays Scores;

  PieceArrays() = default;
  explicit PieceArrays(generation::Piece Added);
  /// Points into this.
  tenon_piece asPiece(int64_t Unfinished) const;
};

tenon_finish finishOf(generation::FinishReason Reason);

/// The settings of a caller; null are the model's own. `Function` names it in
/// errors. `Known`, which the settings then use, keeps the grammars of what
/// texts and calls must be; null: that does not matter.
Result<generation::Settings> readSettings(const char *Function,
                                          const tenon_settings *Passed,
                                          grammar::GrammarCache *Known);

/// The images of a caller's settings, for prompts of `M`.
Result<std::vector<generation::PromptImage::Ptr>>
readImages(const char *Function, const engine::Model &M,
           const tenon_settings *Passed);

/// The status of what a library that Tenon uses has thrown.
tenon_status failUnexpected(const std::exception &Thrown) noexcept;

/// Runs the body of a function; what libraries throw must not leave it.
template <typename Function> tenon_status guarded(Function &&Body) {
  try {
    return Body();
  } catch (const std::exception &Thrown) {
    return failUnexpected(Thrown);
  }
}

/// The first field of every struct that a caller passes.
inline size_t structSize(const void *Passed) {
  size_t Size = 0;
  std::memcpy(&Size, Passed, sizeof(Size));
  return Size;
}

/// A caller's struct as this library knows it; what an older caller lacks is 0.
/// Every caller has the first `Least` bytes, the fields of the first version.
/// `Where` names it in errors.
template <typename T>
Result<T> readStruct(const std::string &Where, const void *Passed,
                     size_t Least = sizeof(T)) {
  constexpr size_t Largest = 4096; // Guards against garbage.
  size_t Size = structSize(Passed);
  const auto *Bytes = static_cast<const unsigned char *>(Passed);
  bool Fits = Size >= Least && Size <= Largest;
  // A newer caller's fields, which must not ask for anything.
  for (size_t I = sizeof(T); Fits && I < Size; ++I)
    Fits = Bytes[I] == 0;
  if (!Fits)
    return Error(
        Where + ": struct_size is " + std::to_string(Size) + ": expected " +
        std::to_string(Least) +
        (Least == sizeof(T) ? "" : " to " + std::to_string(sizeof(T))) +
        ", or more and zeros there");
  T Known{};
  std::memcpy(static_cast<void *>(&Known), Passed, std::min(Size, sizeof(T)));
  return Known;
}

/// Fills what a caller's struct has of `Value`; its struct_size stays.
template <typename T> void writeStruct(void *Passed, T Value) {
  Value.struct_size = structSize(Passed);
  std::memcpy(Passed, static_cast<const void *>(&Value),
              std::min(Value.struct_size, sizeof(T)));
}

/// Element `Index` of a caller's array, whose first element says how large
/// they are.
inline const char *elementAt(const void *First, size_t Index) {
  return static_cast<const char *>(First) + Index * structSize(First);
}
inline char *elementAt(void *First, size_t Index) {
  return static_cast<char *>(First) + Index * structSize(First);
}

/// Element `Index` of a caller's array; all must be of one size.
template <typename T>
Result<T> readElement(const std::string &Where, const T *First, size_t Index) {
  std::string Name = Where + " " + std::to_string(Index);
  if (Index == 0)
    return readStruct<T>(Name, First);
  const char *Element = elementAt(First, Index);
  if (size_t Size = structSize(Element); Size != structSize(First))
    return Error(Name + ": struct_size is " + std::to_string(Size) +
                 ": expected " + std::to_string(structSize(First)) +
                 ", as of the first");
  return readStruct<T>(Name, Element);
}

} // namespace tenon::capi

#endif // TENON_RUNTIME_CAPI_HANDLES_H

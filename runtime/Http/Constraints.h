//===- Constraints.h - What answers must be ---------------------*- C++ -*-===//

#ifndef TENON_RUNTIME_HTTP_CONSTRAINTS_H
#define TENON_RUNTIME_HTTP_CONSTRAINTS_H

#include "runtime/Grammar/Grammar.h"
#include "runtime/Http/Fields.h"

#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace tenon::http {

/// Grammars by their sources, those that were used last. For all threads.
class GrammarCache {
public:
  /// The grammar of `Key`, which `Compile` makes where it is not there. Two
  /// threads that miss the same one both compile it.
  Result<grammar::Grammar::Ptr>
  get(const std::string &Key,
      const std::function<Result<grammar::Grammar::Ptr>()> &Compile);

private:
  static constexpr size_t Most = 32;
  std::mutex Lock;
  std::list<std::pair<std::string, grammar::Grammar::Ptr>>
      Used; ///< Last first.
};

/// A call of tools that the answer must be: JSON, whatever format of calls the
/// model has been trained to write.
struct ForcedCall {
  /// The answer is the arguments of this tool; empty: an array of objects with
  /// "name" and "arguments", or one such object.
  std::string Name;
  /// At most one call.
  bool IsSingle = false;
};

/// "response_format" and vLLM's "structured_outputs"; null: anything.
grammar::Grammar::Ptr readConstraint(Fields &F, GrammarCache &Known);

/// The grammar of a "response_format", or of the "format" of /v1/responses,
/// where the members of a schema stand beside "type"; null: anything.
grammar::Grammar::Ptr constraintOf(const Json &Format, const std::string &Param,
                                   bool IsFlat, Fields &F, GrammarCache &Known);

/// The grammar of an answer for which `Tools`, that checkTools() has seen, are
/// offered: of calls where one is forced, else `Text`. An error in `F`
/// where a constraint on the text would exclude the calls that may come.
grammar::Grammar::Ptr constraintWith(const std::optional<ForcedCall> &Call,
                                     const Json &Tools,
                                     grammar::Grammar::Ptr Text, Fields &F,
                                     GrammarCache &Known);

} // namespace tenon::http

#endif // TENON_RUNTIME_HTTP_CONSTRAINTS_H

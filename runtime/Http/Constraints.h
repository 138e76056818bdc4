//===- Constraints.h - What answers must be ---------------------*- C++ -*-===//

#ifndef TENON_RUNTIME_HTTP_CONSTRAINTS_H
#define TENON_RUNTIME_HTTP_CONSTRAINTS_H

#include "runtime/Grammar/GrammarStore.h"
#include "runtime/Http/Fields.h"

#include <string>

namespace tenon::http {

using grammar::GrammarCache;
using grammar::GrammarStore;

/// Which tool calls an answer may have.
struct ToolChoice {
  /// It is calls and nothing else: JSON, whatever format of calls the model has
  /// been trained to write.
  bool IsForced = false;
  /// Where it is forced: the answer is the arguments of this tool; empty: an
  /// array of objects with "name" and "arguments", or one such object.
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
grammar::Grammar::Ptr constraintWith(const ToolChoice &Call, const Json &Tools,
                                     grammar::Grammar::Ptr Text, Fields &F,
                                     GrammarCache &Known);

} // namespace tenon::http

#endif // TENON_RUNTIME_HTTP_CONSTRAINTS_H

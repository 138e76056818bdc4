//===- GrammarStore.h - Grammars that were compiled before ------*- C++ -*-===//

#ifndef TENON_RUNTIME_GRAMMAR_GRAMMARSTORE_H
#define TENON_RUNTIME_GRAMMAR_GRAMMARSTORE_H

#include "runtime/Grammar/Grammar.h"

#include <functional>
#include <list>
#include <mutex>

namespace tenon::grammar {

/// Grammars by their sources, those that were used last. For all threads.
class GrammarStore {
public:
  /// The grammar of `Key`, which `Compile` makes where it is not there. Two
  /// threads that miss the same one both compile it.
  Result<Grammar::Ptr>
  get(const std::string &Key,
      const std::function<Result<Grammar::Ptr>()> &Compile);

private:
  static constexpr size_t Most = 32;
  std::mutex Lock;
  std::list<std::pair<std::string, Grammar::Ptr>> Used; ///< Last first.
};

/// The grammars of one request: those of a store, and how long it compiled
/// some.
class GrammarCache {
public:
  explicit GrammarCache(GrammarStore &From) : From(&From) {}
  Result<Grammar::Ptr>
  get(const std::string &Key,
      const std::function<Result<Grammar::Ptr>()> &Compile);
  double seconds() const { return Seconds; }

private:
  GrammarStore *From;
  double Seconds = 0;
};

} // namespace tenon::grammar

#endif // TENON_RUNTIME_GRAMMAR_GRAMMARSTORE_H

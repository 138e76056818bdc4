//===- GrammarStore.cpp - Grammars that were compiled before --------------===//

#include "runtime/Grammar/GrammarStore.h"

#include "runtime/Support/Clock.h"

using namespace tenon;
using namespace tenon::grammar;

Result<Grammar::Ptr>
GrammarStore::get(const std::string &Key,
                  const std::function<Result<Grammar::Ptr>()> &Compile) {
  {
    std::lock_guard Guard(Lock);
    for (auto At = Used.begin(); At != Used.end(); ++At)
      if (At->first == Key) {
        Used.splice(Used.begin(), Used, At);
        return At->second;
      }
  }
  Result<Grammar::Ptr> Made = Compile();
  if (!Made)
    return Made;
  std::lock_guard Guard(Lock);
  Used.emplace_front(Key, *Made);
  if (Used.size() > Most)
    Used.pop_back();
  return Made;
}

Result<Grammar::Ptr>
GrammarCache::get(const std::string &Key,
                  const std::function<Result<Grammar::Ptr>()> &Compile) {
  return From->get(Key, [&] {
    double Begin = secondsNow();
    Result<Grammar::Ptr> Made = Compile();
    Seconds += secondsNow() - Begin;
    return Made;
  });
}

//===- Resources.cpp - What sessions of one process share -----------------===//

#include "runtime/Engine/Resources.h"

using namespace tenon;
using namespace tenon::engine;

Result<std::shared_ptr<const void>>
MemoryBudget::take(std::shared_ptr<MemoryBudget> Budget, uint64_t Wanted) {
  uint64_t Left = Budget->left();
  do {
    if (Wanted > Left)
      return Error(ErrorKind::OutOfMemory,
                   "caches and working memory take " + std::to_string(Wanted) +
                       " bytes: expected at most " + std::to_string(Left) +
                       ", what is left of a budget of " +
                       std::to_string(Budget->total()));
  } while (!Budget->Left.compare_exchange_weak(Left, Left - Wanted));
  MemoryBudget *Taken = Budget.get();
  return std::shared_ptr<const void>(
      Taken, [Budget = std::move(Budget), Wanted](const void *) {
        Budget->Left.fetch_add(Wanted);
      });
}

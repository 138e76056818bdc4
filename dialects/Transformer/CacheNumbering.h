//===- CacheNumbering.h - The caches of a model, numbered -------*- C++ -*-===//

#ifndef TENON_DIALECTS_TRANSFORMER_CACHENUMBERING_H
#define TENON_DIALECTS_TRANSFORMER_CACHENUMBERING_H

#include "dialects/Transformer/Transformer.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SmallVector.h"

namespace tenon {

/// Entries share caches: the n-th argument of one cache type is the same cache
/// in all of them. Numbers go by first appearance in the module.
class CacheNumbering {
public:
  explicit CacheNumbering(mlir::ModuleOp Module) {
    for (auto Function : Module.getOps<mlir::FunctionOpInterface>()) {
      if (!Function->hasAttr(transformer::attr::Role))
        continue;
      Entry Arguments = entry();
      for (mlir::Type Argument : Function.getArgumentTypes())
        if (auto Cache = llvm::dyn_cast<transformer::CacheType>(Argument))
          if (Arguments.number(Cache) == Types.size())
            Types.push_back(Cache);
    }
  }

  /// The types of all caches, by number.
  llvm::ArrayRef<transformer::CacheType> types() const & { return Types; }
  llvm::ArrayRef<transformer::CacheType> types() const && = delete;

  /// Numbers the cache arguments of one entry, asked in their order.
  class Entry {
  public:
    /// The number of the next argument, of type `Cache`; as many as there are
    /// for one that no entry has.
    size_t number(transformer::CacheType Cache) {
      size_t Number = 0;
      while (Number < Owner.Types.size() && (Owner.Types[Number] != Cache ||
                                             llvm::is_contained(Taken, Number)))
        ++Number;
      Taken.push_back(Number);
      return Number;
    }

  private:
    friend class CacheNumbering;
    explicit Entry(const CacheNumbering &Owner) : Owner(Owner) {}
    const CacheNumbering &Owner;
    llvm::SmallVector<size_t, 2> Taken;
  };
  Entry entry() const { return Entry(*this); }

private:
  llvm::SmallVector<transformer::CacheType, 2> Types;
};

} // namespace tenon

#endif // TENON_DIALECTS_TRANSFORMER_CACHENUMBERING_H

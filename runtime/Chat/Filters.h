//===- Filters.h - What the files of filters share --------------*- C++ -*-===//

#ifndef TENON_RUNTIME_CHAT_FILTERS_H
#define TENON_RUNTIME_CHAT_FILTERS_H

#include "runtime/Chat/Interpreter.h"

namespace tenon::chat {

/// Filters of lists and mappings.
std::span<const NamedFunction> sequenceFilters();
/// Those of them that compare elements.
std::span<const NamedFunction> orderFilters();
/// Filters of numbers, and to them.
std::span<const NamedFunction> numberFilters();

/// Jinja's attribute argument of filters: "a.b.0".
Result<Value> pathOf(const Value &Of, const Value &Path);

/// Whether a value passes the test whose name and arguments stand in `Given`
/// from `First` on; without a name, whether it is true.
Result<bool> passes(Interpreter &Run, const Value &V, const Arguments &Given,
                    size_t First);

} // namespace tenon::chat

#endif // TENON_RUNTIME_CHAT_FILTERS_H
